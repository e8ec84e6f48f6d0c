"""Kill the server at random moments while participants answer; count lost and duplicated answers.

Usage: python benchmarks/kill_test.py [--kills 1000] [--clients 6] [--seed 1]
           [--database sqlite|postgresql] [--nodes 4]

Every client behaves like the page's own program: it keeps an answer in a queue that survives a
crash of the browser, sends it until the server acknowledges it, and asks the server for its
position after a reload. A server process gets SIGKILL, and the next one starts on the same
database; on PostgreSQL, on average every second kill hits all processes of the database server.
With --nodes, so many servers of two workers share PostgreSQL through PgBouncer, behind nginx as in
docs/serving.md; a kill hits all processes of one of them. The exit status is 1 if an acknowledged
answer is not stored as sent, if a trial has a second answer, or if a participant who arrived did
not finish.
"""

import argparse
import itertools
import json
import os
import random
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import httpx
from sqlalchemy import func, select
from tqdm import tqdm
from werkzeug.serving import make_server

from experiment.participation import EventKind, State
from experiment.studies.load import STUDIES_FOLDER, load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import make_sessions, open_database, reading
from webapp.database.models import Event, Participant, Response, Trial
from webapp.recruiters.settings import load_settings
from webapp.runs.launch import launch_run
from webapp.services import EXTENSION, Services

# The tests' server, this time as durable as in production.
sys.path.append(str(Path(__file__).parents[1]))
from fault_injection.nodes import Nodes, through_pooler

from tests.free_ports import free_port
from tests.webapp.postgres import PostgresServer, postgres_server

HOST = "127.0.0.1"
PLACES_PER_KILL = 4
LIVES_S = (0.02, 0.5)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 0.3
# Of people at several nodes, which take seconds to start again.
THOUGHT_S, PLACES_PER_START = 1.0, 100
RELOADS = 0.05  # the share of answers after which the browser crashes

Ref, Position, Sent = str, int, tuple[str, str]
Acknowledged = dict[tuple[Ref, Position], Sent]


def serve_again_and_again(instance: Path, port: int) -> None:
    """Be the parent of one server after the other; each prints its number once it listens."""
    while True:
        child = os.fork()
        if child == 0:
            server = make_server(HOST, port, create_app(instance), threaded=True)
            print(os.getpid(), flush=True)
            server.serve_forever()
        os.waitpid(child, 0)


class Client:
    """One browser after the other, each taking part once.

    Args:
        url: The server's.
        run: The run's reference.
        rng: From which its answers follow.
        stop: When set, no further participant begins.
        trusted: The certificates that are believed; None for the system's.
        thought_s: How long it thinks about each answer.
    """

    def __init__(
        self,
        url: str,
        run: str,
        rng: random.Random,
        stop: threading.Event,
        trusted: ssl.SSLContext | None = None,
        thought_s: float = 0.0,
    ) -> None:
        self.acknowledged: Acknowledged = {}
        self.resent = 0
        self._http = httpx.Client(
            base_url=url, timeout=20, trust_env=False, verify=True if trusted is None else trusted
        )
        self._run, self._rng, self._stop, self._thought_s = run, rng, stop, thought_s

    def take_part_again_and_again(self) -> None:
        """Go through whole sessions until the stop."""
        while not self._stop.is_set():
            # The mark is the consent page's: a decision sent twice makes one participant.
            form = {"decision": "accept", "visit": f"{self._rng.getrandbits(48):012x}"}
            home = self._until(303, "POST", f"/run/{self._run}", data=form).headers["location"]
            self._answer_everything(home)
            self._until(303, "POST", f"{home}questionnaire", data={"native_language": "x"})

    def _answer_everything(self, home: str) -> None:
        queue: dict[Position, dict[str, object]] = {}
        while 'data-page="working"' in (page := self._until(200, "GET", home).text):
            found = re.search(r'id="session">(.*?)</script>', page, re.DOTALL)
            assert found
            session = json.loads(found[1])
            for trial in session["trials"]:
                position = trial["position"]
                if position in session["answered"] and position not in queue:
                    continue
                time.sleep(self._thought_s * self._rng.uniform(0, 2))
                answer = queue.setdefault(position, self._answer(position))
                if self._rng.random() < RELOADS:
                    break  # before it was sent: it waits in the queue and is not asked again
                self._send(home, answer)
                del queue[position]

    def _answer(self, position: Position) -> dict[str, object]:
        return {
            "uuid": str(UUID(int=self._rng.getrandbits(128), version=4)),
            "position": position,
            "side": self._rng.choice(("first", "second")),
            "input_method": "key",
        }

    def _send(self, home: str, answer: dict[str, object]) -> None:
        reply = self._until(200, "POST", f"{home}answers", json=answer).json()
        position, sent = reply["saved"], (str(answer["uuid"]), str(answer["side"]))
        assert position == answer["position"]
        self.acknowledged[_ref(home), position] = sent

    def _until(self, status: int, method: str, url: str, **body: object) -> httpx.Response:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                response = self._http.request(method, url, **body)  # type: ignore[arg-type]
                if response.status_code == status:
                    return response
                assert response.status_code >= 500, f"{method} {url}: {response.text}"
            except httpx.TransportError:
                self.resent += 1
            time.sleep(pause_s * self._rng.uniform(0.75, 1.25))
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def _ref(home: str) -> Ref:
    return home.removeprefix("/p/").partition(".")[0]


