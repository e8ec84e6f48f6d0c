"""Conditions are compared at the critical region that their author meant, or refused."""

import random
from dataclasses import replace

import pytest

from experiment.errors import StudyError
from experiment.materials.render import sentence_case
from experiment.records import Item, Kind, Side
from experiment.responses.base import GivenAnswer
from experiment.responses.reading.alignment import _longest_common, regions_of
from experiment.responses.registry import load_response

WORDS = load_response("self_paced", {})
NAMED = load_response("self_paced", {"critical": "critical"})
WHOLE = load_response("self_paced", {"critical": "critical", "context": "whole"})
SHORT, LONG = "she saw the doctor was ill today", "she saw that the doctor was ill today"


def item(text: str, condition: str = "short", context: str = "", **columns: str) -> Item:
    return Item(
        f"a-{condition}", Kind.TARGET, "a", condition, "t", "", "f", context, text, "",
        extra=tuple(columns.items()),
    )  # fmt: skip


def relative_words(response, read: Item) -> dict[str, int]:
    """Return each word's exported region relative to the critical one."""
    arranged = response.arrangement(read, ("good",))
    rows = response.step_rows(
        read, arranged, GivenAnswer(steps=response.steady(arranged.options[1]))
    )
    return {row["text"]: row["relative_region"] for row in rows}


def test_conditions_of_unequal_length_are_refused_in_one_paragraph():
    [(_, error)] = WORDS.flaws([item(SHORT), item(LONG, "long")])
    said = str(error)
    assert '"short" and "long" of the construction "a" do not align' in said
    assert "has 8 regions" in said and '"a-short" of the same frame has 7' in said
    assert 'in a column called "critical"' in said and "\n" not in said


def test_a_shift_within_sentences_of_equal_length_is_refused_and_a_local_order_is_not():
    [(_, error)] = WORDS.flaws([item(SHORT), item("she saw that the doctor was ill", "long")])
    assert "the same words at other places" in str(error)
    subject = item("the reporter who attacked the senator admitted the error")
    object_ = item("the reporter who the senator attacked admitted the error", "object")
    assert not list(WORDS.flaws([subject, object_]))


@pytest.mark.parametrize(("short", "long"), [("5", "6"), ("was", "was"), ("Was", "was ill")])
def test_the_critical_region_is_named_by_number_or_text(short, long):
    read = item(LONG, "long", critical=long)
    assert relative_words(NAMED, item(SHORT, critical=short)) == {
        "she": -4, "saw": -3, "the": -2, "doctor": -1, "was": 0, "ill": 1, "today": 2,
    }  # fmt: skip
    assert relative_words(NAMED, read)["doctor"] == -1
    assert relative_words(NAMED, read)["today"] == (1 if " " in long else 2)
    assert not list(NAMED.flaws([item(SHORT, critical=short), replace(read, frame="g")]))


def test_bars_make_the_regions_that_are_counted():
    read = item(SHORT, good_regions="she saw | the doctor | was | ill today", critical="3")
    assert relative_words(NAMED, read)["doctor"] == -1
    assert relative_words(NAMED, read)["today"] == 1


@pytest.mark.parametrize(
    ("critical", "problem"),
    [("seems", "which occurs not in"), ("the", "occurs 2 times"), ("9", "the sentence has 7"),
     ("0", "the sentence has 7")],
)  # fmt: skip
def test_a_critical_region_that_is_not_there_once_is_refused_with_its_item(critical, problem):
    with pytest.raises(StudyError, match=f'"a-short".*names the critical region.*{problem}'):
        NAMED.versions(item("she saw the man paint the wall", critical=critical))


def test_a_missing_column_and_an_empty_cell_are_refused():
    [(_, error)] = NAMED.flaws([item(SHORT)])
    assert 'no item has the column "critical"' in str(error)
    [(_, error)] = NAMED.flaws([item(SHORT, critical="was"), item(LONG, "long", critical="")])
    assert 'the column "critical" is empty' in str(error)


def test_a_context_is_shown_whole_and_is_no_word_of_the_sentence():
    context = "it rained all day."
    read = item(SHORT, context=context, critical="5")
    shown = WHOLE.show(read, Side.FIRST, sentence_case)
    assert shown.besides["steps"][0] == "She" and len(shown.besides["steps"]) == 7
    assert str(shown.besides["context"]).startswith("It rained")
    assert relative_words(WHOLE, read)["was"] == 0
    # Without the parameter, as in runs of earlier versions, it is read word by word.
    assert len(WORDS.show(read, Side.FIRST, sentence_case).besides["steps"]) == 11
    assert relative_words(NAMED, read)["was"] == 0
    barred = item(
        SHORT, context=context, good_regions=f"{context} she saw | the doctor was ill today"
    )
    with pytest.raises(StudyError, match="the context ends within the region"):
        WHOLE.versions(barred)
    parted = item(
        SHORT, context=context, good_regions=f"{context} | she saw | the doctor was ill today"
    )
    assert [step.text for step in load_response(
        "self_paced", {"by": "region", "context": "whole"}
    ).steps(parted, "good")] == ["she saw", "the doctor was ill today"]  # fmt: skip


