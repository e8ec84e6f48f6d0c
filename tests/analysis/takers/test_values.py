"""What a take writes down, against numbers worked out by hand."""

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.errors import AnalysisError
from analysis.takers import run, source
from analysis.takers.export import Rows, Taker, make_rows, write_sessions
from analysis.takers.plan import Plan
from analysis.takers.run import _describe_sessions
from analysis.takers.source import Person
from analysis.takers.taking import (
    Sitting,
    classify_unreadable,
    find_longest_questions,
    make_sessions,
    take_sessions,
    to_probabilities,
)
from experiment.authoring.check import require_sound
from experiment.records import Side
from experiment.responses.base import GivenAnswer
from experiment.studies.load import find_study, load_study
from experiment.takers.prompt import Context
from lm.answering.answerer import Question, Reply
from lm.weights import Weights
from tests.analysis.takers.sessions import EXAMPLES, knowing, planned

NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
LEFT, RIGHT = GivenAnswer(side=Side.FIRST), GivenAnswer(side=Side.SECOND)
Answer = Callable[[Question], Sequence[float | None]]


def plan_of(reading: str, *contexts: Context, study: str = "minimal", **more: object) -> Plan:
    return planned(
        study, [reading], contexts or (Context.ZERO_SHOT,), ("letters",), (False,), **more
    )


def taken(plan: Plan, answer: Answer) -> tuple[list[Sitting], dict[str, Rows]]:
    """Take a plan with a model that gives these log-probabilities, and return what is written."""

    def reply(questions: Sequence[Question]) -> list[Reply]:
        return [Reply(tuple(answer(question))) for question in questions]

    sittings = take_sessions(plan, plan.readings[0], reply)
    return sittings, make_rows(plan, sittings, Taker("toy", "text", "id", "text", NOW))


def yoked_to(plan: Plan, answers: dict[int, GivenAnswer]) -> Plan:
    """Return a plan whose first session is somebody's who answered so, by the trials' numbers."""
    session = plan.sessions[0]
    positions = [trial.trial.position for trial in session.trials]
    own = {positions[index]: given for index, given in answers.items()}
    person = Person("ann", replace(session, number=1), own)
    return replace(plan, people=(person,), sessions=(person.session,))


def test_a_yoked_model_sees_the_answers_to_earlier_trials_alone():
    """Somebody answered left, right, nothing, left, and right to all that follow."""
    plan = plan_of("forced_choice", n_sessions=1)
    plan = yoked_to(plan, {0: LEFT, 1: RIGHT, 3: LEFT, 4: RIGHT, 5: RIGHT, 6: RIGHT, 7: RIGHT})
    [sitting] = make_sessions(plan, plan.readings[0])
    sitting.way = replace(sitting.way, context=Context.YOKED)
    answers = plan.people[0].answers
    trials = sitting.session.trials
    assert sitting.earlier(0, answers) == []
    assert sitting.earlier(2, answers) == [(trials[0], LEFT), (trials[1], RIGHT)]
    assert sitting.earlier(4, answers) == [
        (trials[0], LEFT),
        (trials[1], RIGHT),
        (trials[3], LEFT),
    ]


def test_the_prompts_of_a_yoked_model_end_before_the_persons_answer():
    """A person who always chose left: trial n is asked below n answers "A", and without its own."""
    base = plan_of("forced_choice", n_sessions=1)
    plan = yoked_to(base, dict.fromkeys(range(8), LEFT))
    plan = replace(plan, factors=replace(plan.factors, contexts=(Context.YOKED,)))
    [sitting], _ = taken(plan, lambda _: (0.0, -1.0))
    for number, read in enumerate(sitting.read):
        [ask] = read.asks
        assert ask.prompt.count("Answer: A\n") == number
        assert ask.prompt.endswith("Answer:")
    assert sitting.ref == "0001-yoked-letters-listed"


