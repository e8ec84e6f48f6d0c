"""The server's clock beside what browsers claim, from stored rows to rules, tables and pages."""

import json
import re

import pytest
from sqlalchemy import select, update

from experiment.participation import EventKind
from experiment.responses.registry import response_of
from experiment.tables.files import read_table
from experiment.tables.observation_tables import EVENT_KINDS, EVENTS, INTEGRITY
from tests.webapp.conftest import Visitor, start_run
from tests.webapp.runs.test_exclude import study_with
from webapp.database.engine import reading
from webapp.database.models import Event, Participant, Run, Verdict
from webapp.database.models.installation import Stamp
from webapp.errors import RunError
from webapp.participant.data_notice import list_stored_data
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.runs.integrity import get_flags, make_certificates
from webapp.runs.runs import load_launched_study
from webapp.sessions.collected import ACROSS_RUNS, list_collected
from webapp.users.roles import Role

FACTS = {
    "user_agent_family": "Firefox", "refresh_rate_hz": 60, "time_zone_offset_min": 60,
    "language": "en-GB",
}  # fmt: skip


@pytest.fixture
def prelaunched() -> bool:
    return False


@pytest.fixture
def run(sessions, tmp_path, study) -> Run:
    """A study that excludes who claims more time than passed."""
    return start_run(sessions, study_with(tmp_path, study, 'rule = "impossible_time"'))


@pytest.fixture
def person(start, run, clock) -> Visitor:
    """Somebody who reads for twenty seconds and takes as long as they say."""
    visitor = start(run)
    visitor.client.post(f"{visitor.home}device", json={"mark": "a" * 32, **FACTS})
    clock.go_on(seconds=20)
    for n in range(1, 9):
        rt_ms = 900.5 + 131.3 * n
        clock.go_on(milliseconds=rt_ms + 150)
        assert visitor.answer(n, **measured(rt_ms, 60 + 7 * (n % 3))).status_code == 200
    visitor.questionnaire(native_language="English")
    return visitor


@pytest.fixture
def program(person, start, run, clock) -> Visitor:
    """A script that claims three and a half seconds for each of its answers, at once."""
    visitor = start(run)
    for n in range(1, 9):
        clock.go_on(milliseconds=40)
        assert visitor.answer(n, rt_ms=3500.0).status_code == 200
    visitor.questionnaire(native_language="English")
    return visitor


def measured(rt_ms: float, hold_ms: float) -> dict[str, object]:
    return {
        "rt_ms": rt_ms, "release_ms": rt_ms + hold_ms, "waited_ms": 0, "trusted": True,
        "onset_source": "presentation", "onset_uncertainty_ms": 4.0, "times_shown": 1,
        "seen_before_ms": 0, "pointer_moves": 0, "pointer_path_px": 0, "was_hidden": False,
        "lost_focus": False,
        "premature": [{"reason": "lockout", "input_method": "key", "ms": 80.5}],
    }  # fmt: skip


def test_a_script_is_flagged_and_excluded_and_a_person_is_neither(program, sessions, run, clock):
    with sessions.begin() as session:
        found = list(make_certificates(session, run, load_launched_study(session, run)))
        flags = [set(get_flags(run, one)) for _, one in found]
        assert flags == [set(), {"impossible_time", "agent_likelihood"}]
        assert found[0][1].excess_ms == pytest.approx(-20_150, abs=1)
        assert found[1][1].excess_ms == pytest.approx(8 * 3460)
        store_verdicts(session, run, clock())
    with reading(sessions) as session:
        verdicts = session.scalars(select(Verdict).order_by(Verdict.id)).all()
    assert [(one.kept, one.rule) for one in verdicts] == [(True, ""), (False, "impossible_time")]
    assert "28.0 s claimed, 0.3 s passed" in verdicts[1].evidence


def test_every_sign_of_automation_together_excludes_nobody_by_itself(
    sessions, tmp_path, study, start, clock
):
    plain = start_run(sessions, study)
    visitor = start(plain)
    visitor.client.post(f"{visitor.home}device", json={"mark": "a" * 32, "webdriver": True})
    for n in range(1, 9):
        clock.go_on(milliseconds=40)
        assert visitor.answer(n, rt_ms=3500.0, trusted=False).status_code == 200
    visitor.questionnaire(native_language="English")
    with sessions.begin() as session:
        found = list(make_certificates(session, plain, load_launched_study(session, plain)))
        assert {"impossible_time", "agent_likelihood"} <= set(get_flags(plain, found[0][1]))
        store_verdicts(session, plain, clock())
        rules = {verdict.rule for verdict in session.scalars(select(Verdict))}
    assert not rules & set(get_flags(plain, found[0][1]))


def test_an_export_tells_of_both_and_of_the_events(program, sessions, run, tmp_path):
    with reading(sessions) as session:
        export_run(session, run, tmp_path / "export")
    rows = list(read_table(INTEGRITY, tmp_path / "export" / "integrity.csv"))
    assert [row["flags"] for row in rows] == ["", "impossible_time agent_likelihood"]
    assert "measured=3." in rows[1]["signals"]
    assert [row["device_facts"] for row in rows] == [4, 0]
    events = list(read_table(EVENTS, tmp_path / "export" / "events.csv"))
    assert [(row["event"], row["kind"]) for row in events] == [
        (n, "premature_press") for n in range(1, 9)
    ]
    assert json.loads(events[0]["detail"]) == {
        "position": "1", "reason": "lockout", "input_method": "key", "ms": "80.5",
    }  # fmt: skip


