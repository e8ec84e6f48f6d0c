"""Sides, keys and participants are found by what columns hold, under names that nobody foresaw."""

from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError
from experiment.materials.item_rows import item_row
from experiment.records import Item, Kind
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS

_VERBS = ("sleep", "run", "eat", "read", "sing", "walk")
PAIRS = [
    (f"it-{verb}", f"The nurse by the tables {verb}s.", f"The nurse by the tables {verb}.")
    for verb in _VERBS
]
PEOPLE = ("ada", "bob", "cyd", "dan")
Run = Callable[..., Result]


def pairs(alike: str = "") -> list[Item]:
    return [
        Item(name, Kind.TARGET, "agr", "c", "", "", "", "", good, good if name == alike else bad)
        for name, good, bad in PAIRS
    ]


@pytest.fixture
def imported(tmp_path) -> Run:
    def run(header: str, lines: list[str], alike: str = "") -> Result:
        write_table(ITEMS, map(item_row, pairs(alike)), tmp_path / "items.csv")
        (tmp_path / "judged.csv").write_text("\n".join([header, *lines]) + "\n")
        options = ["--items", tmp_path / "items.csv", "--out", tmp_path / "out", "--yes"]
        return CliRunner().invoke(
            judgments, [str(tmp_path / "judged.csv"), *map(str, options)], catch_exceptions=False
        )

    return run


def wrong(person: int, item: int) -> bool:
    return (person + item) % 6 == 5


def trials(line: Callable[[str, str, str, str, bool, bool], str]) -> list[str]:
    """Return a line for each judgment: 20 of 24 are right, sides are balanced."""
    return [
        line(who, *PAIRS[k], (n + k) % 2 == 0, wrong(n, k))
        for n, who in enumerate(PEOPLE)
        for k in range(len(PAIRS))
    ]


def side(words: str, good_first: bool, mistaken: bool) -> str:
    return words.split("/")[good_first == mistaken]


@pytest.mark.parametrize("words", ["L/R", "left/right", "f/j", "top/bottom"])
@pytest.mark.parametrize("header", ["who,item,side,good_is", "who,item,target_at,pressed"])
def test_the_side_chosen_and_the_good_one_are_found_whatever_they_are_called(
    words, header, imported
):
    def line(who: str, item: str, good: str, bad: str, first: bool, mistaken: bool) -> str:
        sides = side(words, first, mistaken), side(words, first, False)
        return ",".join([who, item, *(sides if "side" in header else reversed(sides))])

    done = imported(header, trials(line)).output
    assert "24 judgments of 4 participants" in done and "chosen in 83.3%" in done
    good = "good_is" if "side" in header else "target_at"
    assert f'"good_side" = "{good}"' in done


@pytest.mark.parametrize(
    ("header", "words"),
    [("sentenceA,sentenceB", "A/B"), ("left text,right text", "Left/Right"),
     ("option_1,option_2", "1/2")],
)  # fmt: skip
def test_a_choice_that_names_one_of_two_columns_of_sentences_is_understood(header, words, imported):
    def line(who: str, item: str, good: str, bad: str, first: bool, mistaken: bool) -> str:
        shown = (good, bad) if first else (bad, good)
        return ",".join([who, *shown, side(words, first, mistaken)])

    done = imported(f"id,{header},judgment", trials(line)).output
    assert "24 judgments of 4 participants" in done and "chosen in 83.3%" in done
    assert '= "second"' in done


def test_two_columns_of_sides_that_agree_by_chance_are_not_taken_for_a_choice(imported):
    def line(who: str, item: str, good: str, bad: str, first: bool, mistaken: bool) -> str:
        return f"{who},{item},{'left' if first else 'right'},{'left' if who < 'c' else 'right'}"

    with pytest.raises(AnalysisError, match="lacks a column that holds the choice"):
        imported("who,item,side,hand", trials(line))


def test_participants_are_found_beside_columns_that_describe_them(imported):
    def line(who: str, item: str, good: str, bad: str, first: bool, mistaken: bool) -> str:
        return f"{who},{30 + PEOPLE.index(who)},{bad if mistaken else good}"

    done = imported("listener 7,age,answer", trials(line)).output
    assert '"participant" = "listener 7"' in done and "of 4 participants" in done


def test_ratings_of_both_versions_by_one_participant_are_no_repetitions(imported):
    lines = [
        f"{who},{text},{points + (n + k) % 2}"
        for n, who in enumerate(PEOPLE)
        for k, (_, good, bad) in enumerate(PAIRS)
        for text, points in ((good, 5), (bad, 2))
    ]
    done = imported("speaker 1,sentence,score", lines).output
    assert '"participant" = "speaker 1"' in done and "had judged before" not in done


def test_a_session_in_each_row_is_a_participant_unless_somebody_may_have_come_twice(imported):
    header = "worker," + ",".join(f"item_{n},resp_{n}" for n in (1, 2, 4))

    def line(who: str, n: int) -> str:
        cells = [f"{PAIRS[k][0]},{PAIRS[k][2 if wrong(n, k) else 1]}" for k in range(3)]
        return ",".join([who, *cells])

    names = [*PEOPLE, "eve"]
    done = imported(header.replace("worker", "code"), [line(w, n) for n, w in enumerate(names)])
    assert '"participant" = "code"' in done.output and "15 judgments of 5 part" in done.output
    twice = [f"{line(w, n)},{n}" for n, w in enumerate(["ada", *PEOPLE])]
    with pytest.raises(AnalysisError, match="no column says who judged"):
        imported(header.replace("worker", "code") + ",place", twice)


def test_choices_of_an_item_whose_versions_are_one_text_are_refused_by_name(imported):
    def line(who: str, item: str, good: str, bad: str, first: bool, mistaken: bool) -> str:
        return f"{who},{item},{bad if mistaken and item != 'it-eat' else good}"

    with pytest.raises(AnalysisError, match="both options of the item it-eat are the same text"):
        imported("who,item,answer", trials(line), alike="it-eat")
