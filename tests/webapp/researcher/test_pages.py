"""What the researcher's pages show, and what they never show."""

import io
import re
import zipfile
from threading import BoundedSemaphore

import pytest
from sqlalchemy import select

from experiment.participation import State
from experiment.studies.load import load_study
from tests.experiment.responses.studies import PRESENTATIONS
from webapp.database.models import Device, Participant, Response
from webapp.errors import RequestError
from webapp.jobs.housekeeping import summarise_run
from webapp.researcher import run_page
from webapp.researcher.participants import SORT_LABELS
from webapp.runs.blinding import unblind_run
from webapp.runs.runs import load_launched_study
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def no_watchers(monkeypatch) -> None:
    """Nobody else watches, whatever another test of this process left behind."""
    monkeypatch.setattr(run_page, "_watcher_slots", BoundedSemaphore(run_page.MOST_WATCHERS))


@pytest.fixture
def finished(start, run):
    visitor = start(run)
    visitor.answer_all()
    visitor.questionnaire(native_language=HOSTILE)
    return visitor


def participant_page(here, run) -> str:
    table = here.get(f"/runs/{run.ref}/participants").text
    path = table.partition(f'href="/researcher/runs/{run.ref}/participants/')[2].partition('"')[0]
    return here.get(f"/runs/{run.ref}/participants/{path}").text


@pytest.mark.both_databases
def test_a_run_shows_its_lists_and_people(finished, start, run, researcher):
    start(run)
    page = researcher(Role.VIEWER).get(f"/runs/{run.ref}").text
    assert re.search(
        r"finished</dt><dd><a [^>]*state=finished[^>]*>1</a> <small>/ 8</small></dd>", page
    )
    assert "<dt>at work</dt><dd>1</dd>" in page


def test_a_run_says_who_withdrew_and_a_late_return_stands_in_the_table(
    finished, start, run, sessions, researcher, clock
):
    start(run)
    start(run)
    with sessions.begin() as session:
        _, withdrawn, late = session.scalars(select(Participant).order_by(Participant.id))
        withdrawn.state, late.returned_at = State.WITHDRAWN, clock()
    here = researcher(Role.VIEWER)
    page = here.get(f"/runs/{run.ref}").text
    assert re.search(r"<dt>withdrawn</dt><dd><a [^>]*>1</a></dd>", page)
    assert here.get(f"/runs/{run.ref}/participants").text.count("came back late") == 1


def test_who_has_somebody_else_s_times_is_shown_with_whose(
    finished, start, run, sessions, researcher, clock
):
    other = start(run)
    other.answer_all()
    with sessions.begin() as session:
        for answer in session.scalars(select(Response)):
            answer.release_ms = 80.0
        people = session.scalars(select(Participant.ref).order_by(Participant.id)).all()
    summarise_run(sessions, run.ref, load_launched_study, clock())
    here = researcher(Role.VIEWER)
    for ref, twin in (people, people[::-1]):
        page = here.get(f"/runs/{run.ref}/participants/{ref}").text
        assert f'the times of <a href="/researcher/runs/{run.ref}/participants/{twin}"' in page


def test_the_replay_leads_to_who_arrived_before_and_after(start, run, sessions, researcher):
    for _ in range(3):
        start(run)
    with sessions.begin() as session:
        refs = session.scalars(select(Participant.ref).order_by(Participant.id)).all()
    here, people = researcher(Role.VIEWER), f"/researcher/runs/{run.ref}/participants"
    for before, ref, after in zip(("", *refs), refs, (*refs[1:], ""), strict=False):
        page = here.get(f"/runs/{run.ref}/participants/{ref}").text
        found = dict(re.findall(r'<a rel="(prev|next)" href="([^"]*)"', page))
        wanted = {"prev": before, "next": after}
        assert found == {rel: f"{people}/{to}" for rel, to in wanted.items() if to}


