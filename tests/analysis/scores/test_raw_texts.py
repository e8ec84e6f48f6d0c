"""The check of scores finds each text in the items' file, by a reader of its own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.commands.score import score
from analysis.errors import AnalysisError
from analysis.scores.raw_texts import read_raw_texts
from experiment.materials.formats.files import materials_files, open_materials
from experiment.materials.formats.pairs import collapse_spaces
from tests.lm.toy_models import TOY_MODELS

FILES = {
    "pairs.csv": 'context,good,bad\n"the cat:\n","the  dog\trests",the dog rest\n',
    "pairs.tsv": "good\tbad\nthe  dog rests\tthe dog rest\n",
    "rows.csv": 'item,version,sentence\n1,good,the  dog rests\n1,bad,"the dog\nrest"\n',
    "blimp.jsonl": json.dumps({"sentence_good": "the  dog rests ", "sentence_bad": "\tthe dog"}),
    "list.json": json.dumps([{"context": "Q:\n", "good": "the dog\n", "bad": "the dogs"}]),
    "options.csv": 'option_1,option_2,answer\n"the  dog\n",the cat,1\n',
}
TASK = """task: t
output_type: multiple_choice
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
doc_to_text: "Q: {{goal}}\\nA:"
doc_to_choice: ["the  dog", "the dog"]
doc_to_target: 0
"""


@pytest.fixture(params=[*FILES, "task.yaml"])
def file(request, tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text('{"goal": "why"}\n')
    path = tmp_path / "materials" / request.param
    path.parent.mkdir()
    path.write_text(FILES.get(request.param, TASK.replace("rows.jsonl", "../rows.jsonl")))
    return path


def texts_found(path: Path, items) -> list[str | None]:
    raw_texts = read_raw_texts(path, materials_files(path))
    return [raw_texts.find_text(item, text) for item in items for text in (item.good, item.bad)]


def test_every_text_is_found_with_the_white_space_of_the_file(file):
    items = [*open_materials(file).items()]
    assert texts_found(file, items) == [
        item.after_context(text) for item in items for text in (item.good, item.bad)
    ]


def test_texts_in_which_a_reader_changed_white_space_are_refused(file, monkeypatch):
    drafts_with_single_spaces(monkeypatch)
    with pytest.raises(AnalysisError, match=r"a model would read .*, but the file says"):
        texts_found(file, open_materials(file).items())


def drafts_with_single_spaces(monkeypatch):
    """Let the reader under test write single spaces, as it does for people."""
    from experiment.materials.formats import read

    found = read.make_items
    monkeypatch.setattr(
        read, "make_items", lambda drafts, path: found(collapse_spaces(drafts)[0], path)
    )


def test_texts_that_are_composed_are_in_no_cell(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("good,bad\nthe dog,the dogs\n")
    (item,) = open_materials(path).items()
    assert read_raw_texts(path, [path]).find_text(item, "the dog and the cat") is None
    assert read_raw_texts(path, []) is None


def test_a_run_says_how_many_of_its_texts_stand_in_the_file(tmp_path: Path):
    TOY_MODELS["ngram"][1](tmp_path / "model")
    (tmp_path / "t.csv").write_text("good,bad\nthe cat sleeps,the cat sleep\n")
    arguments = [str(tmp_path / "model"), str(tmp_path / "t.csv"), "--out"]
    result = CliRunner().invoke(
        score, [*arguments, str(tmp_path / "s.parquet")], catch_exceptions=False
    )
    assert "the texts of 2 stand in the file as the model read them" in result.output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"{"),
        ("b.csv", b'"' + b"x" * 200_000 + b'"'),
        ("c.yaml", b"doc_to_text: '{{'\ndataset_kwargs: {data_files: no.json}"),
        ("d.xlsx", b"no archive"),
        ("e.parquet", b"no table"),
    ],
)
def test_a_file_that_cannot_be_read_a_second_time_is_left_out(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.csv").write_text("good\nthe  dog\n")
    files = [tmp_path / name, tmp_path / "good.csv"]
    texts = read_raw_texts(tmp_path, files)
    assert texts is not None and texts.cells["thedog"] == {"the  dog"}
