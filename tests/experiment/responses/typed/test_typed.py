"""Typed answers: which are taken, which are right, how they are stored, exported and simulated."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from experiment.coding.normalise import list_changes, normalise
from experiment.errors import StudyError
from experiment.records import Item, Kind, Side
from experiment.responses.base import Arrangement, GivenAnswer, Known, Shown
from experiment.responses.registry import load_response
from experiment.responses.responders import Accurate
from experiment.responses.typed.typed import Typed

ITEM = Item("a-1", Kind.TARGET, "a", "", "t", "", "f", "", "Birds sit in a ___ here.", "")
RIGHT = replace(ITEM, extra=(("right", "tree | Old\u00a0Oak|"),))
ONE = load_response("typed", {"accepted": "right"})
TWO = load_response("typed", {"accepted": "right", "gaps": 2})
OF_TWO = replace(ITEM, good="A ___ in a ____.", extra=(("right", "bird|owl; tree"),))
MANY = load_response("typed", {"words": "many", "min_length": 3, "no_answer": False})


def typed(text: object) -> GivenAnswer:
    return GivenAnswer(details={"text": text})


@pytest.mark.parametrize(
    ("response", "text", "taken"),
    [
        (ONE, "tree", True),
        (ONE, " tree ", True),
        (ONE, "", True),
        (ONE, " ", False),
        (ONE, "old tree", False),
        (ONE, "x" * 40, True),
        (ONE, "x" * 41, False),
        (ONE, "x" * 5000, False),
        (ONE, "🌳👩‍👩‍👧", True),
        (ONE, "עץ\u200f", True),
        (ONE, "\u0645\u06cc\u200c\u062e\u0648", True),
        (ONE, "tr\tee", False),
        (ONE, "\x00", False),
        (ONE, "a\u202eb", False),
        (ONE, "a\u2066b", False),
        (ONE, 7, False),
        (ONE, None, False),
        (MANY, "an old tree", True),
        (MANY, "an", False),
        (MANY, "yes | no", True),
        (ONE, "yes|no", True),
        (MANY, "", False),
    ],
)
def test_a_text_is_taken_if_the_study_allows_it(response, text, taken):
    assert response.accepts(typed(text), "good") is taken


def test_nothing_but_a_text_is_taken():
    others = (GivenAnswer(), GivenAnswer(Side.FIRST), GivenAnswer(rating=1, details={"text": "a"}))
    assert not any(ONE.accepts(given, "good") for given in others)


def test_a_wrong_measurement_makes_no_answer_unreadable():
    given = GivenAnswer(details={"text": "a", "first_key_ms": -1, "pasted": "perhaps", "new": 1})
    assert ONE.accepts(given, "good")
    row = ONE.derive_columns({"version": "good tree", "details": dict(given.details)})
    assert row == {
        "version": "good", "typed": "a", "no_answer": False, "first_key_ms": None,
        "last_key_ms": None, "n_edits": None, "pasted": None, "inserted": None, "composed": None,
    }  # fmt: skip


def test_an_accepted_answer_is_right_however_it_is_written():
    many = load_response("typed", {"accepted": "right", "words": "many"})
    shown = many.arrangement(RIGHT, ("good",))
    assert shown == Arrangement(Side.FIRST, ("good", "tree", "Old%C2%A0Oak"))
    stored_options = " ".join(shown.options)
    for text, right in (("“TREE”.", True), ("old oak", True), ("oak", False), ("", False)):
        settled = many.settle(typed(text), stored_options)
        assert settled.side == (Side.FIRST if right else Side.SECOND)
        assert many.score_answer(shown, settled).chose_good is right
    assert many.score_answer(shown, many.correct_answer(shown)).chose_good


def test_an_item_has_no_more_accepted_answers_than_the_server_can_compare():
    many = load_response("typed", {"accepted": "right", "words": "many"})
    most, more = ("|".join(f"w{n}" for n in range(count)) for count in (100, 101))
    [answers] = many.accepted_answers(replace(RIGHT, extra=(("right", most),)))
    assert len(answers) == 100
    with pytest.raises(StudyError) as caught:
        many.accepted_answers(replace(RIGHT, extra=(("right", more),)))
    assert str(caught.value) == (
        f'response typed: the item "{RIGHT.item_id}" has 101 accepted answers. Expected at most'
        " 100. `parallax compare --variants` counts misspellings as the answers that you name."
    )


def test_without_an_accepted_answer_none_is_right_or_wrong():
    shown = ONE.arrangement(ITEM, ("good",))
    assert shown == Arrangement(None, ("good",))
    assert ONE.settle(typed("x"), "good").side is None
    more = GivenAnswer(details={"text": "x", "pasted": True, "shoe_size": 42})
    assert ONE.settle(more, "good").details == {"text": "x", "pasted": True}
    scored = ONE.score_answer(shown, typed("X."))
    assert (scored.chose_good, scored.answer, scored.version) == (None, "x", "good")
    assert ONE.score_answer(shown, typed("")).answer == "no answer"


def test_the_screen_has_what_stands_before_and_after_the_gap():
    [screen] = ONE.screens(ITEM, str)
    besides = {"before": "Birds sit in a ", "after": " here.", "gap": "___"}
    assert screen == Shown("Birds sit in a ___ here.", besides=besides)
    [prompt] = ONE.screens(replace(ITEM, good="bird"), str)
    assert prompt.besides == {"before": "bird", "after": "", "gap": ""}


def test_a_picture_is_shown_apart_from_the_text():
    picture = "![a drawing](data:image/png;base64,aaaa)"
    [screen] = ONE.screens(replace(ITEM, context=f"Look. {picture}", good="It is a ___."), str)
    besides = {"before": "Look. It is a ", "after": ".", "gap": "___", "picture": picture}
    assert screen == Shown("Look. It is a ___.", besides=besides)
    [alone] = ONE.screens(replace(ITEM, context=picture, good="What is it?"), str)
    assert alone.besides == {"before": "What is it?", "after": "", "gap": "", "picture": picture}


def test_two_gaps_are_refused_with_their_item():
    with pytest.raises(StudyError) as refused:
        ONE.versions(replace(ITEM, good="A ___ in a ____."))
    assert 'the version good of the item "a-1" has 2 gaps' in str(refused.value)
    assert (
        "one gap (___), or none for a prompt. Make an item of each gap, or write gaps = 2 into"
        in (str(refused.value))
    )
    TWO.versions(replace(ITEM, good="A ___ in a ____."))
    with pytest.raises(StudyError, match=r"has 3 gaps\. Expected at most 2 gaps"):
        TWO.versions(replace(ITEM, good="A ___ in a ____ by a ___."))


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("bird | tree", True),
        (" | tree", True),
        ("bird | ", True),
        ("", True),
        ("bird", True),
        ("bird | tree | nest", False),
        ("bi|rd | tree", False),
        ("a bird | tree", False),
        ("bird |  ", False),
    ],
)
def test_each_of_two_gaps_has_an_allowed_text_or_none(text, taken):
    assert TWO.accepts(typed(text), "good") is taken
    assert not load_response("typed", {"gaps": 2, "no_answer": False}).accepts(
        typed("a | "), "good"
    )


def test_a_bar_separates_only_where_texts_have_several_gaps():
    scored = MANY.score_answer(MANY.arrangement(ITEM, ("good",)), typed("Yes. | No."))
    assert scored.answer == "yes. | no"


def test_two_gaps_stand_between_three_parts_of_the_text():
    [screen] = TWO.screens(OF_TWO, str)
    assert screen.besides == {"before": "A ", "after": " in a ", "gap": "___", "after2": "."}


def test_both_of_two_gaps_have_their_accepted_answers():
    shown = TWO.arrangement(OF_TWO, ("good",))
    assert shown == Arrangement(Side.FIRST, ("good", "bird", "owl", ";", "tree"))
    rights = {"Owl | TREE": True, "bird | nest": False, "tree | bird": False, " | tree": False}
    for text, right in rights.items():
        assert TWO.score_answer(shown, typed(text)).chose_good is right
        side = Side.FIRST if right else Side.SECOND
        assert TWO.settle(typed(text), " ".join(shown.options)).side is side
    assert TWO.correct_answer(shown) == typed("bird | tree")
    any_first = TWO.arrangement(replace(OF_TWO, extra=(("right", ";tree"),)), ("good",))
    assert TWO.score_answer(any_first, typed("x | tree")).chose_good
    assert not TWO.score_answer(any_first, typed("x | y")).chose_good
    with pytest.raises(StudyError, match="has 2 gaps, and accepted answers of 1"):
        TWO.versions(replace(OF_TWO, extra=(("right", "bird"),)))


def test_practice_has_the_right_answers_and_shows_one_in_the_text():
    assert TWO.practice_fields(OF_TWO, str) == {
        "accepted": (("bird", "owl"), ("tree",)), "answer": "A bird in a tree.",
    }  # fmt: skip
    only_second = replace(OF_TWO, extra=(("right", ";tree"),))
    assert TWO.practice_fields(only_second, str)["answer"] == "A ___ in a tree."
    prompt = replace(ITEM, good="bird", extra=(("right", "wing|nest"),))
    assert ONE.practice_fields(prompt, str) == {"accepted": (("wing", "nest"),), "answer": "wing"}
    assert ONE.practice_fields(ITEM, str) == {}


def test_the_export_has_the_times_and_edits_of_each_gap():
    of_gaps = [{"first_key_ms": 900, "last_key_ms": 1500.5, "n_edits": 1}, {"first_key_ms": 2000}]
    details = {"text": "owl | ", "first_key_ms": 900, "n_edits": 1, "gaps": of_gaps}
    row = TWO.derive_columns({"version": "good bird ; tree", "details": details})
    assert (row["version"], row["typed"], row["no_answer"]) == ("good", "owl | ", False)
    assert [row[f"first_key_ms_{number}"] for number in (1, 2)] == [900, 2000]
    assert [row[f"last_key_ms_{number}"] for number in (1, 2)] == [1500.5, None]
    assert [row[f"n_edits_{number}"] for number in (1, 2)] == [1, None]
    assert set(row) <= {column.name for column in TWO.columns}
    assert "gaps" not in row and "n_edits_1" not in {column.name for column in ONE.columns}


def test_simulated_people_fill_each_gap():
    rng = random.Random(1)
    known = Known(OF_TWO, OF_TWO.good, 1.0)
    assert TWO.simulate(Accurate(), known, [OF_TWO.good], rng) == typed("bird | tree")
    free = replace(OF_TWO, extra=())
    answers = {
        TWO.simulate(Accurate(), Known(free, free.good, 0.5), [free.good], rng).details["text"]
        for _ in range(200)
    }
    assert all(TWO.accepts(typed(text), "good") for text in answers)
    # Half of the texts of a gap are no answer, so a quarter of both, and of one gap alone.
    assert "" in answers
    assert any(text.startswith(" | ") for text in answers)
    assert any(text.endswith(" | ") for text in answers)


def test_more_than_can_be_stored_of_several_gaps_is_refused():
    with pytest.raises(StudyError, match="5 gaps of 300 characters are more than 1,000"):
        load_response("typed", {"gaps": 5, "max_length": 300})


def test_an_accepted_answer_that_nobody_can_type_is_refused():
    with pytest.raises(StudyError, match='nobody can type the accepted answer "old tree"'):
        ONE.versions(replace(ITEM, extra=(("right", "old tree"),)))


def test_a_column_that_no_item_has_is_a_flaw():
    [(item, flaw)] = ONE.flaws([ITEM])
    assert item is ITEM and 'no item has the column "right" of accepted answers' in str(flaw)
    assert not list(ONE.flaws([ITEM, RIGHT])) and not list(MANY.flaws([ITEM]))


def test_lengths_that_no_answer_has_are_refused():
    with pytest.raises(
        StudyError, match="min_length is 50 and max_length 40: no answer can have such a length"
    ):
        load_response("typed", {"min_length": 50})


def test_simulated_people_type_accepted_answers_or_their_frames_words():
    rng = random.Random(1)
    known = Known(RIGHT, RIGHT.good, 1.0)
    one = load_response("typed", {"accepted": "right", "words": "many"})
    assert one.simulate(Accurate(), known, [RIGHT.good], rng) == typed("tree")
    answers = Counter(
        ONE.simulate(Accurate(), Known(ITEM, ITEM.good, 0.9), [ITEM.good], rng).details["text"]
        for _ in range(2000)
    )
    # A tenth has no answer; the first word has 1 / (1 + 1/2 + ... + 1/10) = .341 of the rest.
    assert 0.08 < answers.pop("") / 2000 < 0.12
    [(_, n)] = answers.most_common(1)
    assert 0.27 < n / 2000 < 0.34 and len(answers) == 10


@pytest.mark.parametrize(
    ("text", "same", "rules"),
    [
        ("tree", "tree", []),
        ("Tree.", "tree", ["punctuation", "case"]),
        (" old  tree ", "old tree", ["spaces"]),
        ("cafe\u0301", "café", ["Unicode"]),
        ("\u200ftree\u00ad", "tree", ["invisible characters"]),
        ("O\u2019Neill", "o'neill", ["apostrophes", "case"]),
        ("STRASSE", "strasse", ["case"]),
        ("Straße", "strasse", ["case"]),
        ("?!", "?!", []),
        ("「木」", "木", ["punctuation"]),
        ("¿qué?", "qué", ["punctuation"]),
    ],
)
def test_answers_are_the_same_by_stated_rules(text, same, rules):
    assert (normalise(text), list_changes(text)) == (same, rules)
    assert normalise(same) == same


def test_a_mixed_session_may_have_typed_answers_among_its_tasks():
    tasks = {
        "cloze": {"response": "typed", "accepted": "right"},
        "sentence_pair": {"response": "sentence_pair"},
    }
    mixed = load_response("mixed", {"tasks": tasks, "column": "task"})
    shown = mixed.arrangement(
        replace(ITEM, extra=(("right", "tree"), ("task", "cloze"))), ("good",)
    )
    assert shown == Arrangement(Side.FIRST, ("cloze", "good", "tree"))
    stored_options = " ".join(shown.options)
    assert mixed.details == Typed.details and mixed.accepts(typed("Tree"), stored_options)
    assert mixed.settle(typed("Tree"), stored_options).side == Side.FIRST
    row = {"task": stored_options, "version": stored_options, "details": {"text": "Tree"}}
    derived = mixed.derive_columns(row)
    assert (derived["task"], derived["version"], derived["typed"]) == ("cloze", "good", "Tree")
    of_pair = mixed.derive_columns({"task": "sentence_pair", "version": None, "details": None})
    assert of_pair["typed"] is None and "details" not in of_pair
