"""Excluding whoever types gibberish, and nobody for names, numbers or misspellings."""

import sys
from dataclasses import replace

import pytest

from experiment.errors import StudyError
from experiment.exclusion.base import Answered
from experiment.exclusion.rules import load_rule
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import judged, session


def typing(*texts: str, accepted: bool | None = None) -> Answered:
    judgments = session((True,) * len(texts))
    return Answered(
        tuple(
            replace(judgment, typed=text, chose_good=accepted)
            for judgment, text in zip(judgments, texts, strict=True)
        )
    )


@pytest.mark.parametrize(
    ("text", "language", "is_known"),
    [
        ("house", "en", True),
        ("hgkdjf", "en", False),
        ("the sdfg", "en", False),
        ("asdf;lkj", "en", False),
        ("Sdfg", "en", True),
        ("42nd", "en", True),
        ("k", "en", True),
        ("сдфг", "en", True),
        ("сдфг", "ru", False),
        ("sdfg", "ru", True),
        ("\u201cdon\u2019t\u201d", "en", True),
        ("ice-cream", "en", True),
        ("umbrelas", "en-GB", True),
        ("colour", "en", True),
        ("strasse", "de", True),
        ("straße", "de", True),
        ("l'eau", "fr", True),
        ("l'hgkdjf", "fr", False),
        ("œuf", "fr", True),
    ],
)
def test_names_numbers_other_scripts_and_misspellings_are_no_unknown_words(
    text: str, language: str, is_known: bool
):
    verdict = judged(typing(text), "unknown_words", language=language, max_share=0, min_answers=1)
    assert verdict.kept is is_known


def test_each_gap_and_each_entry_is_an_answer_and_the_evidence_has_no_text():
    answers = typing("house | sdfg", "", "sdfg", " | sdfg", "water")
    for max_share, kept in ((0.6, True), (0.59, False)):
        verdict = judged(answers, "unknown_words", language="en", max_share=max_share)
        assert verdict.kept is kept
        assert verdict.evidence == (
            "3 of the 5 answers (60.0%) typed in the trials have a word in no dictionary of the "
            f'language "en"; at most {max_share:.1%} allowed'
        )


def test_accepted_answers_are_known_and_too_few_answers_exclude_nobody():
    made_up = ("blick", "wugs", "dax", "tove", "zorp")
    rule = {"language": "en", "max_share": 0.0}
    assert judged(typing(*made_up, accepted=True), "unknown_words", **rule).kept
    assert not judged(typing("sdfg", *made_up[1:]), "unknown_words", **rule).kept
    few = load_rule(Rule.model_validate({"rule": "unknown_words", **rule}))
    assert few.judge(typing("sdfg", "", "sdfg", "sdfg", "sdfg")) == (
        None,
        "4 answers typed in the trials; at least 5 required",
    )


def test_a_language_without_dictionary_and_a_missing_library_stop_the_rule(
    monkeypatch: pytest.MonkeyPatch,
):
    answers = typing(*["sdfg"] * 5)
    with pytest.raises(StudyError) as refused:
        judged(answers, "unknown_words", language="zh", max_share=0.5)
    assert str(refused.value).startswith(
        'language: the exclusion rule "unknown_words" has no dictionary of '
        'the language "zh". Expected one of: ar, de, en,'
    )
    monkeypatch.setitem(sys.modules, "spellchecker", None)
    with pytest.raises(StudyError) as missing:
        judged(answers, "unknown_words", language="en", max_share=0.5)
    assert str(missing.value) == (
        'rule: the exclusion rule "unknown_words" needs the package '
        "spellchecker. Install it with `pip install 'parallax-experiments[words]'`, or delete the "
        "rule."
    )
