"""The log tells what happened to whom by reference, and never who that is elsewhere."""

import io
import json
import logging
import os
from collections.abc import Iterator

import pytest
from sqlalchemy.exc import IntegrityError

from webapp.core.logging import log_formatter, write_logs
from webapp.http.request_log import REQUEST_ID_HEADER
from webapp.recruiters.arrivals import Arrival
from webapp.recruiters.direct import DirectRecruiter

pytestmark = pytest.mark.one_database

PLATFORM_ID = "raw.worker@platform"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that any logger writes, as the server writes it."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, before = logging.StreamHandler(stream), root.level
    handler.setFormatter(log_formatter("json", stream))
    root.addHandler(handler)
    root.setLevel("DEBUG")
    yield stream
    root.setLevel(before)
    root.removeHandler(handler)


@pytest.fixture
def of_a_platform(monkeypatch):
    """The people come with the name by which a platform knows them."""
    monkeypatch.setattr(
        DirectRecruiter, "arrival", lambda _, landing: Arrival(landing.arguments.get("worker"))
    )


def lines(log: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def requests(log: io.StringIO) -> list[dict]:
    return [line for line in lines(log) if line["event"] == "request"]


def take_part(client, run) -> str:
    """Take part from the first page to the last, not without blunders; return the address."""
    link = f"/run/{run.ref}?worker={PLATFORM_ID}"
    client.get(link)
    home = client.post(link, data={"decision": "accept"}).location
    client.get(home)
    client.get(f"{home}nowhere")
    client.post(f"{home}answers", data="no json")
    client.post(f"{home}answers?worker={PLATFORM_ID}", json={"position": 99})
    for position in range(1, 9):
        answer = {
            "uuid": f"7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e1{position}",
            "position": position,
            "side": "first",
            "input_method": "key",
        }
        assert client.post(f"{home}answers", json=answer).status_code == 200
    client.post(f"{home}questionnaire", data={})
    client.get(home)
    return home


@pytest.mark.both_databases
def test_a_whole_study_leaves_neither_token_nor_platform_id_in_the_log(
    of_a_platform, client, run, log
):
    home = take_part(client, run)
    token = home.strip("/").rpartition("/")[2]
    written = log.getvalue()
    assert len(requests(log)) > 12
    assert token not in written and token.rpartition(".")[2] not in written
    assert PLATFORM_ID not in written


@pytest.mark.both_databases
def test_a_failure_leaves_its_trace_without_token_or_platform_id(
    of_a_platform, app, client, run, log, monkeypatch
):
    home = client.post(f"/run/{run.ref}?worker={PLATFORM_ID}", data={"decision": "accept"}).location

    def fail(*_arguments: object) -> None:
        reason = Exception(f"exists\nDETAIL:  Key (platform_id)=({PLATFORM_ID}) already exists.")
        raise IntegrityError("INSERT", {"platform_id": PLATFORM_ID}, reason)

    monkeypatch.setattr("webapp.participant.session.load_work", fail)
    app.testing = False
    assert client.get(home).status_code == 500
    trace = next(line for line in lines(log) if "exception" in line)
    assert "IntegrityError" in trace["exception"] and "session.py" in trace["exception"]
    assert trace["event"] == "Exception on /p/.../ [GET]"
    assert trace["participant"] and trace["request_id"] == requests(log)[-1]["request_id"]
    token = home.strip("/").rpartition("/")[2]
    assert token not in log.getvalue() and PLATFORM_ID not in log.getvalue()


def test_a_request_is_one_line_with_all_that_finds_it_again(visitor, run, log):
    response = visitor.page()
    (line,) = requests(log)
    assert line.pop("duration_ms") >= 0 and line.pop("timestamp").endswith("+00:00")
    assert line == {
        "event": "request",
        "level": "info",
        "logger": "parallax.requests",
        "pid": os.getpid(),
        "method": "GET",
        "endpoint": "session.show",
        "status": 200,
        "run": run.ref,
        "participant": visitor.home.removeprefix("/p/").partition(".")[0],
        "request_id": response.headers[REQUEST_ID_HEADER],
    }


def test_an_answer_is_logged_with_who_gave_it(visitor, log):
    visitor.answer(1)
    line = requests(log)[-1]
    assert (line["endpoint"], line["status"]) == ("answers.save", 200)
    assert line["participant"] == visitor.home.removeprefix("/p/").partition(".")[0]


def test_the_next_request_is_not_about_the_same_person(visitor, client, log):
    visitor.answer(1)
    client.get("/p/nobody/")
    answer, nobody = requests(log)[-2:]
    assert {"run", "participant"} & set(nobody) == set()
    assert "participant" in answer and nobody["request_id"] != answer["request_id"]


def test_every_message_of_a_request_bears_its_number(visitor, log):
    visitor.answer(99)
    *_, refused, request = lines(log)
    assert refused["event"].endswith("unknown_position")
    assert refused["request_id"] == request["request_id"]


def test_a_number_given_by_a_server_in_front_is_kept(client, log):
    client.get("/p/nobody/", headers={REQUEST_ID_HEADER: "front-0123456789"})
    assert requests(log)[0]["request_id"] == "front-0123456789"


@pytest.mark.parametrize("given", ["short", "x" * 65, 'a"b c<d>e', "ünïcödé8"])
def test_a_number_that_is_none_is_replaced(client, log, given):
    client.get("/p/nobody/", headers={REQUEST_ID_HEADER: given})
    assert requests(log)[0]["request_id"] != given


def test_people_at_a_terminal_read_text(capsys):
    root, before = logging.getLogger(), list(logging.getLogger().handlers)
    services = logging.getLogger("parallax")
    try:
        write_logs("text", "info")
        services.info("the words", extra={"job": "this one"})
        services.debug("unheard")
    finally:
        root.handlers[:] = before
        services.setLevel(logging.NOTSET)
        logging.getLogger("webapp").setLevel(logging.NOTSET)
    written = capsys.readouterr().err
    assert "the words" in written and "job" in written and "{" not in written
    assert "unheard" not in written


@pytest.mark.parametrize("known_as", ["A2SUUAAAEXAMPLE", "5f3c1d2e4b6a7c8d9e0f1a2b"])
def test_what_platforms_say_of_people_is_cut_out(log, known_as):
    logging.getLogger("anything").warning("Worker %s cannot be granted it", known_as)
    assert known_as not in log.getvalue()
    assert "Worker ... cannot be granted it" in log.getvalue()
