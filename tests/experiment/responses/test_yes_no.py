"""Yes or no to one sentence: what is shown, expected, simulated and derived from a table."""

import random
from dataclasses import replace

import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder
from experiment.commands import study as commands
from experiment.errors import StudyError
from experiment.exclusion.rules import load_rule
from experiment.records import Item, Judgment, Kind, Side
from experiment.responses.base import Arrangement, GivenAnswer, Known
from experiment.responses.registry import load_response, response_of
from experiment.responses.responders import Accurate
from experiment.studies.study import Rule

PAIR = Item("a-1", Kind.TARGET, "a", "", "t", "", "", "", "Dogs bark.", "Dogs barks.")
ALONE = replace(PAIR, bad="", extra=(("ok", "no"),))
YES_NO = load_response("yes_no", {})
MARKED = load_response("yes_no", {"expected": "ok"})
YES, NO = GivenAnswer(Side.FIRST), GivenAnswer(Side.SECOND)


@pytest.mark.parametrize(
    ("response", "item", "version", "expected"),
    [
        (YES_NO, PAIR, "good", Side.FIRST),
        (YES_NO, PAIR, "bad", Side.SECOND),
        (MARKED, ALONE, "good", Side.SECOND),
        (MARKED, replace(ALONE, extra=(("ok", "1"),)), "good", Side.FIRST),
        (MARKED, replace(ALONE, extra=(("ok", ""),)), "good", None),
        (YES_NO, ALONE, "good", None),
        # Of a pair the versions say what is expected, whatever its column says.
        (MARKED, replace(PAIR, extra=(("ok", "no"),)), "good", Side.FIRST),
    ],
)
def test_yes_is_expected_of_what_is_acceptable(response, item, version, expected):
    shown = response.arrangement(item, (version,))
    assert (shown.good_side, shown.options, shown.points) == (expected, (version,), None)
    said = [response.score_answer(shown, given).chose_good for given in (YES, NO)]
    assert said == (
        [None, None] if expected is None else [expected == "first", expected != "first"]
    )
    assert response.score_answer(shown, response.correct_answer(shown)).chose_good in (True, None)


def test_a_word_that_says_neither_is_refused_with_its_item():
    with pytest.raises(StudyError, match='column "ok" of the item "a-1" says "maybe"'):
        MARKED.versions(replace(ALONE, extra=(("ok", "maybe"),)))


def test_every_trial_offers_yes_and_no_and_nothing_else():
    assert [YES_NO.accepts(given, "good") for given in (YES, NO)] == [True, True]
    others = (GivenAnswer(Side.THIRD), GivenAnswer(rating=1), GivenAnswer())
    assert not any(YES_NO.accepts(given, "good") for given in others)
    assert YES_NO.screens(PAIR, str)[1].options == ("Dogs barks.",)


def test_what_was_said_is_exported_and_told():
    assert YES_NO.derive_columns({"chosen_side": "first"})["said_yes"] is True
    assert YES_NO.derive_columns({"chosen_side": "second"})["said_yes"] is False
    assert [YES_NO.describe_answer(Arrangement(None, ("good",)), given) for given in (YES, NO)] == [
        "yes",
        "no",
    ]


@pytest.mark.parametrize(
    ("item", "text", "accuracy", "share"),
    [
        (PAIR, "Dogs bark.", 1.0, 1.0),
        (PAIR, "Dogs barks.", 1.0, 0.0),
        (PAIR, "Dogs barks.", 0.8, 0.2),
        (ALONE, "Dogs bark.", 0.8, 0.2),
        (replace(ALONE, extra=()), "Dogs bark.", 1.0, 0.5),
    ],
)
def test_simulated_people_say_what_is_expected_as_often_as_they_are_right(
    item, text, accuracy, share
):
    rng, known = random.Random(1), Known(item, "Dogs bark.", accuracy)
    said = [MARKED.simulate(Accurate(), known, [text], rng) == YES for _ in range(2000)]
    assert sum(said) / len(said) == pytest.approx(share, abs=0.04)


def judgments(*answers: tuple[bool | None, str]) -> list[Judgment]:
    return [
        Judgment(n, f"i{n}", Kind.TARGET, "a", good, Side.FIRST, 900.0, answer=said)
        for n, (good, said) in enumerate(answers, start=1)
    ]


def test_errors_are_counted_where_an_answer_is_expected():
    rule = load_rule(Rule(rule="max_errors", max_errors=0))
    kept, evidence = rule.judge(judgments((True, "yes"), (None, "no")))
    assert kept and evidence.startswith("0 errors on the 1 trials")
    assert not rule.judge(judgments((False, "yes"), (None, "no")))[0]
    with pytest.raises(StudyError, match="none of these answers is right or wrong"):
        rule.judge(judgments((None, "yes")))


def test_who_always_says_yes_keeps_to_one_side():
    rule = load_rule(Rule(rule="same_side", max_share=0.8))
    kept, evidence = rule.judge(judgments(*[(True, "yes")] * 9, (True, "no")))
    assert not kept and "9 of the 10 trials (90.0%) on yes" in evidence


@pytest.mark.parametrize(
    ("lines", "alone", "parameters"),
    [
        (["good,bad", "Dogs bark.,Dogs barks.", "Cats purr.,Cats purrs."], False, {}),
        # As CoLA marks its sentences.
        (["sentence,label", "Dogs bark.,1", "Dogs barks.,0"], True, {"expected": "label"}),
        (
            ["sentence,acceptability", "Dogs bark.,yes", "Dog.,"],
            True,
            {"expected": "acceptability"},
        ),
        (["sentence,label", "Dogs bark.,3", "Dogs barks.,5"], True, {}),
        (["sentence", "Dogs bark.", "Dogs barks."], True, {}),
    ],
)
def test_a_table_becomes_a_sound_study(lines, alone, parameters, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    done = CliRunner().invoke(commands.new, ["mine", "--from", "t.csv", "--response", "yes_no"])
    assert done.exception is None, done.output
    report = check_folder("mine", 1)
    assert report.errors == ()
    assert report.study.trial.parameters == parameters
    assert response_of(report.study).name == "yes_no"
    items = [entry.item for entries in report.built.lists for entry in entries]
    assert {not item.alternative for item in items} == {alone}