def test_a_history_holds_the_models_own_earlier_answers_and_no_unreadable_ones():
    plan = plan_of("forced_choice", Context.HISTORY, n_sessions=1)
    numbers = iter(range(8))
    replies = {0: (0.0, -1.0), 1: (None, None)}
    [sitting], _ = taken(plan, lambda _: replies.get(next(numbers), (-1.0, 0.0)))
    trials = sitting.session.trials
    assert [read.given for read in sitting.read[:4]] == [LEFT, None, RIGHT, RIGHT]
    assert sitting.earlier(3, {}) == [(trials[0], LEFT), (trials[2], RIGHT)]
    assert sitting.earlier(0, {}) == []


def test_trials_are_asked_at_once_unless_prompts_show_the_models_own_answers():
    sizes: list[int] = []

    def reply(questions: Sequence[Question]) -> list[Reply]:
        sizes.append(len(questions))
        return [Reply((0.0, -1.0)) for _ in questions]

    for context in (Context.ZERO_SHOT, Context.HISTORY):
        plan = plan_of("forced_choice", context, n_sessions=3)
        take_sessions(plan, plan.readings[0], reply)
    # Three sessions of eight trials: all together, then those at one position together.
    assert sizes == [24] + [3] * 8


def test_mass_is_the_mean_over_the_prompts_of_a_trial():
    """Labels of .5 + .25 in the first prompt and of .125 + .0625 in the second."""
    plan = plan_of("acceptability", n_sessions=1)
    numbers = iter(range(100))
    replies = [(log(0.5), log(0.25)), (log(0.125), log(0.0625))]
    _, rows = taken(plan, lambda _: replies[next(numbers) % 2])
    assert [row["mass"] for row in rows["readings"]] == pytest.approx([(0.75 + 0.1875) / 2] * 8)
    assert {len(json.loads(str(row["weights"]))) for row in rows["readings"]} == {2}
    # Yes is twice as probable as no for both texts.
    assert [row["p_good"] for row in rows["readings"]] == pytest.approx([0.5] * 8)


def test_mass_leaves_out_what_the_model_did_not_tell():
    plan = plan_of("forced_choice", n_sessions=1)
    sittings, rows = taken(plan, lambda _: (log(0.125), None))
    assert [row["mass"] for row in rows["readings"]] == pytest.approx([0.125] * 8)
    assert {read.given for read in sittings[0].read} == {LEFT}
    assert {row["weights"] for row in rows["readings"]} == {f"[{log(0.125)}, null]"}


def test_a_reading_without_prompts_has_no_mass():
    plan = planned("minimal", ["sentence"], n_sessions=1)
    _, rows = taken(plan, lambda _: (log(0.5), log(0.25)))
    assert {row["mass"] for row in rows["readings"]} == {None}


def test_the_right_answers_probability_is_its_share_of_the_labels():
    """Left .6 and right .2: left is .75 of both, right .25; the expected one may be either."""
    plan = plan_of("forced_choice", n_sessions=1)
    _, rows = taken(plan, lambda _: (log(0.6), log(0.2)))
    sides = [row["good_side"] for row in rows["trials"]]
    expected = [0.75 if side == Side.FIRST else 0.25 for side in sides]
    assert [row["p_good"] for row in rows["readings"]] == pytest.approx(expected)
    assert {*expected} == {0.75, 0.25}
    chose_good = [side == Side.FIRST for side in sides]
    assert [row["chose_good"] for row in rows["responses"]] == chose_good
    assert {row["chosen_side"] for row in rows["responses"]} == {Side.FIRST}


def test_every_prompt_of_a_trial_has_a_row_with_its_own_reply():
    plan = plan_of("acceptability", n_sessions=1)
    numbers = iter(range(100))
    _, rows = taken(plan, lambda _: (-float(next(numbers)), -0.5))
    asked = rows["asked"]
    assert [row["ask"] for row in asked] == [1, 2] * 8
    assert [json.loads(str(row["logprobs_nats"]))[0] for row in asked] == [
        -float(number) for number in range(16)
    ]
    assert len(rows["prompts"]) == len({row["prompt_sha256"] for row in asked}) == 16


