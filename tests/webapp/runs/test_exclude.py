"""Who finished gets one verdict, by the study's rules, on stored evidence."""

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from time import sleep

import pytest
from sqlalchemy import Engine, select, text

from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp.core.clock import utc_now
from webapp.database.models import Participant, Place, Verdict
from webapp.errors import RunError
from webapp.runs.exclude import ExclusionCounts, store_verdicts
from webapp.runs.launch import launch_run
from webapp.runs.runs import close_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def decide(sessions, simulated_run):
    """Return a function that applies the rules and gives what came of it."""

    def pass_over() -> tuple[ExclusionCounts, list[Verdict]]:
        with sessions.begin() as session:
            result = store_verdicts(session, simulated_run, utc_now())
        with sessions() as session:
            return result, list(session.scalars(select(Verdict).order_by(Verdict.id)))

    return pass_over


def test_who_makes_no_error_is_kept(send, decide):
    send(participants=3, responder="accurate", accuracy=1.0)
    result, verdicts = decide()
    assert result == ExclusionCounts(decided=3, kept=3, excluded=0)
    assert {v.evidence for v in verdicts} == {
        "0 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_who_always_takes_the_first_is_excluded_by_the_rule(send, decide):
    send(participants=3, responder="always_first")
    result, verdicts = decide()
    assert result == ExclusionCounts(decided=3, kept=0, excluded=3)
    assert {(v.kept, v.rule) for v in verdicts} == {(False, "max_errors")}
    assert {v.evidence for v in verdicts} == {
        "2 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_a_second_pass_decides_about_newcomers_only(send, decide):
    send(participants=3, responder="always_first")
    _, first = decide()
    send(participants=2, responder="accurate", accuracy=1.0)
    result, both = decide()
    assert result == ExclusionCounts(decided=2, kept=2, excluded=3)
    assert [v.decided_at for v in both[:3]] == [v.decided_at for v in first]
    assert decide()[0].decided == 0


@pytest.mark.both_databases
def test_two_passes_at_once_decide_once(send, sessions, simulated_run):
    send(participants=3, responder="accurate", accuracy=1.0)

    def second() -> ExclusionCounts:
        with sessions.begin() as session:
            return store_verdicts(session, simulated_run, utc_now())

    with ThreadPoolExecutor(1) as pool:
        with sessions.begin() as session:
            assert store_verdicts(session, simulated_run, utc_now()).decided == 3
            other = pool.submit(second)
            wait_until_held_up(session.get_bind(), other)
        assert other.result() == ExclusionCounts(decided=0, kept=3, excluded=0)


def wait_until_held_up(engine: Engine, other: Future) -> None:
    """Wait until the other one waits for a transaction that is open."""
    while not is_held_up(engine):
        assert not other.done(), other.result()
        sleep(0.01)


def is_held_up(engine: Engine) -> bool:
    if engine.dialect.name == "sqlite":  # whose writers wait as soon as they have a connection
        return engine.pool.checkedout() == 2
    locked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    with engine.connect() as connection:
        return connection.scalar(text(f"{locked} AND wait_event_type = 'Lock'")) > 0


def test_who_did_not_finish_gets_no_verdict(start, simulated_run, decide):
    start(simulated_run).answer_all()
    assert decide() == (ExclusionCounts(decided=0, kept=0, excluded=0), [])


def test_another_run_s_participants_are_left_alone(send, sessions, run):
    send()
    with sessions.begin() as session:
        assert store_verdicts(session, run, utc_now()) == ExclusionCounts(0, 0, 0)
        assert session.scalars(select(Verdict)).all() == []


def test_a_participant_has_one_verdict(send, decide, sessions):
    send()
    decide()
    with sessions() as session:
        judged = session.scalars(select(Verdict.participant_id)).all()
        assert sorted(judged) == sorted(session.scalars(select(Participant.id)))


@pytest.mark.both_databases
def test_where_the_study_replaces_the_excluded_their_places_go_to_others(
    send, sessions, tmp_path, study
):
    folder = tmp_path / "minimal"
    shutil.copytree(study.folder, folder)
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace("[design]", "[design]\nreplace_excluded = true")
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    with sessions.begin() as session:
        replacing = load_study(str(folder))
        run = launch_run(session, replacing, 1, "simulator", now=utc_now(), code_version="0")

    def decide() -> ExclusionCounts:
        with sessions.begin() as session:
            return store_verdicts(session, run, utc_now())

    send(run=run, responder="always_first")
    assert decide() == ExclusionCounts(decided=8, kept=0, excluded=8)
    send(run=run, responder="accurate", accuracy=1.0)
    assert decide() == ExclusionCounts(decided=8, kept=8, excluded=8)
    with sessions() as session:
        holders = select(Participant.id).join(Place, Place.participant_id == Participant.id)
        kept = select(Verdict.participant_id).where(Verdict.kept)
        services = Participant.run_id == run.id
        assert set(session.scalars(holders.where(services))) == set(session.scalars(kept))


def test_where_it_does_not_they_keep_their_places(send, decide, sessions):
    send(responder="always_first")
    assert decide()[0].excluded == 8
    with sessions() as session:
        assert (
            len(session.scalars(select(Place.id).where(Place.participant_id.is_not(None))).all())
            == 8
        )


def study_with(tmp_path, study: Study, rule: str) -> Study:
    """The minimal study with one rule in place of its own."""
    folder = tmp_path / "minimal"
    shutil.copytree(study.folder, folder)
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8")
    before, _, after = text.partition("[[exclusion]]")
    after = after[after.index("\n[", 1) :]
    path.write_text(f"{before}[[exclusion]]\n{rule}\n{after}", encoding="utf-8")
    return load_study(str(folder))


@pytest.fixture
def run_with(sessions, tmp_path, study):
    """Return a function that launches the minimal study with a rule of one's own."""

    def launched(rule: str):
        with sessions.begin() as session:
            chosen = study_with(tmp_path, study, rule)
            return launch_run(session, chosen, 1, "simulator", now=utc_now(), code_version="0")

    return launched


@pytest.mark.both_databases
def test_rules_see_trials_times_conditions_and_the_questionnaire(sessions, send, run_with):
    question = load_study("minimal").questionnaire[0].name
    run = run_with(
        'rule = "any"\nrules = [{ rule = "incomplete" },'
        ' { rule = "too_fast", min_median_ms = 151 },'
        f' {{ rule = "not_native", question = "{question}", accepted = "none of these" }}]'
    )
    send(run=run, participants=2, responder="accurate", accuracy=1.0)
    with sessions.begin() as session:
        assert store_verdicts(session, run, utc_now()) == ExclusionCounts(
            decided=2, kept=0, excluded=2
        )
    with sessions() as session:
        evidence = session.scalars(select(Verdict.evidence)).first()
    assert "incomplete (within bounds): 0 of" in evidence
    assert "too_fast (within bounds): median" in evidence
    assert f'not_native (beyond bounds): "{question}" was' in evidence


def test_a_comparison_of_all_waits_until_the_run_is_closed_and_changes_no_verdict(
    sessions, send, run_with
):
    run = run_with('rule = "outlier"\nmeasure = "accuracy"\nmethod = "sd"\ncutoff = 1.2')
    send(run=run, participants=3, responder="accurate", accuracy=1.0)
    with (
        pytest.raises(RunError, match=r"compares all participants.* is open: later participants"),
        sessions.begin() as session,
    ):
        store_verdicts(session, run, utc_now())
    with sessions.begin() as session:
        assert session.scalars(select(Verdict)).all() == []
        close_run(session, session.merge(run), utc_now())
        assert store_verdicts(session, session.merge(run), utc_now()) == ExclusionCounts(3, 3, 0)
    with sessions() as session:
        first = [(one.kept, one.evidence) for one in session.scalars(select(Verdict))]
    with sessions.begin() as session:
        session.merge(run).closed_at = None
    send(run=run, participants=2, responder="always_first")
    with sessions.begin() as session:
        close_run(session, session.merge(run), utc_now())
        assert store_verdicts(session, session.merge(run), utc_now()).decided == 2
    with sessions() as session:
        verdicts = [
            (one.kept, one.evidence)
            for one in session.scalars(select(Verdict).order_by(Verdict.id))
        ]
    assert verdicts[:3] == first
    assert all("among 5 participants" in evidence for _, evidence in verdicts[3:])
