"""The process of researcher pages: no participant waits for it; what is handed on arrives whole."""

import io
import json
import os
import signal
import socket as plain_socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import gevent
import gevent.event
import httpx
import pytest
from gevent.socket import socket

from tests.patience import PATIENCE_S
from tests.webapp.server.test_waiting import until
from webapp.errors import WebappError
from webapp.server import app_on_demand
from webapp.server import server_control as server
from webapp.server.researcher_worker import NICE_INCREMENT, ResearcherHandover, ResearcherServer

pytestmark = pytest.mark.one_database
SIGN_IN = "/researcher/sign-in"


@pytest.fixture
def url(instance: Path) -> Iterator[str]:
    yield server.start(instance, workers=2).url
    if server.find_running_server(instance):
        server.stop(instance)


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=PATIENCE_S, trust_env=False) as client:
        yield client


def processes(instance: Path) -> list[int]:
    first = server.find_running_server(instance).pid
    return [*map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]


def researcher_worker(instance: Path) -> int:
    usual = os.getpriority(os.PRIO_PROCESS, server.find_running_server(instance).pid)
    of_process = {each: os.getpriority(os.PRIO_PROCESS, each) for each in processes(instance)}
    nicer = [pid for pid, priority in of_process.items() if priority == usual + NICE_INCREMENT]
    assert (len(of_process), len(nicer)) == (3, 1), "two for participants, one for researchers"
    return nicer[0]


def test_the_researcher_worker_from_its_beginning_to_the_servers_end(http, url, instance, run):
    """One server goes through all of it: each of its starts takes seconds of a processor."""
    assert http.get(SIGN_IN).status_code == 200
    participants_are_let_in_while_it_does_nothing_at_all(http, instance, run)
    a_body_that_is_refused_before_it_is_whole_takes_nothing_of_the_next_request(url)
    the_number_of_processes_is_the_setting_alone(http, instance)
    what_is_asked_while_it_is_dead_is_answered_by_the_next(url, instance)
    a_reload_answers_researchers_all_the_time_and_a_stop_ends_their_process(url, instance)


def participants_are_let_in_while_it_does_nothing_at_all(http, instance, run) -> None:
    pid = researcher_worker(instance)
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        try:
            asked = other.submit(http.get, SIGN_IN)
            assert http.get(f"/run/{run.ref}").status_code == 200
            agreed = http.post(f"/run/{run.ref}", data={"decision": "accept"})
            assert agreed.status_code == 303
            assert http.get(agreed.headers["Location"]).status_code == 200
            assert not asked.done()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert asked.result().status_code == 200


def a_body_that_is_refused_before_it_is_whole_takes_nothing_of_the_next_request(url) -> None:
    at = httpx.URL(url)
    with plain_socket.create_connection((at.host, at.port), timeout=PATIENCE_S) as connection:
        heard = connection.makefile("rb")

        def reply() -> int:
            status = int(heard.readline().split()[1])
            fields = dict(line.lower().split(b": ", 1) for line in iter(heard.readline, b"\r\n"))
            heard.read(int(fields[b"content-length"]))
            return status

        head = f"Host: {at.host}:{at.port}\r\n"
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n"
        connection.sendall(f"POST /researcher/runs HTTP/1.1\r\n{head}{form}\r\na=1".encode())
        assert reply() in (303, 403, 404, 405)
        connection.sendall(f"2345678GET /healthz HTTP/1.1\r\n{head}\r\n".encode())
        assert reply() == 200


def the_number_of_processes_is_the_setting_alone(http, instance) -> None:
    pid = researcher_worker(instance)
    for asked in (signal.SIGTTOU, signal.SIGTTIN):
        os.kill(server.find_running_server(instance).pid, asked)
        # Whoever is asked after the signal was looked at finds the same processes.
        until(lambda: "the setting workers" in (instance / "server.log").read_text())
    assert researcher_worker(instance) == pid
    assert http.get(SIGN_IN).status_code == 200


def what_is_asked_while_it_is_dead_is_answered_by_the_next(url, instance) -> None:
    pid = researcher_worker(instance)
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as other:
        # On a connection of its own: an earlier one's last reply may have lost its end.
        asked = other.submit(httpx.get, f"{url}{SIGN_IN}", timeout=PATIENCE_S)
        os.kill(pid, signal.SIGKILL)
        assert asked.result().status_code == 200
    assert httpx.get(f"{url}{SIGN_IN}", timeout=PATIENCE_S).status_code == 200
    assert researcher_worker(instance) != pid