def test_equal_answers_are_a_tie_that_the_seed_breaks():
    plan = plan_of("forced_choice", n_sessions=3)
    [*sittings], rows = taken(plan, lambda _: (-1.0, -1.0))
    assert {row["outcome"] for row in rows["readings"]} == {"tie"}
    # 24 tosses of a coin: both sides come up, and the same ones again.
    chosen = [read.given for sitting in sittings for read in sitting.read]
    assert {LEFT, RIGHT} == {*chosen}
    again, _ = taken(plan, lambda _: (-1.0, -1.0))
    assert chosen == [read.given for sitting in again for read in sitting.read]


def test_a_session_without_a_readable_answer_is_excluded_with_the_count():
    plan = plan_of("forced_choice", n_sessions=1)
    _, rows = taken(plan, lambda _: (None, None))
    [verdict] = rows["verdicts"]
    assert (verdict["kept"], verdict["rule"]) == (False, "unreadable")
    assert verdict["evidence"] == "0 of 8 trials have a readable answer"
    assert rows["responses"] == []


def test_verdicts_count_the_errors_of_the_models_answers():
    """A model that always errs on catch trials is excluded, one that never does is kept."""
    plan = plan_of("forced_choice", n_sessions=2)
    right = take_sessions(plan, plan.readings[0], knowing(plan, nats=5.0))
    wrong = take_sessions(plan, plan.readings[0], knowing(plan, nats=-5.0))
    taker = Taker("toy", "text", "id", "text", NOW)
    assert [row["kept"] for row in make_rows(plan, right, taker)["verdicts"]] == [True, True]
    assert [row["kept"] for row in make_rows(plan, wrong, taker)["verdicts"]] == [False, False]


def test_the_folder_counts_sittings_answers_and_what_was_not_read(tmp_path: Path):
    """Three sessions of eight trials; the model is silent in the first three of all."""
    plan = plan_of("forced_choice", n_sessions=3)
    numbers = iter(range(100))
    sittings, _ = taken(plan, lambda _: (None, None) if next(numbers) < 3 else (0.0, -1.0))
    write_sessions(plan, sittings, Taker("toy", "text", "id", "text", NOW), tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "datapackage.json").read_text())["parallax"]
    with (tmp_path / "out" / "verdicts.csv").open(newline="") as file:
        kept = [row["kept"] for row in csv.DictReader(file)].count("true")
    expected = {"n_participants": 3, "n_responses": 21, "n_unread": 3, "n_kept": kept}
    assert {name: facts[name] for name in expected} == expected
    assert facts["n_excluded"] == 3 - kept


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        ([log(1), log(3)], [0.25, 0.75]),
        ([-1000.0, -1000.0 + log(4)], [0.2, 0.8]),
        ([inf, 0.0, inf], [0.5, 0.0, 0.5]),
        ([-inf, -2.0], [0.0, 1.0]),
    ],
)
def test_shares_are_the_probabilities_up_to_a_constant(weights: list[float], shares: list[float]):
    assert to_probabilities(weights) == pytest.approx(shares)


def test_why_no_answer_was_read_is_told_by_what_hinders_most():
    silent = (None, None)
    cut, refused = Reply(silent, read_by=("cut",)), Reply(silent, read_by=("refused",))
    assert classify_unreadable([Reply(silent, read_by=("several",))]) == "unreadable"
    assert classify_unreadable([Reply(silent), refused]) == "refused"
    assert classify_unreadable([refused, cut]) == "cut"


def test_the_right_answer_to_one_sentence_is_yes_or_no():
    """Yes .75 and no .25: what is right has .75 for acceptable sentences, and .25 for others."""
    plan = plan_of("acceptability", study=str(EXAMPLES / "yes_no"))
    _, rows = taken(plan, lambda _: (log(0.75), log(0.25)))
    probabilities = [row["p_good"] for row in rows["readings"] if row["p_good"] is not None]
    assert {round(p, 9) for p in probabilities} == {0.75, 0.25}


