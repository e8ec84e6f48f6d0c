"""A server that is reloading, or ends, answers everything it takes in."""

import json
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import select

from tests.patience import PATIENCE_S
from tests.webapp.commands.conftest import of
from webapp.commands.options import open_sessions
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Trial
from webapp.errors import SettingError, WebappError
from webapp.server import server_control as server

CLIENTS = 4
BREATH_S = 0.02

pytestmark = pytest.mark.one_database


@dataclass
class Crowd:
    """Participants who send answers one after the other, until the server refuses them for good.

    Each breathes between two, as people do: without that they took the processor from the
    processes that begin anew, and all waited for these.
    """

    link: str
    ending: threading.Event = field(default_factory=threading.Event)
    acknowledged: dict[tuple[str, int], str] = field(default_factory=dict)
    statuses: Counter = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def start(self) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._send) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        return threads

    def _send(self) -> None:
        with httpx.Client(timeout=PATIENCE_S, trust_env=False) as client:
            home = client.post(self.link, data={"decision": "accept"}).headers["location"]
            address, ref = f"{self.link.partition('/run/')[0]}{home}answers", home[3:15]
            answers = {position: str(uuid4()) for position in range(1, 9)}
            for position, uuid in cycle(answers.items()):
                answer = {"position": position, "uuid": uuid, "side": "first"}
                # Some come over new connections, most over one that is kept.
                headers = {"Connection": "close"} if position == 8 else {}
                sent = {**answer, "input_method": "key"}
                try:
                    response = client.post(address, json=sent, headers=headers)
                except httpx.TransportError as error:
                    if not self.ending.is_set():
                        self.lost.append(repr(error))
                    return
                self.statuses[response.status_code] += 1
                self.acknowledged[ref, position] = uuid
                self.ending.wait(BREATH_S)


@pytest.fixture
def running(shell, instance) -> Iterator[tuple[server.Server, Crowd]]:
    run = shell("launch", "minimal", "--seed", "1").split("Run ")[1].split()[0]
    # Several, as on a real server: each hands over what it was asked.
    started = server.start(instance, workers=2)
    yield started, Crowd(f"{started.url}/run/{run}")


def lines_of_answers(instance: Path) -> list[dict[str, object]]:
    # What follows the last line's end is being written at this moment.
    written, _, _ = (instance / "server.log").read_text("utf-8").rpartition("\n")
    lines = map(json.loads, written.splitlines())
    return [line for line in lines if line.get("endpoint") == "answers.save"]


def answered(instance: Path) -> Counter:
    """How many answers each of the server's processes took in and answered."""
    return Counter(line["pid"] for line in lines_of_answers(instance))


def wait_for_others(instance: Path, than: set[int]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if answered(instance).keys() - than:
            return
        time.sleep(0.2)
    raise AssertionError("no new processes answer")


def begun(instance: Path) -> set[int]:
    """The server's processes of all times, also those that have answered nobody yet."""
    written = (instance / "server.log").read_text("utf-8")
    return {int(pid) for pid in re.findall(r"Booting worker with pid: (\d+)", written)}


def wait_until_ended(instance: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while server.find_running_server(instance):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def stored(instance: Path) -> dict[tuple[str, int], str]:
    query = select(Participant.ref, Trial.position, Response.client_uuid)
    with reading(open_sessions(instance)) as session:
        rows = session.execute(query.select_from(Response).join(Trial).join(Participant)).all()
    return {(ref, position): uuid for ref, position, uuid in rows}


def test_no_request_is_lost_while_the_server_begins_anew_and_ends(running, shell, instance):
    started, crowd = running
    threads = crowd.start()
    wait_for_others(instance, than=set())
    first = begun(instance)
    assert "is reloading" in shell("reload")
    wait_for_others(instance, than=first)
    assert not crowd.lost
    crowd.ending.set()
    os.kill(started.pid, signal.SIGTERM)
    for thread in threads:
        thread.join()
    wait_until_ended(instance)
    assert not crowd.lost
    assert set(crowd.statuses) == {200}
    # Whatever the server took in, its sender heard of; and what they heard of is stored.
    assert answered(instance).total() == crowd.statuses.total()
    assert stored(instance) == crowd.acknowledged
    assert len(crowd.acknowledged) == CLIENTS * 8
    # Before the reload and after it, each line says whose answer it was.
    senders = {ref for ref, _ in crowd.acknowledged}
    assert {line.get("participant") for line in lines_of_answers(instance)} == senders
    assert all("request_id" in line for line in lines_of_answers(instance))


def test_a_reload_takes_up_new_settings_and_refuses_wrong_ones(
    shell, instance, metrics, monkeypatch
):
    monkeypatch.setenv("PARALLAX_JOBS_IN_SERVER", "false")
    # One process: with several, some could still be reading the settings that change below.
    started = server.start(instance, workers=1)
    assert "https://new.example" not in policy_of(started)
    settings = instance / "parallax.toml"
    settings.write_text('frame_ancestors = "https://new.example"\n', encoding="utf-8")
    assert f"process {started.pid}" in shell("reload", "--pid", str(started.pid))
    deadline, asked = time.monotonic() + PATIENCE_S, 2
    while "https://new.example" not in policy_of(started) and time.monotonic() < deadline:
        time.sleep(0.05)
        asked += 1
    # The metrics are those of the processes that have ended, too.
    assert of(metrics(), "parallax_requests_total", endpoint="none", status="404") == asked
    settings.write_text("workers = 0\n", encoding="utf-8")
    with pytest.raises(SettingError, match="workers"):
        shell("reload")
    settings.unlink()
    assert "https://new.example" in policy_of(started)
    # That it is to end is heard also by a process that has only just begun.
    shell("reload")
    os.kill(started.pid, signal.SIGTERM)
    wait_until_ended(instance)
    assert "SIGKILL" not in (instance / "server.log").read_text("utf-8")
    assert not (instance / "jobs.sqlite3").exists(), "this server does none, as it was told"


def policy_of(started: server.Server) -> str:
    # Any page for people; what programs get has a policy that no setting changes.
    response = httpx.get(f"{started.url}/nowhere", trust_env=False, timeout=PATIENCE_S)
    return response.headers["Content-Security-Policy"]


def test_without_a_server_there_is_nothing_to_reload(shell):
    with pytest.raises(WebappError, match="no server is running in the background"):
        shell("reload")
    with pytest.raises(WebappError, match="process 999999999 cannot be asked to reload: No such"):
        shell("reload", "--pid", "999999999")