@pytest.mark.one_database
def test_times_of_somebody_else_are_known_again(person, start, run, clock, sessions):
    copy = start(run)
    clock.go_on(minutes=5)
    for n in range(1, 9):
        copy.answer(n, **measured(900.5 + 131.3 * n, 60 + 7 * (n % 3)))
    with reading(sessions) as session:
        found = [
            one for _, one in make_certificates(session, run, load_launched_study(session, run))
        ]
    assert [one.n_copied for one in found] == [0, 8], "who gave them first did not copy them"


@pytest.mark.one_database
def test_the_replay_and_the_command_show_it(program, researcher, sessions, run, shell):
    with reading(sessions) as session:
        refs = session.scalars(select(Participant.ref).order_by(Participant.id)).all()
    here = researcher(Role.VIEWER)
    shell("summarise", run.ref)
    person, program = (here.get(f"/runs/{run.ref}/participants/{ref}").text for ref in refs)
    assert "No flag." in person
    assert "28.0 s claimed" in program
    printed = shell("integrity", run.ref)
    assert refs[0] not in printed
    assert re.search(rf"{refs[1]}.*impossible_time agent_likelihood", printed)
    assert "1 of 2 sessions with answers are flagged." in printed
    assert refs[0] in shell("integrity", run.ref, "--all")
    certificates = json.loads(shell("integrity", run.ref, "--json"))
    assert [list(one["flags"]) for one in certificates] == [
        [],
        ["impossible_time", "agent_likelihood"],
    ]


@pytest.mark.one_database
def test_programs_that_shall_answer_raise_no_flag(send, sessions, simulated_run, shell):
    send(participants=2)
    assert "none is flagged" in shell("integrity", simulated_run.ref)


def test_what_is_pasted_is_counted_and_never_kept(person, start, run, sessions, tmp_path):
    pasting = start(run)
    pasting.answer_all()
    for told in ("no JSON", "[1]", '{"native_language": true}', '{"elsewhere": 5}'):
        pasting.questionnaire(native_language="", _pasted=told)
    pasting.questionnaire(native_language="English, pasted", _pasted='{"native_language": 15}')
    with reading(sessions) as session:
        found = [
            one for _, one in make_certificates(session, run, load_launched_study(session, run))
        ]
        export_run(session, run, tmp_path / "export")
    assert [one.n_pasted for one in found] == [0, 1]
    events = read_table(EVENTS, tmp_path / "export" / "events.csv")
    pasted = [json.loads(row["detail"]) for row in events if row["kind"] == "pasted"]
    assert pasted == [{"question": "native_language", "n_characters": "15"}]


@pytest.mark.one_database
def test_unread_marks_of_pasting_keep_no_questionnaire_from_being_stored(start, run, sessions):
    for told in ("no JSON", "[" * 5_000, '{"native_language": 1e99}', '{"native_language": "1"}'):
        visitor = start(run)
        visitor.answer_all()
        visitor.questionnaire(native_language="English", _pasted=told)
    with reading(sessions) as session:
        assert session.scalars(select(Event)).all() == []
        assert set(session.scalars(select(Participant.state))) == {"finished"}


def test_every_kind_of_event_stands_in_the_codebook():
    assert set(EVENT_KINDS) == set(EventKind)
    kind = next(column for column in EVENTS.columns if column.name == "kind")
    assert all(f"{one} (" in kind.description for one in EventKind)


@pytest.mark.one_database
def test_the_command_names_sessions_that_share_their_paths_in_one_run_and_in_two(
    person, start, run, sessions, shell, tmp_path, study
):
    other = start_run(sessions, study)
    of_one_person = [start(run), start(other)]
    for number, visitor in enumerate([start(run), *of_one_person]):
        for n in range(1, 9):
            path = {"pointer_moves": 20 + n, "pointer_path_px": 200 + 10 * n + bool(number)}
            visitor.answer(n, **measured(1000.0 + 77 * n * (number + 1), 80) | path)
    with reading(sessions) as session:
        refs = session.scalars(select(Participant.ref).order_by(Participant.id)).all()
    again, elsewhere = refs[-3], refs[-2]
    alone = shell("integrity", run.ref, "--replays")
    n_sessions = int(re.search(r"of (\d+) sessions with answers", alone)[1])
    assert "No two sessions share their pointer paths." in alone
    assert (
        "Times were not compared: that needs 8 sessions with answers, and the run has"
        f" {n_sessions}." in alone
    )
    printed = shell("integrity", run.ref, "--other", other.ref)
    assert "Sessions that are too similar to come from two people:" in printed
    line = next(line for line in printed.splitlines() if f"{other.ref}/" in line)
    assert line.split()[-2:] == ["8", "8"]
    assert {again, elsewhere} & set(re.split(r"[ /]+", line))
    records = json.loads(shell("integrity", run.ref, "--other", other.ref, "--json"))
    found = [pair for record in records for pair in record["replays"]]
    assert [(pair["n_paths"], pair["n_same_paths"]) for pair in found] == [(8, 8)]


@pytest.mark.one_database
def test_people_who_were_not_told_of_it_are_not_compared_with_those_of_other_runs(
    run, sessions, shell, study
):
    other = start_run(sessions, study)
    told = "mouse movements with those of other participants, also in other studies"
    assert told in "".join(list_stored_data(study, known_to_platform=False))
    with sessions.begin() as session:
        stamp = Stamp.name == f"collected {other.ref}"
        earlier = json.dumps(sorted(list_collected(response_of(study)) - {ACROSS_RUNS}))
        session.execute(update(Stamp).where(stamp).values(value=earlier))
    refused = (
        "the consent pages of these runs do not say that times are compared with those of other"
        f" runs: {other.ref}. "
    )
    with pytest.raises(RunError, match=refused):
        shell("integrity", run.ref, "--other", other.ref)
    assert "No two sessions share" in shell("integrity", other.ref, "--replays")