def a_reload_answers_researchers_all_the_time_and_a_stop_ends_their_process(url, instance) -> None:
    def answered() -> httpx.Response:
        return httpx.get(f"{url}{SIGN_IN}", timeout=PATIENCE_S).raise_for_status()

    before = processes(instance)
    server.reload(instance)
    until(lambda: answered() and not any(Path(f"/proc/{each}").exists() for each in before))
    # The old ones may have ended before the new one answers researchers.
    answered()
    now = researcher_worker(instance)
    server.stop(instance)
    assert not Path(f"/proc/{now}").exists() and not server.find_running_server(instance)


class Pair:
    """Both sides of the researchers' door, in this process."""

    def __init__(self, app: Callable[[dict, Callable], object]) -> None:
        inside, outside = plain_socket.socketpair(plain_socket.AF_UNIX, plain_socket.SOCK_DGRAM)
        self.is_staying = True
        self._outside = socket(fileno=outside.detach())
        self._inside_server = ResearcherServer(app, socket(fileno=inside.detach()), 10)
        self._inside_server.start()
        here, complete = self._reply_as("here"), self._reply_as("complete app")
        self._door = ResearcherHandover(here, complete, self._outside, lambda: self.is_staying)

    @staticmethod
    def _reply_as(where: str) -> Callable[[dict, Callable], list[bytes]]:
        def reply(environ: dict, start: Callable) -> list[bytes]:
            start("200 OK", [("X-Where", where)])
            return [environ["wsgi.input"].read()]

        return reply

    def ask(self, path: str, body: bytes = b"", **environ: object) -> tuple[str, dict, bytes]:
        said: list = []
        given = {"PATH_INFO": path, "wsgi.input": io.BytesIO(body), **environ}
        reply = self._door(given, lambda *head: said.extend(head))
        try:
            content = b"".join(reply)
        finally:
            if hasattr(reply, "close"):
                reply.close()
        return said[0], dict(said[1]), content

    def close(self) -> None:
        self._inside_server.stop()
        self._outside.close()


def echo(environ: dict, start: Callable) -> list[bytes]:
    start("201 Created", [("X-Where", "researchers"), ("X-Sign", "é")])
    facts = {name: value for name, value in environ.items() if isinstance(value, (str, bool))}
    return [json.dumps(facts).encode(), b"", b"\0", environ["wsgi.input"].read()]


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 3_000_000])
def test_a_request_and_its_reply_arrive_as_they_were_sent(size):
    body = os.urandom(size)
    with closing(Pair(echo)) as pair:
        status, headers, content = pair.ask(
            "/researcher/é\udc80", body, REMOTE_ADDR="::1", HTTP_X="ÿ", object=object()
        )
    facts, _, sent_back = content.partition(b"\0")
    assert (status, headers) == ("201 Created", {"X-Where": "researchers", "X-Sign": "é"})
    said = json.loads(facts)
    assert (said["PATH_INFO"], said["REMOTE_ADDR"]) == ("/researcher/é\udc80", "::1")
    assert (said["HTTP_X"], "object" in said, said["wsgi.input_terminated"]) == ("ÿ", False, True)
    assert sent_back == body


@pytest.mark.parametrize("path", ["/", "/p/x/answers", "/researchers", "/coding.css"])
def test_what_participants_ask_is_answered_here_and_everything_at_the_end(path):
    with closing(Pair(echo)) as pair:
        assert pair.ask(path)[1] == {"X-Where": "here"}
        for other_path in ("/researcher", "/researcher/", "/coding/x/codes"):
            assert pair.ask(other_path)[1]["X-Where"] == "researchers"
        pair.is_staying = False
        assert pair.ask(path)[1] == {"X-Where": "here"}
        for other_path in ("/researcher/", "/coding/x"):
            assert pair.ask(other_path)[1] == {"X-Where": "complete app"}


