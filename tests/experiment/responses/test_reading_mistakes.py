"""Whatever is wrong with what is read is one paragraph, with the file and the line of the item."""

import csv
import shutil
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def checked(name: str, folder: Path, **changed: str):
    """Return what is found where the second item has these values."""
    copied = shutil.copytree(EXAMPLES / name, folder / name)
    with (copied / "items.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    rows[1] |= changed
    with (copied / "items.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return check_folder(str(copied), 1)


@pytest.mark.parametrize(
    ("name", "changed", "problem"),
    [
        ("self_paced", {"good_regions": "While the man | hunted, | the deer ran"},
         "the regions are not the sentence"),
        ("self_paced", {"good": "Stop now.", "good_regions": "Stop | now."},
         'version has 2 regions, and the item "garden_path-1-ambiguous" of the same frame has 5'),
        ("self_paced", {"good": "Stop.", "good_regions": ""}, "the sentence has 1 word"),
        ("self_paced", {"good": "昨日公園で犬を見ました。", "good_regions": ""},
         "nothing separates the words of"),
        ("self_paced", {"answer": ""}, "its question has no right answer"),
        ("maze", {"distractors": "x-x-x although ago"}, 'the word "the" of'),
        ("maze", {"distractors": ""}, "has a distractor"),
        ("maze", {"distractors": "x-x-x reporter ago am explains furniture breakfast of quite"},
         'the distractor of the word "reporter" is the word itself'),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, name, changed, problem):
    errors = [str(one) for one in checked(name, tmp_path, **changed).errors]
    assert len(errors) == 1 and problem in errors[0], errors
    assert "items.tsv, line 3" in errors[0] and "\n" not in errors[0]


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("maze", {"good": "The misunderstandings who the senator attacked admitted the error."},
         'the word "misunderstandings" has 17 letters'),
        ("self_paced", {"good": "The Donaudampfschifffahrtsgesellschaft paid.",
                        "good_regions": "The | Donaudampfschifffahrtsgesellschaft | paid. | x | y"},
         None),
    ],
)  # fmt: skip
def test_what_is_too_wide_for_a_phone_is_a_note(tmp_path: Path, name, changed, said):
    found = checked(name, tmp_path, **changed)
    notes = [str(one) for one in found.notes if "room for about" in str(one)]
    if said is None:
        # What cannot be read at all has no width.
        assert found.errors and not notes
        return
    assert len(notes) == 1 and said in notes[0] and "items.tsv, line 3" in notes[0], notes
