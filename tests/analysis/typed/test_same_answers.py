"""Typed texts that count as the same answer by a table, and by the steps that a study names."""

import sys

import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.typed.cloze import count_answers, count_normalisations
from analysis.typed.same_answers import SameAnswers, load_step

STEPS = {
    "spelling": lambda word: {"kyes": "keys", "teh": "the"}.get(word, word),
    "lemma": lambda word: word.removesuffix("s"),
}
TYPED = ["Kyes", "keys", "key", "teh keys", "glasses"]
ROWS = pd.DataFrame({"item_id": "a", "version": "good", "typed": TYPED, "no_answer": False})


def test_steps_apply_word_by_word_in_their_order() -> None:
    same = SameAnswers({}, STEPS)
    counts = count_answers(ROWS, same).set_index("answer")["n"]
    assert counts.to_dict() == {"key": 3, "the key": 1, "glasse": 1}


def test_each_step_counts_the_answers_that_it_changed() -> None:
    rules = count_normalisations(ROWS, SameAnswers({}, STEPS)).set_index("rule")
    assert rules.loc[["case", "spelling", "lemma"], "n"].tolist() == [1, 2, 4]
    assert rules.loc["spelling", "example"] == "'Kyes'"


def test_a_row_of_the_table_decides_alone() -> None:
    same = SameAnswers({("", "glasses"): "glasses", ("", "kyes"): "keys"}, STEPS)
    assert same.answer("a", "Glasses") == "glasses"
    assert same.list_changes("a", "glasses") == []
    assert same.answer("a", "Kyes") == "keys"
    assert same.list_changes("a", "Kyes") == ["variants"]


def test_a_misspelt_word_becomes_its_most_common_neighbour_and_others_stay() -> None:
    step = load_step("spelling", "en-GB")
    assert [step("house"), step("hosue"), step("wrold")] == ["house", "house", "world"]
    assert step("zzzzzzzz") == "zzzzzzzz"
    with pytest.raises(AnalysisError, match='does not know the language "zh"'):
        load_step("spelling", "zh")


def test_a_lemma_is_that_of_the_studys_language() -> None:
    same = SameAnswers({}, {"lemma": load_step("lemma", "de")})
    assert [same.answer("a", word) for word in ("Hunde", "ging")] == ["hund", "gehen"]
    with pytest.raises(AnalysisError, match='does not know the language "zh"'):
        load_step("lemma", "zh")


@pytest.mark.parametrize(("step", "module"), [("lemma", "simplemma"), ("spelling", "spellchecker")])
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    step: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        AnalysisError, match=r"of same_answers needs the package .*parallax-experiments\[words\]"
    ):
        load_step(step, "en")