def test_the_longest_question_is_the_last_with_all_others_answered():
    """Eight trials: the last prompt shows seven answers, whoever gave them."""
    plan = plan_of("forced_choice", Context.ZERO_SHOT, Context.HISTORY, n_sessions=1)
    longest = list(find_longest_questions(plan, plan.readings[0]))
    shown = {
        str(sitting.way.context): question.prompt.count("Answer: ") for sitting, question in longest
    }
    assert shown == {"zero_shot": 0, "history": 7}


def test_a_take_says_how_many_answers_were_unread_and_how_many_tied():
    def sitting(*outcomes: str, read_by: tuple[str, ...] = ()) -> SimpleNamespace:
        return SimpleNamespace(
            read=[
                SimpleNamespace(
                    given=None if outcome == "unread" else LEFT,
                    outcome=outcome,
                    replies=[Reply((None,), ("",) * len(read_by), read_by)],
                )
                for outcome in outcomes
            ]
        )

    def said(*sittings: SimpleNamespace) -> str:
        return _describe_sessions(cast(list[Sitting], list(sittings)), Path("out"))

    assert said(sitting("read"), sitting("read")) == "out: 2 sittings of 2 trials"
    assert said(sitting("tie", "read", "tie")) == (
        "out: 1 sittings of 3 trials (2 ties, drawn by the seed)"
    )
    assert said(sitting("unread", "tie")) == (
        "out: 1 sittings of 2 trials (1 without a readable answer; 1 ties, drawn by the seed)"
    )
    assert said(sitting("read", read_by=("alone", "several", "none", "none"))) == (
        "out: 1 sittings of 1 trials (3 of 4 samples unread: 1 several, 2 none)"
    )


def test_the_hash_of_a_studys_files_does_not_depend_on_their_order(monkeypatch):
    files = {"a.csv": b"1", "study.toml": b"2"}
    hashes = []
    for order in (files, dict(reversed(files.items())), files | {"a.csv": b"3"}):
        monkeypatch.setattr(source, "study_files", lambda _, order=order: order)
        hashes.append(source.Source(cast(Any, None), cast(Any, None)).files_hash)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_local_model_is_loaded_in_the_form_that_was_asked_for(monkeypatch):
    loaded = []
    monkeypatch.setattr(run, "load_scorer", lambda *given, **more: loaded.append((given, more)))
    monkeypatch.setattr(run, "model_identity", lambda model: f"files of {model}")
    study, how = load_study("minimal"), Weights(dtype="bfloat16", bits=8)
    model = run.load_answering_model("folder", study, "cpu", cast(Any, None), how)
    assert loaded == [(("folder", "cpu"), {"how": how})]
    assert model.answerer.identity == "files of folder bfloat16, 8 bits"


def test_the_sessions_of_a_run_are_those_of_its_seed_and_of_its_materials(tmp_path: Path):
    shutil.copytree(find_study("minimal"), tmp_path / "study")
    own = require_sound(load_study("minimal"), 4).built.materials_hash

    def description(materials_hash: str) -> None:
        facts = {"parallax": {"seed": 4, "materials_hash": materials_hash}}
        (tmp_path / "datapackage.json").write_text(json.dumps(facts), "utf-8")

    description(own)
    assert source.find_source(str(tmp_path), None).built.seed == 4
    assert source.find_source(str(tmp_path), 4).export == tmp_path
    with pytest.raises(AnalysisError, match="the run has the seed 4, but --seed is 5"):
        source.find_source(str(tmp_path), 5)
    description("ab" * 32)
    told = f"their hash is {own[:12]}, the run's {'ab' * 6}[^0-9a-f]"
    with pytest.raises(AnalysisError, match=told):
        source.find_source(str(tmp_path), None)
