"""Simulated participants come as people do, and the same seed brings the same ones."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from experiment.design.session import compose
from experiment.errors import ParallaxError
from experiment.materials.item_rows import item_from_row
from experiment.records import Kind, ListEntry
from experiment.studies.study import Rule
from webapp.database.models import Answer, Participant, Response, RunItem, Trial
from webapp.errors import RunError, WebappError
from webapp.recruiters.simulated_crowd import simulate
from webapp.recruiters.simulated_plan import make_plan
from webapp.recruiters.simulated_session import ParsedPage
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study

pytestmark = pytest.mark.one_database


def responses(sessions, run):
    """Everything that a seed decides about the answers, participant by participant."""
    query = (
        select(
            Participant.list,
            Participant.place,
            Trial.position,
            RunItem.item_id,
            Trial.good_side,
            Response.chosen_side,
            Response.rt_ms,
            Response.input_method,
            Response.client_uuid,
        )
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .outerjoin(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id)
        .order_by(Participant.id, Trial.position)
    )
    with sessions() as session:
        return session.execute(query).all()


def test_everybody_reaches_the_closing_page(send, sessions):
    outcomes = send()
    assert [outcome.number for outcome in outcomes] == list(range(1, 9))
    assert not any(outcome.problem for outcome in outcomes)
    with sessions() as session:
        assert set(session.scalars(select(Participant.state))) == {"finished"}


@pytest.mark.both_databases
def test_every_trial_is_answered_once_under_an_id_of_its_own(send, sessions, simulated_run):
    send()
    rows = responses(sessions, simulated_run)
    assert len(rows) == 8 * 8
    assert all(row.chosen_side for row in rows)
    assert len({row.client_uuid for row in rows}) == len(rows)


def test_trials_are_those_the_design_composes(send, sessions, simulated_run, study):
    send()
    rows = responses(sessions, simulated_run)
    with sessions() as session:
        items = session.scalars(select(RunItem).order_by(RunItem.list, RunItem.list_order)).all()
    for list_, place in {row[:2] for row in rows}:
        trials = compose(
            [ListEntry(item_from_row(i.item), Kind(i.kind)) for i in items if i.list == list_],
            seed=simulated_run.seed,
            list_=list_,
            place=place,
            number=place * study.design.lists + list_ + 1,
            design=study.design,
        )
        stored = [
            (r.position, r.item_id, r.good_side)
            for r in rows
            if (r.list, r.place) == (list_, place)
        ]
        assert stored == [(t.position, t.item_id, t.good_side) for t in trials]


def test_the_cast_is_the_study_s_mix(send, study):
    counted = Counter(outcome.responder for outcome in send())
    assert counted["accurate"] == 7
    assert counted.total() == 8
    assert set(counted) <= set(study.simulation.mix)


def test_who_knows_the_materials_finds_every_good_sentence(send, sessions, simulated_run):
    send(participants=2, responder="accurate", accuracy=1.0)
    assert all(row.chosen_side == row.good_side for row in responses(sessions, simulated_run))


def test_accuracy_zero_finds_none(send, sessions, simulated_run):
    send(participants=2, responder="accurate", accuracy=0.0)
    assert not any(row.chosen_side == row.good_side for row in responses(sessions, simulated_run))


def test_always_first_always_takes_the_first(send, sessions, simulated_run):
    send(participants=2, responder="always_first")
    assert {row.chosen_side for row in responses(sessions, simulated_run)} == {"first"}


@pytest.mark.both_databases
def test_the_same_seed_gives_the_same_answers_in_batches_and_with_more_workers(
    send, sessions, simulated_run, study
):
    send(workers=1)
    with sessions.begin() as session:
        again = launch_run(session, study, 1, "simulator", now=datetime.now(UTC), code_version="0")
    send(run=again, participants=3, workers=8)
    send(run=again, workers=8)
    assert responses(sessions, again) == responses(sessions, simulated_run)


def test_the_questionnaire_has_an_answer_to_what_must_be_answered(send, sessions):
    send(participants=1)
    with sessions() as session:
        assert session.scalars(select(Answer.field)).all() == ["native_language"]


def test_a_question_that_decides_who_is_kept_gets_an_accepted_answer(url, ready, sessions):
    wanted = replace(ready(), accepted={"native_language": ("Welsh", "English")})
    assert all(not outcome.problem for outcome in simulate(wanted, url, 3))
    with sessions() as session:
        given = session.scalars(select(Answer.value)).all()
    assert len(given) == 3
    assert set(given) <= {"Welsh", "English"}


def test_the_accepted_answers_are_those_of_the_studys_rules(sessions, simulated_run, study):
    rule = Rule(rule="not_native", question="native_language", accepted=["English"])
    with sessions() as session:
        found = make_plan(session, simulated_run, study.model_copy(update={"exclusion": [rule]}))
    assert found.accepted == {"native_language": ("English",)}


def test_a_page_with_unknown_texts_is_reported_for_each_participant(url, ready):
    outcomes = list(simulate(replace(ready(), items={}), url, 2))
    assert len(outcomes) == 2
    assert all("an item of the run's materials" in outcome.problem for outcome in outcomes)


def test_a_refused_arrival_is_reported(url, ready):
    (outcome,) = simulate(replace(ready(), run_ref="unknown"), url, 1)
    assert "404" in outcome.problem


def test_simulated_participants_never_come_to_a_run_for_people(session, run):
    with pytest.raises(RunError, match="is for people"):
        make_plan(session, run, load_launched_study(session, run))


def test_more_than_the_free_places_are_refused_before_anybody_comes(
    url, ready, sessions, simulated_run
):
    with pytest.raises(RunError, match="has 8 free places, not 9"):
        simulate(ready(), url, 9)
    assert responses(sessions, simulated_run) == []


def test_a_full_run_takes_nobody(send):
    send()
    with pytest.raises(RunError, match="has 0 free places"):
        send()


@pytest.mark.parametrize("nowhere", ["http://127.0.0.1:9", "http://[", "nonsense"])
def test_a_missing_server_is_said_once(ready, nowhere):
    with pytest.raises(WebappError, match="no Parallax server answers") as raised:
        list(simulate(ready(), nowhere))
    assert isinstance(raised.value, ParallaxError)


def test_a_page_is_read_as_a_browser_reads_it():
    page = ParsedPage(
        '<body data-page="consent"><input type=hidden name="visit" value="a&amp;b">'
        '<input type="text" name="other" value="x">'
        '<script id="session" type="application/json">{"a": "<\\u002fb>"}</script>text</body>'
    )
    assert (page.name, page.hidden) == ("consent", {"visit": "a&b"})
    assert page.session == '{"a": "<\\u002fb>"}'
