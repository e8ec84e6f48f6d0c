"""Programs that find, accept, do and submit the study through the marketplace's pages."""

from pathlib import Path

import pytest

from experiment.studies.load import load_study
from marketplace.serving import serve_in_thread
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruiters.simulated_crowd import simulate
from webapp.recruiters.simulated_plan import make_plan
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study

pytestmark = pytest.mark.one_database


@pytest.fixture
def run(sessions) -> Run:
    with sessions.begin() as session:
        return launch_run(
            session, load_study("minimal"), 1, "mturk", now=utc_now(), code_version="0",
            simulated=True,
        )  # fmt: skip


@pytest.fixture
def send(app, sessions, platform, run, instance: Path):
    """Return a function that sends simulated workers and gives their problems."""

    def take_part(participants: int, *, published: bool = True) -> list[str]:
        with serve_in_thread(app) as url:
            if published:
                link = f"{url}/run/{run.ref}"
                offered = draft_plan(sessions, platform, run.ref, link, utc_now())
                assert list(carry_out_plan(sessions, platform, offered, utc_now))
            with reading(sessions) as session:
                ready = make_plan(session, run, load_launched_study(session, run))
            comes_as = load_recruiter("mturk", load_settings(instance)).visitor()
            outcomes = list(simulate(ready, url, participants, 2, comes_as))
        return [outcome.problem for outcome in outcomes]

    return take_part


def test_simulated_workers_submit_what_they_did(
    send, sessions, platform, run, assignments, participants
):
    assert send(3) == ["", "", ""]
    assert poll_run(sessions, platform, run.ref, utc_now()).submitted == 3
    assert [status for _, status in assignments()] == ["submitted"] * 3
    assert [state for _, state in participants()] == ["finished"] * 3
    assert {worker for worker, _ in assignments()} == {
        f"A{run.ref.upper()}{number}" for number in (1, 2, 3)
    }


def test_where_the_study_is_not_published_simulated_workers_say_so(send, participants):
    [problem] = send(1, published=False)
    assert "parallax publish" in problem
    assert participants() == []
