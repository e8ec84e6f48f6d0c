"""Measure each kind of request's cost to a node and PostgreSQL, and the nodes that a crowd needs.

Usage: python benchmarks/scale.py [--study NAME] [--places 100 10000] [--people 40] [--crowd 100]
       [--workers 2]

Requests are sequential, so no two share a transaction: in a crowd they cost less. Processor time is
that of all processes of the server, and of PostgreSQL. Then a crowd takes part on one node and on
two, and its cost is compared with the prediction from the single requests. The last result applies
the costs to 100,000 participants in a day, and to 10,000 who arrive within a minute.
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from uuid import uuid4

import httpx
from load_platforms.parallax import Parallax
from load_platforms.processes import free_port, used

from experiment.studies.load import load_study
from webapp.core.worker_count import COMMAND_CONNECTIONS, count_connections
from webapp.server import server_control as server

sys.path.append(str(Path(__file__).parents[1]))
from tests.webapp.postgres import PostgresServer, postgres_server

# So much of its processors a node, or PostgreSQL, is given to use.
FILLED = 0.6
PROCESSORS = 4
PER_DAY, IN_A_MINUTE = 100_000, 10_000
# The busiest hour of a day that takes part by day has so many of the day's people.
BUSIEST_HOUR = 0.15
THINKING_S = 4.0
# Pages of the researcher's room that are open, and how often each is made anew.
WATCHING, WATCHING_EVERY_S = 100, 3.0
_SESSION = re.compile(r'id="session">(.*?)</script>', re.DOTALL)
_MARK = re.compile(r'name="visit" value="(\w+)"')


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request, or one step of several requests, costs.

    Attributes:
        node_ms: Processor time of the node.
        database_ms: Processor time of PostgreSQL.
        statements: Statements that PostgreSQL carried out.
        wal_bytes: What PostgreSQL wrote into its log.
        sent_bytes: What the node sent back, headers apart.
    """

    node_ms: float
    database_ms: float
    statements: float
    wal_bytes: float
    sent_bytes: float


class Meter:
    """Measures what a node and PostgreSQL spend while something is done.

    Args:
        database: PostgreSQL, which counts its statements.
        pids: The first processes of the nodes.
    """

    def __init__(self, database: PostgresServer, pids: Sequence[int]) -> None:
        self._database, self._pids = database, tuple(pids)

    def of(self, do: Callable[[], int], times: int) -> Cost:
        """Return what one of so many repetitions cost; each returns how much it was sent."""
        before = self._now()
        sent = sum(do() for _ in range(times))
        after = self._now()
        spent = [(now - then) / times for now, then in zip(after, before, strict=True)]
        return Cost(1000 * spent[0], 1000 * spent[1], spent[2], spent[3], sent / times)

    def _now(self) -> tuple[float, float, float, float]:
        ((statements, wal),) = self._database.execute(
            "SELECT (SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%'),"
            " pg_current_wal_lsn() - '0/0'"
        )
        of_node, of_database = used(*self._pids), used(self._database.pid)
        return of_node.cpu_s, of_database.cpu_s, float(statements or 0), float(wal)


