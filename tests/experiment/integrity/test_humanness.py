"""Answers to the block say what the published rates say of them, and nothing without rates."""

from math import log
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder
from experiment.errors import StudyError
from experiment.integrity.humanness import load_rates, score_answers
from experiment.studies.humanness import read_rates
from experiment.studies.load import load_study

FOLDER = Path(__file__).parents[3] / "docs" / "humanness"
SOURCE = 'source = "A paper that says so"\n'
ITEM = '[[items]]\nitem = "a"\npeople = [9, 10]\nprograms = [1, 10]\n'


@pytest.fixture(scope="module")
def rates():
    found = load_rates(load_study(str(FOLDER)))
    assert found is not None
    return found


def test_the_rates_are_the_published_ones(rates):
    # Affonso (2026), Table 4: human pass rates, and agent failure rates, as printed.
    printed = {
        "mueller_lyer": (92.8, 94.1), "cafe_wall": (88.4, 94.9), "robot": (77.9, 99.6),
        "ebbinghaus": (95.6, 77.6), "planets": (96.5, 55.5), "oranges": (88.7, 50.6),
    }  # fmt: skip
    for one in rates.items:
        people, programs = (100 * k / n for k, n in (one.people, one.programs))
        assert (round(people, 1), round(100 - programs, 1)) == pytest.approx(printed[one.item])
    # Table WA-A1: how many people and agents fail so many or more, as printed.
    assert [
        (round(100 * one.people[0] / one.people[1], 1), round(100 * one.programs[0] / 526, 1))
        for one in rates.failures
    ] == [(40.1, 100.0), (13.3, 99.4), (4.1, 97.1), (1.9, 89.2), (0.6, 60.5), (0.2, 26.0)]


def test_who_fails_five_of_six_is_where_few_people_and_most_programs_are(rates):
    answers = {one.item: one.item == "planets" for one in rates.items}
    found = score_answers({**answers, "recall_1": True}, rates)
    assert (found.n_passed, found.n_rated, found.n_failed) == (2, 6, 5)
    assert found.people_as_low == pytest.approx(6 / 1007)
    assert found.programs_as_low == pytest.approx(318 / 526)
    assert found.nats is not None and found.nats > 5
    unrated = found.answers[-1]
    assert (unrated.item, unrated.people, unrated.nats) == ("recall_1", None, None)


def test_an_item_says_by_how_much_more_often_programs_answer_so(rates):
    [answer] = score_answers({"robot": True}, rates).answers
    assert answer.nats == pytest.approx(log((2.5 / 527) / (784.5 / 1008)))
    # Of one item of six, nothing is published of how many fail so many.
    assert score_answers({"robot": True}, rates).people_as_low is None


def test_who_fails_nothing_is_as_low_as_everybody_or_higher(rates):
    found = score_answers({one.item: True for one in rates.items}, rates)
    assert (found.n_failed, found.people_as_low, found.programs_as_low) == (0, 1.0, 1.0)
    found = score_answers({one.item: one.item != "robot" for one in rates.items}, rates)
    assert found.n_failed == 1 and found.people_as_low == pytest.approx(0.401, abs=5e-4)


def test_an_item_that_both_pass_alike_says_nothing():
    alike = read_rates(SOURCE + ITEM.replace("[9, 10]", "[1, 10]"), Path("humanness.toml"))
    assert score_answers({"a": True}, alike).nats == score_answers({"a": False}, alike).nats == 0


def test_without_rates_there_are_scores_and_nothing_else():
    found = score_answers({"a": True, "b": False}, None)
    assert (found.n_passed, found.n_rated) == (1, 0)
    assert found.nats is found.people_as_low is found.programs_as_low is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ITEM, "source is missing"),
        (SOURCE, "items is missing"),
        (SOURCE + ITEM.replace("[9, 10]", "[11, 10]"), "more than there were"),
        (SOURCE + ITEM + ITEM, "occurs twice"),
        (SOURCE + ITEM + "rate = .9\n", "Invalid value"),
    ],
)
def test_a_file_of_rates_that_cannot_be_right_is_refused(text, problem):
    with pytest.raises(StudyError) as caught:
        read_rates(text, Path("humanness.toml"))
    assert problem in str(caught.value) and "humanness.toml" in caught.value.where


def copied(folder: Path, **changes: tuple[str, str]) -> Path:
    """Copy the study, with words of its files changed."""
    for file in sorted(FOLDER.rglob("*")):
        if file.is_file():
            old, new = changes.get(file.stem, ("", ""))
            copy = folder / "humanness" / file.relative_to(FOLDER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(file.read_text(encoding="utf-8").replace(old, new, 1 if old else 0))
    return folder / "humanness"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"humanness": ('item = "robot"', 'item = "roboter"')}, 'gives rates for "roboter"'),
        ({"study": ('["picture", "recall"]', '["pictures"]')}, 'of the construction "pictures"'),
        ({"study": ('"humanness.toml"', '"no.toml"')}, "missing or cannot be read"),
        ({"study": ('shown_to_people = "as_written"\n', 'shown_to_people = "sentence_case"\n')},
         "texts are rendered"),
        ({"items": ("data:image/png;base64,", "https://x.org/")}, "is stored elsewhere"),
        ({"items": ("![Two lines with fins at their ends]", "![]")}, "without a description"),
        ({"items": ("data:image/png;", "data:image/webp;")},
         'the item "mueller_lyer" has a picture that is not a whole picture in the format webp'),
    ],
)  # fmt: skip
def test_a_block_that_cannot_work_is_refused_with_its_reason(tmp_path, changes, problem):
    report = check_folder(str(copied(tmp_path, **changes)), 1)
    assert problem in " ".join(str(error) for error in report.errors)


def test_a_block_without_rates_is_noted(tmp_path):
    report = check_folder(str(copied(tmp_path, study=('rates = "humanness.toml"', ""))), 1)
    assert not report.errors
    assert "say nothing about whether a person answered" in " ".join(map(str, report.notes))
