"""Traces of trials are kept where the study asks for them, and told on the consent page."""

import json
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import select

import webapp
from experiment.responses.trace import MOST_CHARACTERS, Moment, read_trace
from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from experiment.tables.observation_tables import TRACES
from tests.prerequisites import NODE
from tests.webapp.conftest import start_run
from webapp.database.engine import reading
from webapp.database.models import Response
from webapp.runs.export_queries import list_export_tables, stream_rows
from webapp.runs.runs import find_named_run

SCRIPT = Path(webapp.__file__).parent / "static" / "trace.js"
TOLD = "path of the mouse"
# The page's program with events that a browser might tell.
PROGRAM = """
const told = {};
globalThis.document = { addEventListener: (type, heard) => (told[type] = heard) };
let now = 0;
performance.now = () => now;
const { Trace } = await import(%s);
const trace = new Trace(new AbortController().signal);
now = 1000;
trace.begin();
for (const [type, event] of %s) {
  told[type]({ ...event, timeStamp: 1000 + event.ms, clientX: event.x, clientY: event.y });
}
console.log(JSON.stringify(trace.text));
"""
Told = tuple[str, dict[str, object]]


def traced(events: list[Told]) -> str:
    program = PROGRAM % (json.dumps(SCRIPT.as_uri()), json.dumps(events))
    ran = subprocess.run(
        [str(NODE.require()), "--input-type=module"], input=program, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return str(json.loads(ran.stdout))


def moved(ms: float, x: float, y: float, kind: str = "mouse") -> Told:
    return "pointermove", {"ms": ms, "x": x, "y": y, "pointerType": kind}


def test_what_the_page_writes_is_what_is_read():
    text = traced(
        [
            moved(12.4, 700.2, 430),
            moved(20, 701, 431),  # too soon after the one before
            moved(40, 690, 500),
            ("keydown", {"ms": 55}),
            ("keydown", {"ms": 60, "repeat": True}),
            ("keyup", {"ms": 130}),
            moved(3_600_000, 5, 0, "touch"),
        ]
    )
    assert list(read_trace(text)) == [
        Moment("mouse", 12, 700, 430),
        Moment("mouse", 40, 690, 500),
        Moment("key_down", 55),
        Moment("key_up", 130),
        Moment("touch", 3_600_000, 5, 0),
    ]
    assert list(read_trace("")) == []


def test_a_long_path_stays_whole_and_becomes_coarser():
    places = [(20 * n, (37 * n) % 1900, (91 * n) % 1000) for n in range(3000)]
    text = traced([moved(*place) for place in places])
    moments = list(read_trace(text))
    assert MOST_CHARACTERS / 3 < len(text) <= MOST_CHARACTERS
    assert moments[0].at_ms == 0
    assert moments[-1].at_ms > 50_000
    assert {(one.at_ms, one.x_px, one.y_px) for one in moments} <= set(places)


@pytest.mark.one_database
def test_traces_are_told_stored_and_exported_and_a_wrong_one_never_refuses_the_answer(
    study, sessions, client, visit
):
    files = study_files(study)
    files["study.toml"] += b"\n[taking_part]\ntraces = true\n"
    asking = frozen_study(files, study.folder)
    ref = start_run(sessions, asking, "direct").ref
    assert TOLD in client.get(f"/run/{ref}").text
    someone = visit(client.post(f"/run/{ref}", data={"decision": "accept"}).location)
    assert "data-traces" in someone.page().text
    wrong = ["m1", "x1,2,3", "m1,2,3;", "m1,2,3" + ";m1,2,3" * 300, 7]
    sent = ["m0,8p,5k;m14,-1,3;d2;u1z", *wrong, ""]
    for position, trace in enumerate(sent, start=1):
        assert someone.answer(position, trace=trace).status_code == 200
    with reading(sessions) as session:
        kept = session.scalars(select(Response.trace).order_by(Response.id)).all()
        run = find_named_run(session, ref)
        rows = list(stream_rows(session, run, TRACES))
        assert TRACES in list_export_tables(session, run, asking)
        assert TRACES not in list_export_tables(session, run, study)
    assert kept == [sent[0], *[None] * len(wrong), ""]
    assert [(row["kind"], row["at_ms"], row["x_px"]) for row in rows] == [
        ("mouse", 0, 313), ("mouse", 40, 312), ("key_down", 42, None), ("key_up", 113, None),
    ]  # fmt: skip


@pytest.mark.one_database
def test_a_study_that_asks_for_none_says_and_sends_nothing(client, run, visitor):
    assert TOLD not in client.get(f"/run/{run.ref}").text
    assert "data-traces" not in visitor.page().text