def test_the_replay_shows_each_device_and_the_window_of_each_trial(
    finished, run, sessions, clock, researcher
):
    with sessions.begin() as session:
        who = session.scalars(select(Participant)).one()
        for mark, family in (("a", "Firefox"), ("b", "Chrome")):
            session.add(
                Device(
                    participant_id=who.id, mark=mark, user_agent_family=family, language="it",
                    automated=family == "Chrome", noted_at=clock(),
                )
            )  # fmt: skip
        answer = session.scalars(select(Response)).first()
        answer.viewport_width_px, answer.viewport_height_px, answer.times_shown = 412, 915, 3
        unblind_run(
            session, session.merge(run), by="a test", reason="all have finished", now=clock()
        )
    page = participant_page(researcher(Role.VIEWER), run)
    assert page.index("<dt>Device 1</dt><dd>Firefox, it") < page.index("<dt>Device 2</dt>")
    assert "Chrome, it, says that a program drives it" in page
    assert page.count("412 \N{MULTIPLICATION SIGN} 915") == 1
    assert "shown 3 times" in page


def test_no_page_tells_which_option_was_expected_before_the_run_is_unblinded(
    finished, run, researcher
):
    here = researcher(Role.RESEARCHER)
    assert '<th scope="col">Expected</th>' not in participant_page(here, run)
    refused = here.post(f"/runs/{run.ref}/unblind", reason="why")
    assert refused.status_code == 400
    assert here.post(f"/runs/{run.ref}/unblind", reason="all have finished").status_code == 303
    assert '<th scope="col">Expected</th>' in participant_page(here, run)
    assert "researcher unblinded the run" in here.get(f"/runs/{run.ref}").text


def test_what_a_participant_typed_is_never_part_of_a_page(finished, run, researcher):
    page = participant_page(researcher(Role.VIEWER), run)
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("state", ["", *State])
@pytest.mark.both_databases
def test_participants_are_filtered_and_searched(state, finished, run, researcher):
    here = researcher(Role.VIEWER)
    page = here.get(f"/runs/{run.ref}/participants?state={state}&sort=rt").text
    found = "1 participant." if state in ("", "finished") else "0 participants."
    assert found in page
    assert "0 participants." in here.get(f"/runs/{run.ref}/participants?search=%25").text


@pytest.mark.both_databases
def test_each_signal_can_be_sorted_by_and_flags_are_those_of_the_summary(
    finished, run, researcher, sessions, clock
):
    here = researcher(Role.VIEWER)
    blind = here.get(f"/runs/{run.ref}/participants?sort=rt").text
    assert "Median RT" not in blind
    here.post(f"/runs/{run.ref}/unblind", reason="all have finished")
    before = here.get(f"/runs/{run.ref}/participants?sort=flags").text
    assert "impossible time" not in before
    assert f"parallax summarise {run.ref}" in before
    summarise_run(sessions, run.ref, load_launched_study, clock())
    pages = {
        sort: here.get(f"/runs/{run.ref}/participants?sort={sort}").text for sort in SORT_LABELS
    }
    assert all("1 participant." in page for page in pages.values())
    assert {sort for sort, page in pages.items() if ">Flags</a></th>" in page} == {"flags"}
    assert "impossible time" in pages["flags"]


def test_an_export_is_sent_as_one_file_and_stands_in_the_log(finished, run, researcher):
    here = researcher(Role.OWNER)
    refused = here.post(f"/runs/{run.ref}/export")
    assert (
        refused.status_code,
        "is blind: its answers cannot be shown or exported" in refused.text,
    ) == (
        409,
        True,
    )
    here.post(f"/runs/{run.ref}/unblind", reason="all have finished")
    response = here.post(f"/runs/{run.ref}/export")
    names = zipfile.ZipFile(io.BytesIO(response.data)).namelist()
    assert f"run-{run.ref}/responses.csv" in names
    log = here.get("/audit").text
    assert "run exported" in log
    assert "The chain of 3 entries is whole." in log
    assert here.get("/audit.csv").text.count("\n") == 4


def test_what_cannot_be_done_is_said_on_the_runs_own_page(run, researcher):
    here = researcher(Role.RESEARCHER)
    here.post(f"/runs/{run.ref}/unblind", reason="a rehearsal of the export")
    response = here.post(f"/runs/{run.ref}/export")
    assert response.status_code == 409
    assert "no one has answered a trial yet" in response.text


