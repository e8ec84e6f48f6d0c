"""Who finished gets one verdict, by the study's rules, on stored evidence."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import select

from experiment.studies.load import load_study
from webapp.clock import utc_now
from webapp.flow.exclude import Exclusion, exclude
from webapp.flow.launch import launch
from webapp.models import Participant, Place, Verdict


@pytest.fixture
def decide(sessions, simulated_run):
    """Return a function that applies the rules and gives what came of it."""

    def pass_over() -> tuple[Exclusion, list[Verdict]]:
        with sessions.begin() as session:
            result = exclude(session, simulated_run, utc_now())
        with sessions() as session:
            return result, list(session.scalars(select(Verdict).order_by(Verdict.id)))

    return pass_over


def test_who_makes_no_error_is_kept(send, decide):
    send(responder="accurate", accuracy=1.0)
    result, verdicts = decide()
    assert result == Exclusion(decided=8, kept=8, excluded=0)
    assert {v.evidence for v in verdicts} == {
        "0 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_who_always_takes_the_first_is_excluded_by_the_rule(send, decide):
    send(responder="always_first")
    result, verdicts = decide()
    assert result == Exclusion(decided=8, kept=0, excluded=8)
    assert {(v.kept, v.rule) for v in verdicts} == {(False, "max_errors")}
    assert {v.evidence for v in verdicts} == {
        "2 errors on the 4 trials of simple_agreement; at most 1 allowed"
    }


def test_a_second_pass_decides_about_newcomers_only(send, decide):
    send(participants=3, responder="always_first")
    _, first = decide()
    send(participants=2, responder="accurate", accuracy=1.0)
    result, both = decide()
    assert result == Exclusion(decided=2, kept=2, excluded=3)
    assert [v.decided_at for v in both[:3]] == [v.decided_at for v in first]
    assert decide()[0].decided == 0


def test_two_passes_at_once_decide_once(send, sessions, simulated_run):
    send(participants=3, responder="accurate", accuracy=1.0)

    def second() -> Exclusion:
        began.set()
        with sessions.begin() as session:
            return exclude(session, simulated_run, utc_now())

    began = Event()
    with ThreadPoolExecutor(1) as pool:
        with sessions.begin() as session:
            assert exclude(session, simulated_run, utc_now()).decided == 3
            other = pool.submit(second)
            began.wait()
            time.sleep(0.2)
        assert other.result() == Exclusion(decided=0, kept=3, excluded=0)


def test_who_did_not_finish_gets_no_verdict(start, simulated_run, decide):
    start(simulated_run).answer_all()
    assert decide() == (Exclusion(decided=0, kept=0, excluded=0), [])


def test_another_run_s_participants_are_left_alone(send, sessions, run):
    send()
    with sessions.begin() as session:
        assert exclude(session, run, utc_now()) == Exclusion(0, 0, 0)
        assert session.scalars(select(Verdict)).all() == []


def test_a_participant_has_one_verdict(send, decide, sessions):
    send()
    decide()
    with sessions() as session:
        judged = session.scalars(select(Verdict.participant_id)).all()
        assert sorted(judged) == sorted(session.scalars(select(Participant.id)))


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
        run = launch(session, replacing, 1, "simulator", now=utc_now(), code_version="0")

    def decide() -> Exclusion:
        with sessions.begin() as session:
            return exclude(session, run, utc_now())

    send(run=run, responder="always_first")
    assert decide() == Exclusion(decided=8, kept=0, excluded=8)
    send(run=run, responder="accurate", accuracy=1.0)
    assert decide() == Exclusion(decided=8, kept=8, excluded=8)
    with sessions() as session:
        holders = select(Participant.id).join(Place, Place.participant_id == Participant.id)
        kept = select(Verdict.participant_id).where(Verdict.kept)
        own = Participant.run_id == run.id
        assert set(session.scalars(holders.where(own))) == set(session.scalars(kept))
