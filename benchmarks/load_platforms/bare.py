"""The least that can be asked: a Flask endpoint on Parallax' own server that commits one row.

It has no consent, no page, no design, no log, no metrics and no second table: what remains is the
web server, Flask, and a commit that is as durable as Parallax' own. So it says what an answer
costs below anything that a platform adds.
"""

import json
import sqlite3
import sys
from pathlib import Path

from load_platforms.answer import answer, new_uuid
from load_platforms.peers import TRIALS
from load_platforms.platform import Participant, Site, Stored
from load_platforms.processes import end, free_port, spawn, wait_until_listening

_FILES = {
    "bare.py": """\
import sqlite3

from flask import Flask, request

app = Flask(__name__)
mode = {"isolation_level": None, "timeout": 60, "check_same_thread": False}
database = sqlite3.connect("bare.sqlite3", **mode)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA synchronous=FULL")
database.execute("CREATE TABLE IF NOT EXISTS answer (who TEXT, position INTEGER, uuid TEXT)")


@app.post("/<who>/answers")
def save(who: str) -> dict[str, int]:
    answer = request.get_json()
    with database:
        row = (who, answer["position"], answer["uuid"])
        database.execute("INSERT INTO answer VALUES (?, ?, ?)", row)
    return {"saved": answer["position"]}
""",
    "settings.py": """\
from webapp.server.gevent_worker import Worker

bind, workers = "127.0.0.1:{port}", {workers}
worker_class, keepalive, control_socket_disable = Worker, 75, True


def post_fork(server, worker):
    worker.managed = False
""",
}


class Bare:
    """One endpoint that commits one row, on gunicorn with Parallax' own kind of process.

    Args:
        workers: How many processes answer.
    """

    name = "bare"

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def start(self, folder: Path, participants: int) -> Site:
        """Serve the endpoint."""
        self._folder, port = folder, free_port()
        for name, text in _FILES.items():
            given = text.format(port=port, workers=self._workers) if name != "bare.py" else text
            (folder / name).write_text(given, encoding="utf-8")
        command = [sys.executable, "-m", "gunicorn", "bare:app", "-c", "settings.py"]
        self._process = spawn(command, folder, {"PYTHONPATH": str(Path(__file__).parents[2])})
        wait_until_listening(port)
        return Site("127.0.0.1", port, self._process.pid)

    async def take_part(self, participant: Participant) -> None:
        """Send as many answers as a session has trials."""
        participant.name = f"w{participant.number}"
        for trial in range(1, TRIALS + 1):
            await participant.think()
            uuid = new_uuid(participant.rng)
            body = answer(trial, uuid, participant.rng.choice(("first", "second")))
            reply = await participant.browser.save(
                f"/{participant.name}/answers", body, "application/json"
            )
            assert json.loads(reply.body)["saved"] == trial
            participant.acknowledged[trial] = uuid

    def stop(self) -> None:
        """Stop the server."""
        end(self._process)

    def stored(self) -> Stored:
        """Return every row."""
        answers: dict[str, dict[int, str]] = {}
        connection = sqlite3.connect(self._folder / "bare.sqlite3")
        for who, position, uuid in connection.execute("SELECT who, position, uuid FROM answer"):
            answers.setdefault(who, {})[position] = uuid
        connection.close()
        return Stored(answers, imbalance=0)