def test_the_live_part_is_sent_when_it_changes(run, start, researcher, monkeypatch):
    monkeypatch.setattr(run_page, "_CHECK_INTERVAL_S", 0.0)
    here = researcher(Role.VIEWER)
    stream = here.client.get(f"/researcher/runs/{run.ref}/live", buffered=False)
    events = stream.iter_encoded()
    assert b"<dt>at work</dt><dd>0</dd>" in next(events)
    start(run)
    assert b"<dt>at work</dt><dd>1</dd>" in next(events)
    stream.close()


def test_a_place_is_not_kept_for_a_browser_that_left_while_nothing_changes(
    run, researcher, monkeypatch
):
    monkeypatch.setattr(run_page, "_PING_INTERVAL_S", 0.0)
    here = researcher(Role.VIEWER)
    stream = here.client.get(f"/researcher/runs/{run.ref}/live", buffered=False)
    events = stream.iter_encoded()
    assert b"overview" in next(events)
    # What fails where nobody listens any more is writing, so something is written.
    assert {next(events) for _ in range(3)} == {b":\n\n"}
    stream.close()


def test_a_page_that_is_opened_after_an_act_is_shown_nothing_from_before(run, start, researcher):
    here = researcher(Role.VIEWER)
    for number in (0, 1):
        stream = here.client.get(f"/researcher/runs/{run.ref}/live", buffered=False)
        assert f"<dt>at work</dt><dd>{number}</dd>".encode() in next(stream.iter_encoded())
        stream.close()
        start(run)


def test_watchers_beyond_the_most_are_refused_and_each_one_frees_a_slot(
    run, researcher, no_watchers
):
    here = researcher(Role.VIEWER)
    path = f"/researcher/runs/{run.ref}/live"
    watching = [here.client.get(path, buffered=False) for _ in range(run_page.MOST_WATCHERS)]
    refused = here.client.get(path)
    said = "Too many pages are watching runs at the moment, so this page does not update by itself"
    assert (refused.status_code, said in refused.text) == (503, True)
    for stream in watching:
        stream.close()
    again = here.client.get(path, buffered=False)
    assert again.status_code == 200
    again.close()


def test_a_refused_watcher_costs_no_part_and_a_part_that_fails_frees_its_slot(
    run, researcher, monkeypatch, no_watchers
):
    here = researcher(Role.VIEWER)
    path, made = f"/researcher/runs/{run.ref}/live", []

    def fails(ref: str) -> str:
        made.append(ref)
        raise RequestError("4" * 10, status=404, code="42")

    with monkeypatch.context() as patch:
        patch.setattr(run_page, "render_live_part", fails)
        for _ in range(run_page.MOST_WATCHERS + 1):
            assert here.client.get(path).status_code == 404
    watching = [here.client.get(path, buffered=False) for _ in range(run_page.MOST_WATCHERS)]
    assert [each.status_code for each in watching] == [200] * run_page.MOST_WATCHERS
    made.clear()
    monkeypatch.setattr(run_page, "render_live_part", fails)
    assert here.client.get(path).status_code == 503
    assert made == []
    for stream in watching:
        stream.close()


def test_a_run_that_does_not_exist_is_told(researcher):
    here = researcher(Role.VIEWER)
    for path in ("/runs/none", "/runs/none/live", "/runs/none/participants"):
        assert here.get(path).status_code == 404


@pytest.mark.parametrize("name", ["ratings", "german_case"])
def test_ratings_and_lists_of_options_are_replayed_as_they_stood(
    name, launched, start, sessions, researcher, clock
):
    run = launched(load_study(str(PRESENTATIONS / name)))
    start(run)
    with sessions.begin() as session:
        unblind_run(
            session, session.merge(run), by="a test", reason="all have finished", now=clock()
        )
    page = participant_page(researcher(Role.VIEWER), run)
    assert ('<th scope="col">Answered</th>' in page) == (name == "ratings")
    assert ("Third option" in page) == (name == "german_case")
    assert "not answered" in page