def prepare(folder: Path, places: int, database_url: str | None) -> str:
    """Launch a run with room for everybody and return its reference."""
    (folder / "instance").mkdir()
    if database_url:
        setting = f"database_url = {json.dumps(database_url)}\n"
        (folder / "instance" / "parallax.toml").write_text(setting, encoding="utf-8")
    study = folder / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    toml = (study / "study.toml").read_text(encoding="utf-8")
    toml = toml.replace("participants_per_list = 4", f"participants_per_list = {places}")
    (study / "study.toml").write_text(toml, encoding="utf-8")
    app = create_app(folder / "instance")
    services: Services = app.extensions[EXTENSION]
    with services.sessions() as session:
        run = launch_run(
            session, load_study(str(study)), 1, "direct", now=utc_now(), code_version="0"
        )
        session.commit()
    services.engine.dispose()
    return run.ref


class Victims:
    """The processes to be killed, each restarted by somebody else.

    Args:
        instance: The installation's folder.
        port: Where the web server listens.
        database: The database server; None on SQLite.
    """

    trusted = None

    def __init__(self, instance: Path, port: int, database: PostgresServer | None) -> None:
        self.url, self.most_connections = f"http://{HOST}:{port}", 0
        command = [sys.executable, __file__, "--serve", str(instance), str(port)]
        self._parent = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
        )
        self._database = database
        self._server = self._next_server()

    def kill(self, times: int, rng: random.Random) -> int:
        """Kill so many, each a random time after the last, and return how many were databases."""
        databases = 0
        for _ in tqdm(range(times), unit="kill", disable=None):
            time.sleep(rng.uniform(*LIVES_S))
            if self._database and rng.random() < 0.5:
                self._database.kill()
                self._database.start()
                databases += 1
            else:
                os.kill(self._server, signal.SIGKILL)
                self._server = self._next_server()
        return databases

    def end(self) -> None:
        """Stop the web server for good."""
        self._parent.kill()
        os.kill(self._server, signal.SIGKILL)
        self._parent.wait()
        assert self._parent.stdout is not None
        self._parent.stdout.close()

    def _next_server(self) -> int:
        assert self._parent.stdout is not None
        return int(self._parent.stdout.readline())


def count(instance: Path, clients: list[Client]) -> dict[str, int]:
    """Compare what was acknowledged with what is stored."""
    engine = open_database(load_settings(instance).database_url)
    with reading(make_sessions(engine)) as session:
        rows = session.execute(
            select(Participant.ref, Trial.position, Response.client_uuid, Response.chosen_side)
            .join(Trial, Trial.participant_id == Participant.id)
            .join(Response, Response.trial_id == Trial.id)
        ).all()
        late = session.execute(
            select(func.count(Event.id)).where(Event.kind == EventKind.LATE_ANSWER)
        ).scalar_one()
        arrived = session.execute(select(func.count(Participant.id))).scalar_one()
        states = Counter(session.scalars(select(Participant.state)))
        trials = session.execute(select(func.count(Trial.id))).scalar_one()
        lists = Counter(
            session.scalars(select(Participant.list).where(Participant.list.is_not(None)))
        )
    engine.dispose()
    stored = {(ref, position): (uuid, side) for ref, position, uuid, side in rows}
    acknowledged = dict(itertools.chain(*(client.acknowledged.items() for client in clients)))
    return {
        "participants": arrived,
        "finished": states.pop(State.FINISHED, 0),
        **{f"only {state}": n for state, n in sorted(states.items())},
        "imbalance": max(lists.values(), default=0) - min(lists.values(), default=0),
        "trials": trials,
        "without an answer": trials - len(stored),
        "acknowledged": len(acknowledged),
        "requests cut off": sum(client.resent for client in clients),
        "lost": sum(stored.get(key) != sent for key, sent in acknowledged.items())
        + len(set(stored) - set(acknowledged)),
        "duplicated": len(rows) - len(stored) + late,
    }


def run_test(
    kills: int,
    n_clients: int,
    seed: int,
    database: PostgresServer | None,
    url: str | None,
    nodes: int = 0,
) -> dict[str, int]:
    """Return the counts after so many kills."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = max(100, (PLACES_PER_START if nodes else PLACES_PER_KILL) * kills)
        run, stop = prepare(folder, places, url), threading.Event()
        victims = (
            Nodes(folder, nodes, database)
            if nodes and database
            else Victims(folder / "instance", free_port(), database)
        )
        clients = [
            Client(
                victims.url,
                run,
                random.Random(f"{seed} {n}"),
                stop,
                victims.trusted,
                THOUGHT_S if nodes else 0.0,
            )
            for n in range(n_clients)
        ]
        threads = [threading.Thread(target=client.take_part_again_and_again) for client in clients]
        for thread in threads:
            thread.start()
        try:
            databases = victims.kill(kills, random.Random(seed))
        finally:
            stop.set()
        for thread in threads:
            thread.join()
        victims.end()
        counts = {"kills": kills, "of the database": databases}
        counts |= {"most connections": victims.most_connections} if nodes else {}
        return counts | count(folder / "instance", clients)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--nodes", type=int, default=0, help="servers behind nginx and PgBouncer")
    parser.add_argument("--serve", nargs=2, metavar=("INSTANCE", "PORT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve_again_and_again(Path(options.serve[0]), int(options.serve[1]))
    given = (options.kills, options.clients, options.seed)
    with ExitStack() as stack:
        server, url = None, None
        if options.database == "postgresql" or options.nodes:
            server = stack.enter_context(postgres_server(durable=True))
            url = stack.enter_context(server.database(empty=True))
            if options.nodes:
                url = stack.enter_context(through_pooler(server, url))
        counts = run_test(*given, server, url, options.nodes)
    for name, number in counts.items():
        print(f"{name:<18}{number:>8,}")
    stuck = counts["participants"] - counts["finished"]
    sys.exit(bool(counts["lost"] or counts["duplicated"] or stuck))


if __name__ == "__main__":
    main()
