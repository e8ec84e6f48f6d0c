"""Every published format is one module: found by its folder, known by its files, documented."""

from pathlib import Path

import pytest

from experiment.materials.formats.format import format_of, formats

DOCS = Path(__file__).parents[4] / "docs"
FORMATS = {each.name: each for each in formats()}


def test_a_module_in_the_folder_is_a_format():
    folder = Path(__file__).parents[4] / "experiment" / "materials" / "formats" / "published"
    modules = [path for path in folder.glob("*.py") if path.stem != "__init__"]
    assert len(FORMATS) == len(modules) == 8


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_its_row_in_the_documentation(name: str):
    rows = (DOCS / "interchange.md").read_text("utf-8").splitlines()
    assert FORMATS[name].documentation in rows


FILES = {
    "a SyntaxGym suite": ("suite.json", '{"predictions": [], "items": []}'),
    "a task of lm-evaluation-harness": ("task.yaml", "task: blimp"),
    "pairs as CLAMS has them": ("long.txt", "True\tThe cat sleeps .\nFalse\tThe cat sleep .\n"),
    "templates of LM_syneval": ("long.pickle", ""),
    "a data file of Ibex": ("data.js", "var items = [];"),
    "pairs of COMPS": (
        "comps.jsonl",
        '{"prefix_acceptable": "", "prefix_unacceptable": "", "property_phrase": ""}',
    ),
    "items of Linger": ("rc.itm", "# rc 1 subj\nThe cat sleeps.\n"),
    "a table of Gulordava et al. (2018)": (
        "best.tab",
        "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tprefix\n",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_known_by_one_format_alone(name: str, tmp_path: Path):
    file, text = FILES[name]
    path = tmp_path / file
    path.write_text(text, "utf-8")
    assert [each.name for each in formats() if each.recognises(path)] == [name]
    assert format_of(path) is FORMATS[name]


@pytest.mark.parametrize("file", ["items.csv", "notes.txt", "data.json", "absent.tab"])
def test_a_table_is_of_no_published_format(file: str, tmp_path: Path):
    if file != "absent.tab":
        (tmp_path / file).write_text('{"good": "a", "bad": "b"}', "utf-8")
    assert format_of(tmp_path / file) is None
