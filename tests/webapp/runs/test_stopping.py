"""A run stops by its rule, keeps its commitments, and says nothing of why."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from experiment.records import PAIR
from experiment.studies.load import load_study
from experiment.studies.study import Study
from tests.webapp.conftest import start_run
from webapp.database.engine import Sessions, reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial, Verdict
from webapp.errors import RunError
from webapp.jobs import platforms
from webapp.jobs.platforms import stop_answered_runs
from webapp.runs.runs import find_named_run, open_run
from webapp.runs.stopping import is_answered
from webapp.users.audit_log import list_audit_entries
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "latin_square"


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Choices on four lists, of which the first comparison stops a run of at most 12 people."""
    folder = tmp_path / "latin_square"
    shutil.copytree(EXAMPLE, folder)
    rule = '\n[stopping]\nrule = "any_time"\nmaximum = 12\ncomparisons = ["subject"]\n'
    with (folder / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write(rule)
    return load_study(str(folder))


Come = Callable[..., None]


@pytest.fixture
def come(sessions: Sessions, start, clock) -> Come:
    """Return a function that sends people through a run, right where their items' subject is so."""

    def send(run: Run, n: int, right: tuple[str, ...] = ("sg", "pl"), *, ends: bool = True) -> None:
        for _ in range(n):
            start(run)
        with sessions.begin() as session:
            newest = select(Participant).where(Participant.run_id == run.id)
            people = session.scalars(newest.order_by(Participant.id.desc()).limit(n)).all()
            for person in people:
                rows = select(Trial, RunItem).join(RunItem, RunItem.id == Trial.run_item_id)
                for trial, item in session.execute(
                    rows.where(Trial.participant_id == person.id)
                ).all():
                    is_right = item.item.get("subject") in (*right, None, "")
                    other = PAIR[0] if trial.good_side == PAIR[1] else PAIR[1]
                    session.add(
                        Response(
                            trial_id=trial.id, client_uuid=f"u{trial.id}", input_method="key",
                            chosen_side=trial.good_side if is_right else other,
                            rt_ms=900.0, recorded_at=clock(),
                        )
                    )  # fmt: skip
                person.state = "finished" if ends else "answered"

    return send


def _acts(sessions: Sessions, run: Run) -> list[tuple[str, str, dict[str, str]]]:
    with reading(sessions) as session:
        return [
            (entry.act, entry.who, entry.after) for entry in list_audit_entries(session, run.ref)
        ]


def _is_closed(sessions: Sessions, run: Run) -> bool:
    with reading(sessions) as session:
        return find_named_run(session, run.ref).closed_at is not None


def test_a_run_stops_for_a_difference_and_at_its_maximum_in_the_same_words(
    study, sessions, come, shell
):
    with_difference, with_none = start_run(sessions, study), start_run(sessions, study)
    for run, right in ((with_difference, ("sg",)), (with_none, ("sg", "pl"))):
        come(run, 4, right)
        assert shell("stopping", run.ref) == f"Run {run.ref} goes on.\n"
        assert not _is_closed(sessions, run)
        come(run, 8, right)
        assert shell("stopping", run.ref) == f"Run {run.ref} is stopped.\n"
        assert shell("stopping", run.ref) == f"Run {run.ref} is stopped.\n"
        assert _is_closed(sessions, run)
    assert _acts(sessions, with_difference) == _acts(sessions, with_none)
    assert _acts(sessions, with_none) == [
        ("run stopped by its rule", "parallax", {"state": "stopped"})
    ]
    listed = shell("runs").splitlines()
    assert [line.split()[-1] for line in listed if "latin_square" in line] == ["stopped"] * 2


def test_whoever_came_early_and_is_at_work_holds_the_rule_up(study, sessions, come, shell, start):
    run = start_run(sessions, study)
    at_work = start(run)
    come(run, 11)
    assert "goes on" in shell("stopping", run.ref)
    come(run, 4)
    at_work.answer_all()
    with sessions.begin() as session:
        person = session.scalars(select(Participant).order_by(Participant.id)).first()
        person.state = "finished"
    assert "is stopped" in shell("stopping", run.ref)


def test_somebody_who_began_before_the_stop_answers_after_it(study, sessions, come, shell, start):
    run = start_run(sessions, study)
    come(run, 12)
    begun = start(run)
    assert "is stopped" in shell("stopping", run.ref)
    begun.answer_all()
    assert begun.page().status_code == 200


def test_who_is_excluded_does_not_count(study, sessions, come):
    run = start_run(sessions, study)
    come(run, 12)
    with sessions.begin() as session:
        assert is_answered(session, run, study)
        person = session.scalars(select(Participant).order_by(Participant.id)).first()
        session.add(Verdict(participant_id=person.id, kept=False, rule="max_errors",
                            evidence="", decided_at=run.launched_at))  # fmt: skip
        session.flush()
        assert not is_answered(session, run, study)


def test_a_stopped_run_is_not_opened_again(study, sessions, come, shell):
    run = start_run(sessions, study)
    come(run, 12)
    shell("stopping", run.ref)
    with reading(sessions) as session, pytest.raises(RunError, match="was stopped by its rule"):
        open_run(session, find_named_run(session, run.ref))


def test_a_run_without_a_rule_has_none_to_ask(sessions, shell):
    run = start_run(sessions, load_study("minimal"))
    with pytest.raises(RunError, match="has no stopping rule"):
        shell("stopping", run.ref)
    assert "rule" not in shell("runs").splitlines()[0].split()


def test_the_pages_say_whether_it_goes_on_and_nothing_else(
    study, sessions, come, shell, researcher
):
    run = start_run(sessions, study)
    come(run, 12)
    here = researcher(Role.OWNER)
    assert "the run <strong>goes on</strong>" in here.get(f"/runs/{run.ref}").text
    shell("stopping", run.ref)
    page = here.get(f"/runs/{run.ref}").text
    assert "<strong>stopped</strong>" in page
    assert "Open again" not in page
    assert "stopped by its rule" in here.get("/").text
    assert not any(word in page for word in ("a difference", "smallest effect", "maximum"))


def test_the_job_asks_again_only_when_somebody_came_further(
    study, sessions, come, app, monkeypatch, shell
):
    run, asked = start_run(sessions, study), []

    def ask(_instance: Path, *words: str, limit_s: float | None) -> object:
        asked.append(words)
        shell(*words)
        return type("Done", (), {"worked": True, "text": ""})

    monkeypatch.setattr(platforms, "run_parallax", ask)
    services = app.extensions["parallax"]
    come(run, 4)
    stop_answered_runs(services)
    stop_answered_runs(services)
    assert asked == [("stopping", run.ref)]
    come(run, 8)
    stop_answered_runs(services)
    stop_answered_runs(services)
    assert len(asked) == 2
    assert _is_closed(sessions, run)