def test_a_long_body_that_nobody_reads_is_refused_and_a_long_reply_comes_meanwhile():
    def refuse(_environ: dict, start: Callable) -> Iterator[bytes]:
        start("413 Too Large", [])
        return iter([b"x" * 5_000_000])

    with closing(Pair(refuse)) as pair:
        status, _, content = pair.ask("/researcher/launch/upload", bytes(50_000_000))
    assert (status, len(content)) == ("413 Too Large", 5_000_000)


def test_who_sends_half_of_a_body_has_it_refused():
    class Half(io.BytesIO):
        def read(self, n: int = -1) -> bytes:
            if not (piece := super().read(n)):
                raise OSError("unexpected end of file")
            return piece

    seen: list[object] = []

    def read(environ: dict, start: Callable) -> list[bytes]:
        try:
            seen.append(environ["wsgi.input"].read())
        except OSError as error:
            seen.append(error)
        start("400 Bad Request", [])
        return []

    with closing(Pair(read)) as pair:
        pair.ask("/researcher/x", **{"wsgi.input": Half(b"half")})
    assert isinstance(seen[0], ConnectionResetError)


def test_a_stream_ends_when_whoever_watched_is_gone():
    closed = gevent.event.Event()

    class Endless:
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b"x" * 1000
                gevent.sleep(0.01)

        def close(self) -> None:
            closed.set()

    def stream(_environ: dict, start: Callable) -> Endless:
        start("200 OK", [])
        return Endless()

    with closing(Pair(stream)) as pair:
        given = {"PATH_INFO": "/researcher/live", "wsgi.input": io.BytesIO()}
        reply = pair._door(given, lambda *_: None)
        assert next(iter(reply)) == b"x" * 1000
        reply.close()
        assert closed.wait(PATIENCE_S)


def test_who_asks_a_process_that_dies_at_work_is_asked_to_come_again():
    def die(_environ: dict, _start: Callable) -> list[bytes]:
        raise ConnectionError

    with closing(Pair(die)) as pair:
        status, headers, _ = pair.ask("/researcher/x")
    assert (status, headers["Retry-After"]) == ("503 Service Unavailable", "5")


def test_a_reply_that_breaks_off_is_not_taken_for_a_whole_one():
    def break_off(_environ: dict, start: Callable) -> Iterator[bytes]:
        start("200 OK", [])
        yield b"half"
        raise ConnectionError

    with closing(Pair(break_off)) as pair, pytest.raises(ConnectionResetError):
        pair.ask("/researcher/x")


def test_the_process_makes_its_app_at_its_first_request_and_only_once(monkeypatch):
    made: list[Callable] = []

    def make() -> Callable:
        gevent.sleep(0)  # other requests arrive while the database is opened
        made.append(echo)
        return echo

    monkeypatch.setattr(app_on_demand, "make_app", make)
    monkeypatch.setattr(app_on_demand, "run_when_available", lambda *_: None)
    with closing(Pair(app_on_demand.AppOnDemand(lambda: False))) as pair:
        assert not made
        asking = [gevent.spawn(pair.ask, "/researcher/") for _ in range(2)]
        assert [each.get()[0] for each in asking] == ["201 Created"] * 2
    assert made == [echo]


def test_an_app_that_cannot_be_made_is_tried_again_at_the_next_request(monkeypatch):
    attempts = iter([False, True])

    def make() -> Callable:
        if next(attempts):
            return echo
        raise WebappError("no key", remedy="Restore it")

    monkeypatch.setattr(app_on_demand, "make_app", make)
    monkeypatch.setattr(app_on_demand, "run_when_available", lambda *_: None)
    with closing(Pair(app_on_demand.AppOnDemand(lambda: False))) as pair:
        assert pair.ask("/researcher/")[0] == "503 Service Unavailable"
        assert pair.ask("/researcher/")[0] == "201 Created"


def test_the_process_is_idle_once_it_was_used_and_handles_nothing():
    answering = gevent.event.Event()

    def wait(_environ: dict, start: Callable) -> list[bytes]:
        answering.wait()
        start("200 OK", [])
        return []

    with closing(Pair(wait)) as pair:
        server = pair._inside_server
        assert not server.is_idle(limit_s=-1), "nobody has used it, so it has no app"
        asked = gevent.spawn(pair.ask, "/researcher/")
        gevent.sleep(0)
        assert not server.is_idle(limit_s=-1)
        answering.set()
        asked.get()
        until(lambda: server.is_idle(limit_s=-1))
        assert not server.is_idle()