NOUNS = ["doctor", "nurse", "guard", "pilot", "clerk", "farmer"]
ENDS = ["ill", "tired", "busy"]


def mutated(rng: random.Random) -> tuple[object, list[Item], str]:
    """Return a type of response, two conditions of a frame of which one is changed, and the truth.

    The truth is the critical word, which is the same in both conditions and occurs once.
    """
    first, second = rng.sample(NOUNS, 2)
    words = ["yesterday", "the", first, "saw", "the", second, "was", rng.choice(ENDS), "again"]
    texts, columns = [list(words), list(words)], ["was", "was"]
    contexts = ["", ""]
    is_number = rng.random() < 0.5
    change = rng.choice(["added", "removed", "context", "shifted", "lost", "twice", "none"])
    if change == "added":
        texts[1].insert(rng.randrange(len(words) + 1), rng.choice(["that", "very", "really"]))
    if change == "removed":
        del texts[1][rng.choice([place for place, word in enumerate(words) if word != "was"])]
    if change == "context":
        contexts[1] = "it had rained."
    numbers = [str(text.index("was") + 1) for text in texts]
    if is_number:
        columns = numbers
    if change == "shifted":
        number = int(numbers[1]) + rng.choice([-3, -2, -1, 1, 2])
        columns = [numbers[0], str(number)]
    if change == "lost":
        columns[1] = "were"
    if change == "twice":
        texts[1].insert(0, "was")
        columns[1] = "was"
    response = rng.choice([WORDS, NAMED, WHOLE])
    items = [
        item(" ".join(text), name, context, critical=column)
        for name, text, column, context in zip("ab", texts, columns, contexts, strict=True)
    ]
    return response, items, "was"


@pytest.mark.parametrize("seed", range(150))
def test_no_mutated_table_is_misaligned_in_silence(seed: int):
    response, items, critical = mutated(random.Random(seed))
    try:
        for read in items:
            response.versions(read)
    except StudyError:
        return
    if list(response.flaws(items)):
        return
    if response is WORDS:
        places = [
            [step.text for step in response.steps(read, "good")].index(critical) for read in items
        ]
    else:
        places = [relative_words(response, read)[critical] for read in items]
        assert places[0] == 0
    assert places[0] == places[1]


@pytest.mark.parametrize(("number", "fits"), [("0", False), ("1", True), ("7", True), ("8", False)])
def test_a_region_named_by_number_is_one_of_the_sentences_own(number, fits):
    read = item(SHORT, context="it rained all day.", critical=number)
    if fits:
        words = relative_words(WHOLE, read)
        assert (words["she"], words["today"]) == (1 - int(number), 7 - int(number))
    else:
        with pytest.raises(StudyError, match=f"region {number}, and the sentence has 7"):
            WHOLE.versions(read)


def test_another_version_has_its_own_critical_region_or_that_of_the_item():
    steps = WORDS.steps(item(SHORT), "good")
    for columns, version, place in (
        ({"critical": "3"}, "good", 2),
        ({"critical": "3"}, "bad", 2),
        ({"critical": "3", "bad_critical": "was"}, "bad", 4),
        # A column of another version says nothing of the good one.
        ({"critical": "3", "good_critical": "was", "bad_critical": "was"}, "good", 2),
    ):
        read = regions_of(item(SHORT, **columns), version, steps, "critical", 0)
        assert read.critical == (place, place)


def test_conditions_in_different_frames_are_compared_with_the_first():
    elsewhere = replace(item(LONG, "long"), frame="g")
    [(refused, error)] = WORDS.flaws([item(SHORT), elsewhere])
    assert refused.item_id == "a-long"
    assert 'has 8 regions, and the item "a-short" has 7' in str(error)


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [("abcbdab", "bdcaba", 4), ("abc", "abc", 3), ("abc", "xyz", 0), ("", "abc", 0)],
)
def test_the_longest_common_subsequence_is_that_of_the_textbook(first, second, length):
    # The first pair is that of Cormen et al., Introduction to Algorithms: BCBA.
    assert _longest_common(first, second) == length
