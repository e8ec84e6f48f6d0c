"""Lists in a time limit: which lists are answers, what is exported, and what is simulated."""

import random

import pytest

from experiment.responses.base import Arrangement, GivenAnswer, Known
from experiment.responses.registry import load_response
from experiment.responses.responders import Guessing
from experiment.responses.typed.fluency import MOST_ENTRIES
from tests.experiment.responses.test_yes_no import PAIR

LIST = load_response("fluency", {"seconds": 30})
ONE_WORD = load_response("fluency", {"words": "one", "max_length": 5})


def accepts(response, text) -> bool:
    return response.accepts(GivenAnswer(details={"text": text}), "good")


@pytest.mark.parametrize("text", ["", "dog", "polar bear | =1+1 | 犬", "🐕 | 🐕"])
def test_a_list_is_an_answer_and_may_be_empty(text):
    assert accepts(LIST, text)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (LIST, "dog | "),
        (LIST, "dog|cat"),
        (LIST, "dog | c\u202eat"),
        (LIST, "dog | " + "c" * 41),
        (LIST, " | ".join(["a"] * (MOST_ENTRIES + 1))),
        (LIST, "a" * 6001),
        (ONE_WORD, "dog | hen run"),
        (ONE_WORD, "horses"),
    ],
)
def test_lists_with_other_entries_are_refused(response, text):
    assert not accepts(response, text)


def test_an_export_has_the_entries_and_when_each_was_made():
    stored = {
        "details": {
            "text": "dog | Cat | dog.",
            "entry_ms": [1500.5, 4000],
            "is_last_unfinished": True,
            "n_edits": 2,
            "pasted": False,
        },
        "version": "good",
    }
    assert LIST.derive_columns(stored) == {
        "version": "good",
        "typed": "dog | Cat | dog.",
        "no_answer": False,
        "entries": 3,
        "different_entries": 2,
        "entry_ms": "1500.5 4000",
        "is_last_unfinished": True,
        "n_edits": 2,
        "pasted": False,
    }
    empty = LIST.derive_columns({"details": {"text": "", "entry_ms": "broken"}, "version": "good"})
    assert (empty["typed"], empty["no_answer"], empty["entry_ms"]) == (None, True, None)
    assert (empty["entries"], empty["different_entries"]) == (0, 0)


def test_simulated_people_list_words_within_the_time():
    answer = LIST.simulate(Guessing(), Known(PAIR, "x", 0.5), ("good",), random.Random(1))
    assert LIST.accepts(answer, "good")
    times, entries = answer.details["entry_ms"], answer.details["text"].split(" | ")
    assert len(times) == len(entries) > 1
    assert times == sorted(times) and times[-1] <= 30_000
    arrangement = Arrangement(None, ("good",))
    assert LIST.describe_answer(arrangement, answer) == ", ".join(entries)
    assert LIST.typical_rt_ms == 32_000
