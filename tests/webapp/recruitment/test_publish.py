"""Publishing: every place offered once, whatever goes wrong on the way."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Hit, Participant, Place, Recruitment
from webapp.errors import RunError
from webapp.recruiters.platform import PlatformUnreachable
from webapp.recruitment.messages import check_message
from webapp.recruitment.poll import poll_run
from webapp.recruitment.progress import extend_run, load_hit_states, pause_run
from webapp.recruitment.publish import draft_plan
from webapp.runs.runs import close_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def offered(sessions, platform, run):
    """Return a function that gives how many places the platform offers, however they came there."""

    def count() -> int:
        with reading(sessions) as session:
            services = session.scalars(select(Recruitment.qualification_id)).one()
        pages = platform._repeating.get_paginator("list_hits_for_qualification_type")
        hits = [h for page in pages.paginate(QualificationTypeId=services) for h in page["HITs"]]
        return sum(hit["MaxAssignments"] for hit in hits)

    return count


def test_publishing_twice_offers_every_place_once(publish_run, offered):
    assert sum(places for _, places in publish_run()) == 8
    assert publish_run() == []
    assert offered() == 8


@pytest.mark.parametrize("kind", ["reply_lost", "throttled"])
@pytest.mark.parametrize(
    "operation",
    [
        "CreateQualificationType",
        "ListQualificationTypes",
        "CreateHITType",
        "CreateHITWithHITType",
    ],
)
def test_publishing_again_goes_on_where_a_call_failed(
    publish_run, offered, fail_once, kind, operation
):
    fail_once(kind, operation)
    with pytest.raises(PlatformUnreachable, match="Run the same command again"):
        publish_run()
    publish_run()
    assert offered() == 8


def test_a_hit_whose_reply_was_lost_is_found_when_its_token_is_forgotten(
    publish_run, offered, fail_once, control
):
    fail_once("reply_lost", "CreateHITWithHITType")
    with pytest.raises(PlatformUnreachable):
        publish_run()
    control("clock", advance_s=25 * 3600)
    publish_run()
    assert offered() == 8


def test_a_hit_is_written_down_before_the_platform_is_asked(publish_run, fail_once, sessions):
    fail_once("request_lost", "CreateHITWithHITType")
    with pytest.raises(PlatformUnreachable):
        publish_run()
    with reading(sessions) as session:
        [hit] = session.scalars(select(Hit)).all()
    assert (hit.places, hit.platform_id, len(hit.token)) == (8, None, 64)
    assert hit.called_at is not None


def test_an_excluded_participants_place_is_offered_anew(
    publish_run, worker, sessions, platform, run, offered
):
    publish_run()
    worker().take_part()
    poll_run(sessions, platform, run.ref, utc_now())
    assert publish_run() == []
    with sessions.begin() as session:
        session.scalars(
            select(Place).where(Place.participant_id.is_not(None))
        ).one().participant_id = None
    assert [places for _, places in publish_run()] == [1]
    assert offered() == 9
    assert publish_run() == []


def test_a_paused_run_is_found_by_nobody_and_resumes_with_the_same_hits(
    publish_run, worker, sessions, platform, run, offered
):
    [(hit_id, _)] = publish_run()
    ann = worker()
    assert len(ann.groups()) == 1
    assert pause_run(sessions, platform, run.ref, utc_now()) == 1
    assert ann.groups() == []
    assert publish_run() == [(hit_id, 8)]
    assert len(ann.groups()) == 1
    assert offered() == 8


def test_extending_moves_the_end_of_what_is_open(publish_run, sessions, platform, run):
    publish_run()
    until = (utc_now() + timedelta(hours=200)).replace(microsecond=0)
    assert extend_run(sessions, platform, run.ref, until, utc_now()) == 1
    [(_, state)] = load_hit_states(sessions, platform, run.ref)
    assert state.expires_at == until


def test_more_than_nine_places_become_several_hits_of_one_type(
    publish_run, sessions, run, platform
):
    with sessions.begin() as session:
        session.add_all(Place(run_id=run.id, list=0, place=place) for place in range(4, 16))
    assert [places for _, places in publish_run()] == [9, 9, 2]
    with reading(sessions) as session:
        hits = session.scalars(select(Hit.platform_id)).all()
    types = {platform._repeating.get_hit(HITId=hit)["HIT"]["HITTypeId"] for hit in hits}
    assert len(types) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"closed_at": utc_now()}, "parallax open"),
        ({"study": "minimal"}, "https://"),
    ],
    ids=["closed", "http"],
)
def test_what_may_not_be_published_is_refused_before_any_call(
    sessions, platform, run, change, message
):
    platform.endpoint = "https://market.example" if "study" in change else platform.endpoint
    if "closed_at" in change:
        with sessions.begin() as session:
            close_run(session, session.merge(run), utc_now())
    with pytest.raises(RunError, match=message):
        draft_plan(sessions, platform, run.ref, f"http://study.example/run/{run.ref}", utc_now())


def test_a_page_elsewhere_in_clear_text_is_refused_by_a_marketplace_here_too(
    sessions, platform, run
):
    with pytest.raises(RunError, match="https://"):
        draft_plan(sessions, platform, run.ref, f"http://study.example/run/{run.ref}", utc_now())


def test_a_run_published_here_is_not_published_elsewhere_too(publish_run, sessions, platform, run):
    publish_run()
    platform.endpoint = "sandbox"
    with pytest.raises(RunError, match="is published at"):
        draft_plan(sessions, platform, run.ref, "https://study.example", utc_now())


def test_who_handed_in_is_kept_from_accepting_another_hit(
    publish_run, worker, sessions, platform, run
):
    publish_run()
    ann = worker()
    ann.take_part()
    assert poll_run(sessions, platform, run.ref, utc_now()).granted == 0
    assert poll_run(sessions, platform, run.ref, utc_now()).granted == 1
    with sessions.begin() as session:
        session.add(Place(run_id=run.id, list=0, place=4))
    assert [places for _, places in publish_run()] == [1]
    assert ann.groups() == []
    assert len(worker().groups()) == 1


def test_participants_of_the_run_are_counted_by_those_who_finished(
    publish_run, worker, sessions, platform, run
):
    publish_run()
    worker().take_part()
    with reading(sessions) as session:
        assert session.scalars(select(Participant.state)).all() == ["finished"]
    plan = draft_plan(sessions, platform, run.ref, "http://127.0.0.1:1/", utc_now())
    assert (plan.unfilled, plan.open, plan.offers) == (7, 7, ())


@pytest.mark.parametrize("text", ["  ", "x" * 100_000], ids=["blank", "long"])
def test_a_message_of_nothing_or_of_too_much_is_not_sent(text):
    said = r"the message has \d+ characters\. Expected between 1 and [\d,]+\. Nothing was sent"
    with pytest.raises(RunError, match=said):
        check_message(text)