class Visitor:
    """Somebody who takes part at a node, as the page's program does."""

    def __init__(self, http: httpx.Client, platform: Parallax) -> None:
        self._http, self._run, self._home = http, platform.run, ""
        self._questionnaire = platform.questionnaire
        self._trials: list[int] = []

    def look(self) -> int:
        """Open the consent page."""
        page = self._http.get(f"/run/{self._run}").raise_for_status()
        self._mark = _MARK.search(page.text)
        return len(page.content)

    def arrive(self) -> int:
        """Agree, get the session's page and tell of the device."""
        form = {"decision": "accept", "visit": self._mark[1] if self._mark else ""}
        reply = self._http.post(f"/run/{self._run}", data=form)
        self._home = reply.headers["location"]
        page = self._http.get(self._home).raise_for_status()
        self._http.post(f"{self._home}device", json={"user_agent_family": "Chrome"})
        found = _SESSION.search(page.text)
        assert found
        self._trials = [trial["position"] for trial in json.loads(found[1])["trials"]]
        return len(page.content)

    def answer(self) -> int:
        """Answer the next trial."""
        body = {
            "uuid": str(uuid4()), "position": self._trials.pop(0), "side": "first",
            "rt_ms": 1234.5, "input_method": "key", "client_time": datetime.now(UTC).isoformat(),
            "viewport_width_px": 1280, "viewport_height_px": 720,
        }  # fmt: skip
        return len(self._http.post(f"{self._home}answers", json=body).raise_for_status().content)

    def end(self) -> int:
        """Answer what is left, and the questionnaire."""
        while self._trials:
            self.answer()
        page = self._http.get(self._home).raise_for_status()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = self._http.post(
            f"{self._home}questionnaire", content=self._questionnaire, headers=form
        )
        assert reply.status_code == 303, reply.text
        return len(page.content) + len(self._http.get(self._home).raise_for_status().content)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Servers that share a database."""

    urls: Sequence[str]
    private: str
    pids: Sequence[int]
    platform: Parallax
    database: PostgresServer

    def crowd(self, people: int) -> Cost:
        """Return what each of a crowd costs, twenty of whom take part at any time."""
        clients = [httpx.Client(base_url=url, timeout=120, trust_env=False) for url in self.urls]

        def take_part(http: httpx.Client) -> int:
            visitor = Visitor(http, self.platform)
            return visitor.look() + visitor.arrive() + visitor.end()

        def all_of_them() -> int:
            which = [client for client, _ in zip(cycle(clients), range(people), strict=False)]
            with ThreadPoolExecutor(20) as threads:
                return sum(threads.map(take_part, which))

        whole = Meter(self.database, self.pids).of(all_of_them, 1)
        return Cost(*(getattr(whole, name) / people for name in Cost.__slots__))


@contextmanager
def counting_server() -> Iterator[PostgresServer]:
    """Yield a PostgreSQL that counts its statements."""
    counting = ("shared_preload_libraries=pg_stat_statements",)
    with postgres_server(durable=True, settings=counting) as database:
        database.execute("CREATE EXTENSION pg_stat_statements")
        yield database


@contextmanager
def nodes(
    database: PostgresServer, study: str, places: int, number: int, workers: int
) -> Iterator[Nodes]:
    """Serve a study on so many nodes of so many processes, with a new database."""
    with database.database() as url, tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        first = Parallax(study, url, workers, settings=f"metrics_port = {port}\n")
        site = first.start(folder, places)
        urls, pids, others = [f"http://{site.host}:{site.port}"], [site.pid], []
        try:
            for n in range(1, number):
                other = folder / f"node_{n}"
                other.mkdir(mode=0o700)
                shutil.copy(folder / "instance" / "secret_key", other)
                (other / "parallax.toml").write_text(f'database_url = "{url}"\n', "utf-8")
                started = server.start(other, workers=workers)
                others.append(other)
                urls.append(started.url)
                pids.append(started.pid)
            yield Nodes(urls, f"http://127.0.0.1:{port}", pids, first, database)
        finally:
            for other in others:
                server.stop(other)
            first.stop()


STEPS = ("consent page", "arrival", "answer", "ending", "room's page", "scrape")


def single_costs(
    database: PostgresServer, study: str, places: int, people: int, workers: int
) -> dict[str, Cost]:
    """Return what each step costs where one follows the other."""
    with (
        nodes(database, study, places, 1, workers) as at,
        httpx.Client(base_url=at.urls[0], timeout=120) as http,
    ):
        meter, run = Meter(at.database, at.pids), at.platform.run
        warm = Visitor(http, at.platform)
        warm.look(), warm.arrive(), warm.end()
        visitors = [Visitor(http, at.platform) for _ in range(people)]
        n_trials = load_study(study).design.trials_per_list or 1
        each = {name: iter(visitors) for name in STEPS}
        answers = max(1, min(n_trials, 20) - 1)
        answering = iter([one for one in visitors for _ in range(answers)])
        room = {"Cookie": at.platform.room.cookie}

        def read(url: str, **headers: str) -> int:
            return len(httpx.get(url, headers=headers, timeout=120).raise_for_status().content)

        return {
            "consent page": meter.of(lambda: next(each["consent page"]).look(), people),
            "arrival": meter.of(lambda: next(each["arrival"]).arrive(), people),
            "answer": meter.of(lambda: next(answering).answer(), people * answers),
            "ending": _without_answers(meter, visitors, n_trials - answers),
            "room's page": meter.of(
                lambda: read(f"{at.urls[0]}/researcher/runs/{run}", **room), people
            ),
            "scrape": meter.of(lambda: read(f"{at.private}/metrics"), people),
        }


def _without_answers(meter: Meter, visitors: Sequence[Visitor], left: int) -> Cost:
    """Return what ending a session costs, the answers that are left given before."""
    for visitor in visitors:
        for _ in range(left):
            visitor.answer()
    ending = iter(visitors)
    return meter.of(lambda: next(ending).end(), len(visitors))


def of_participant(costs: dict[str, Cost], n_trials: int) -> Cost:
    """Return what a whole session costs by what its steps cost."""
    times = {"consent page": 1, "arrival": 1, "answer": n_trials, "ending": 1}
    return Cost(
        *(
            sum(n * getattr(costs[step], name) for step, n in times.items())
            for name in Cost.__slots__
        )
    )


def table(rows: dict[str, Cost]) -> Iterator[str]:
    """Yield a line for each row."""
    heads = ("node ms", "DB ms", "statements", "WAL KB", "sent KB")
    yield f"{'':<30}" + "".join(f"{head:>{len(head) + 2}}" for head in heads)
    for name, cost in rows.items():
        cells = (
            f"{cost.node_ms:.1f}", f"{cost.database_ms:.1f}", f"{cost.statements:.1f}",
            f"{cost.wal_bytes / 1000:.1f}", f"{cost.sent_bytes / 1000:.1f}",
        )  # fmt: skip
        aligned = (f"{c:>{len(head) + 2}}" for c, head in zip(cells, heads, strict=True))
        yield f"{name:<30}" + "".join(aligned)


def needed(costs: dict[str, Cost], n_trials: int) -> Iterator[str]:
    """Yield what a busy day and a burst of arrivals need, by the costs of single requests."""
    whole = of_participant(costs, n_trials)
    busiest = PER_DAY * BUSIEST_HOUR / 3600
    arrivals = IN_A_MINUTE / 60
    answers = IN_A_MINUTE / THINKING_S
    loads = {
        f"{PER_DAY:,} in a day, its busiest hour": (
            busiest * whole.node_ms / 1000,
            busiest * whole.database_ms / 1000,
        ),
        f"{IN_A_MINUTE:,} arrive within a minute": (
            arrivals * (costs["consent page"].node_ms + costs["arrival"].node_ms) / 1000,
            arrivals * (costs["consent page"].database_ms + costs["arrival"].database_ms) / 1000,
        ),
        f"... and then answer every {THINKING_S:g} s": (
            answers * costs["answer"].node_ms / 1000,
            answers * costs["answer"].database_ms / 1000,
        ),
        f"{WATCHING} pages of the researcher's room": (
            WATCHING / WATCHING_EVERY_S * costs["room's page"].node_ms / 1000,
            WATCHING / WATCHING_EVERY_S * costs["room's page"].database_ms / 1000,
        ),
    }
    heads = f"{'nodes':>7}{'DB':>7}{f'nodes of {PROCESSORS}':>12}{'connections':>13}"
    yield f"{'processors at work':<36}{heads}"
    for name, (of_nodes, of_database) in loads.items():
        number = max(1, -int(-of_nodes // (PROCESSORS * FILLED)))
        connections = (
            number * (count_connections(PROCESSORS) - COMMAND_CONNECTIONS) + COMMAND_CONNECTIONS
        )
        yield f"{name:<36}{of_nodes:>7.1f}{of_database:>7.1f}{number:>12}{connections:>13}"
    yield f"{PER_DAY:,} sessions write {PER_DAY * whole.wal_bytes / 1e9:.0f} GB of WAL"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--places", type=int, nargs="+", default=[100, 10_000])
    parser.add_argument("--people", type=int, default=40, help="for each step")
    parser.add_argument("--crowd", type=int, default=100, help="who take part at one and two nodes")
    parser.add_argument("--workers", type=int, default=2, help="processes of each node that answer")
    options = parser.parse_args()
    with counting_server() as database:
        measure(database, options)


def measure(database: PostgresServer, options: argparse.Namespace) -> None:
    """Measure all, and print the tables."""
    n_trials = load_study(options.study).design.trials_per_list or 1
    costs: dict[str, Cost] = {}
    for places in options.places:
        costs = single_costs(database, options.study, places, options.people, options.workers)
        print(f"one request after the other, {places:,} places")
        print(*table(costs), "", sep="\n")
    rows = {"a session, by the steps above": of_participant(costs, n_trials)}
    for number in (1, 2):
        with nodes(database, options.study, options.crowd, number, options.workers) as at:
            rows[f"a session in a crowd, {number} node{'s' * (number > 1)}"] = at.crowd(
                options.crowd
            )
    print(*table(rows), "", sep="\n")
    print(*needed(costs, n_trials), sep="\n")


if __name__ == "__main__":
    main()
