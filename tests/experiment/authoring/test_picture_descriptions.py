"""A picture's description that has the right answer in it is noted."""

import shutil
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "typed"
# One pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    ("description", "answer"),
    [("a tall Tree", "tree"), ("street", ""), ("a drawing", ""), ("木の絵", "木"), ("the key", "")],
)
def test_a_description_with_a_right_answer_in_it_is_noted(tmp_path, description, answer):
    folder = shutil.copytree(EXAMPLE, tmp_path / "typed")
    lines = (folder / "items.tsv").read_text("utf-8").splitlines()
    columns, first = lines[0].split("\t"), lines[1].split("\t")
    first[columns.index("context")] = f"![{description}](data:image/png;base64,{PNG})"
    first[columns.index("accepted")] = "tree|木"
    changed = "\n".join([lines[0], "\t".join(first), *lines[2:], ""])
    (folder / "items.tsv").write_text(changed, encoding="utf-8")
    report = check_folder(str(folder), 1)
    assert not report.errors
    said = [str(note) for note in report.notes if "screen readers" in str(note)]
    assert len(said) == bool(answer) and all(f'the right answer "{answer}"' in s for s in said)
