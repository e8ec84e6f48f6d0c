"""Honest readers are not flagged, whatever they read and however long they rest; liars are."""

from pathlib import Path

import pytest

from experiment.exclusion.base import Answered
from experiment.exclusion.integrity import TimingMismatch
from experiment.integrity import certificate
from experiment.responses.base import Gives
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from tests.webapp.conftest import Visitor, start_run
from webapp.database.engine import reading
from webapp.runs.integrity import get_flags, make_certificates
from webapp.runs.runs import load_launched_study

pytestmark = pytest.mark.one_database

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
READ = ("self_paced", "read_then_rate", "maze", "mixed")
# A reader rests for 1.8 s, needs 400 ms for a word, and 2.5 s for a question or a scale.
REST_MS, WORD_MS, ASKED_MS, CHOICE_MS = 1800.0, 400.0, 2500.0, 1900.0


@pytest.fixture
def study(request: pytest.FixtureRequest):
    return load_study(str(EXAMPLES / request.param))


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    # The examples' lists have ten trials.
    monkeypatch.setattr(certificate, "FEWEST_INTERVALS", 9)


@pytest.fixture
def run(sessions, study):
    return start_run(sessions, study)


def given(study, trial: dict, *, measures_wait: bool = True) -> tuple[dict, float]:
    """What a page sends of a trial, and how long the trial takes."""
    response = response_of(study)
    response = response.types.get(trial.get("task", ""), response)
    answer = {"rating": 3, "side": None} if Gives.POINT in response.gives else {"side": "first"}
    texts = trial.get("steps")
    if texts is None:
        return answer | {"rt_ms": CHOICE_MS}, CHOICE_MS
    n, is_maze = len(texts), "distractors" in trial
    asks = bool(trial.get("question")) or "rating" in answer
    times = [WORD_MS] * n
    steps = {
        "onset_ms": [WORD_MS * k for k in range(n)], "rt_ms": times, "sources": "p" * n,
        "uncertainty_ms": [4.0] * n,
    } | ({"wrong": [0] * n, "done_ms": times} if is_maze else {})  # fmt: skip
    rest_ms = 0.0 if is_maze else REST_MS
    if rest_ms and measures_wait:
        steps["wait_ms"] = rest_ms
    if asks:
        steps["question_ms"] = ASKED_MS
    else:
        answer["side"] = None
    whole_ms = rest_ms + WORD_MS * n + ASKED_MS * asks
    return answer | {"steps": steps, "rt_ms": WORD_MS * n}, whole_ms


def answered(visitor: Visitor, study, clock, *, faster: float = 1.0, **page: bool) -> None:
    """Somebody reads everything; of who claims to be slower than they are, less time passes."""
    clock.go_on(seconds=60)
    for trial in visitor.session()["trials"]:
        answer, whole_ms = given(study, trial, **page)
        clock.go_on(milliseconds=whole_ms / faster + study.trial.gap_ms + 60)
        measured = {
            "waited_ms": 0, "times_shown": 1, "was_hidden": False, "trusted": True,
            "onset_source": "presentation", "pointer_moves": 0,
        }  # fmt: skip
        sent = visitor.answer(trial["position"], **{**measured, **answer})
        assert sent.status_code == 200, sent.text
    clock.go_on(seconds=1)


def found(sessions, run):
    with reading(sessions) as session:
        [(_, seen)] = make_certificates(session, run, load_launched_study(session, run))
    return seen


@pytest.mark.parametrize("study", READ, indirect=True)
def test_an_honest_reader_is_neither_flagged_nor_excluded(study, run, sessions, start, clock):
    answered(start(run), study, clock)
    seen = found(sessions, run)
    assert seen.n_intervals >= 9
    assert seen.mismatch_share == 0 and seen.unexplained_ms == pytest.approx(60)
    assert get_flags(run, seen) == {}
    assert TimingMismatch().judge(Answered((), certificate=seen))[0] is True


@pytest.mark.parametrize("study", READ, indirect=True)
def test_a_reader_who_claims_times_that_did_not_pass_is_flagged(study, run, sessions, start, clock):
    answered(start(run), study, clock, faster=40)
    assert "timing_mismatch" in get_flags(run, found(sessions, run))


@pytest.mark.parametrize("study", ["self_paced", "read_then_rate"], indirect=True)
def test_times_from_a_page_that_did_not_measure_the_wait_are_not_compared(
    study, run, sessions, start, clock
):
    answered(start(run), study, clock, measures_wait=False)
    seen = found(sessions, run)
    assert seen.n_intervals == 0 and get_flags(run, seen) == {}
    assert TimingMismatch().judge(Answered((), certificate=seen))[0] is None


@pytest.mark.parametrize("study", READ, indirect=True)
def test_no_sign_counts_that_was_measured_on_choices_alone(study, run, sessions, start, clock):
    visitor = start(run)
    clock.go_on(seconds=60)
    # Nothing that a page measures arrives: among choices, this speaks of a program.
    for trial in visitor.session()["trials"]:
        answer, whole_ms = given(study, trial)
        clock.go_on(milliseconds=whole_ms)
        assert visitor.answer(trial["position"], **answer).status_code == 200
    seen = found(sessions, run)
    assert dict(seen.signals)["measured"] == 0 and "measured" not in seen.counting
    assert seen.agent_likelihood == pytest.approx(0.01)
