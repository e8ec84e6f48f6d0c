"""Compare loads of participants on Parallax, oTree and psiTurk, in similar studies of 76 trials.

Usage: python benchmarks/load.py [--platforms parallax earlier bare otree psiturk]
       [--participants 10 100] [--arrivals once poisson] [--think 0 1]
       [--database sqlite|postgres] [--repeat 3] [--viewers 0 3] [--earlier CHECKOUT]

``earlier`` is another commit of Parallax, checked out in its own folder (git worktree add) and run
by the same interpreter. ``bare`` is a Flask endpoint that commits one row, on the same server.

Every participant has a separate connection and does what the platform's own pages do. The platforms
take turns, so that a busy machine slows all of them equally. The exit status is 1 if a participant
did not finish, if an acknowledged answer is not stored, or if Parallax' lists differ by more than
one participant.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from load_platforms.bare import Bare
from load_platforms.clients import Met, Plan, send
from load_platforms.otree import OTree
from load_platforms.parallax import Parallax
from load_platforms.peers import NotInstalledError
from load_platforms.platform import Platform, Stored
from load_platforms.psiturk import PsiTurk
from tqdm import tqdm

Row = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Database:
    """Where Parallax keeps one crowd's answers.

    Attributes:
        url: Its address; empty for SQLite in the instance folder.
        pids: The first processes of its server, which count as Parallax' own.
    """

    url: str
    pids: tuple[int, ...]


_PLATFORMS = ("parallax", "earlier", "bare", "otree", "psiturk")
_CACHE = Path.home() / ".cache" / "parallax-bench"


def measure(platform: Platform, plan: Plan, watched: tuple[int, ...]) -> Row:
    """Return what a crowd met on a platform, as a row of the table."""
    with tempfile.TemporaryDirectory(prefix="parallax-load-") as name:
        site = platform.start(Path(name), plan.participants)
        try:
            room = platform.room if isinstance(platform, Parallax) else None
            with room.watching(site) if room else nullcontext():
                met = send(plan, platform, site, (site.pid, *watched))
        finally:
            platform.stop()
        stored = platform.stored()
    met.problems.extend(room.problems if room else [])
    for problem in met.problems[:3]:
        tqdm.write(problem, file=sys.stderr)
    watched_by: Row = {
        "viewers": room.number if room else 0,
        "updates": room.updates if room else 0,
    }
    return {**_asked(platform, plan), **watched_by, **_happened(met, stored), **_cost(met)}


def _asked(platform: Platform, plan: Plan) -> Row:
    return {
        "platform": platform.name,
        "arrivals": plan.arrivals,
        "think s": plan.think_s,
        "people": plan.participants,
    }


def _happened(met: Met, stored: Stored) -> Row:
    missing = sum(
        stored.answers.get(person.name, {}).get(trial) != given
        for person in met.people
        for trial, given in person.acknowledged.items()
    )
    return {
        "completed": len(met.people) - len(met.problems),
        "acknowledged": sum(len(person.acknowledged) for person in met.people),
        "missing": missing,
        "imbalance": stored.imbalance,
    }


def _cost(met: Met) -> Row:
    browsers = [person.browser for person in met.people]
    saves = max(1, sum(len(browser.save_s) for browser in browsers))
    p50, p95, p99 = met.save_ms
    return {
        "seconds": round(met.wall_s, 2),
        "completed/min": round(60 * (len(met.people) - len(met.problems)) / met.wall_s, 1),
        "requests/s": round(sum(browser.requests for browser in browsers) / met.wall_s),
        "save p50 ms": round(p50, 1),
        "save p95 ms": round(p95, 1),
        "save p99 ms": round(p99, 1),
        "slowest request s": round(max(browser.slowest_s for browser in browsers), 2),
        "bytes/answer": round(sum(browser.save_bytes for browser in browsers) / saves),
        "KB sent": round(sum(b.sent_bytes for b in browsers) / len(browsers) / 1000, 1),
        "KB received": round(sum(b.received_bytes for b in browsers) / len(browsers) / 1000, 1),
        "reconnected": sum(browser.reconnected for browser in browsers),
        "server MiB": round(met.memory_mib),
        "server CPU s": round(met.server_cpu_s, 2),
        "driver CPU s": round(met.driver_cpu_s, 2),
        "server ms/answer": round(1000 * met.server_cpu_s / saves, 3),
    }


def arguments() -> argparse.ArgumentParser:
    """Return what the command takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--platforms", nargs="+", default=["parallax"], choices=_PLATFORMS)
    add("--earlier", type=Path, help="a checkout of another commit, for the platform 'earlier'")
    add("--participants", nargs="+", type=int, default=[10, 40, 100, 200, 500])
    add("--arrivals", nargs="+", default=["once"], choices=["once", "poisson"])
    add("--over", type=float, default=10.0, help="seconds within which a Poisson crowd arrives")
    add("--think", nargs="+", type=float, default=[0.0], help="seconds before each answer")
    add("--database", default="sqlite", choices=["sqlite", "postgres"], help="of Parallax")
    add("--study", default="marvin_linzen_2018", help="of Parallax: a built-in study")
    add("--workers", type=int, default=2, help="of Parallax")
    add("--viewers", nargs="+", type=int, default=[0], help="of Parallax: who watch the run live")
    add("--repeat", type=int, default=1)
    add("--seed", type=int, default=1)
    add("--peers-folder", type=Path, default=_CACHE, help="where oTree and psiTurk are installed")
    add("--json", type=Path, help="a file for the rows")
    return parser


def plans(options: argparse.Namespace) -> Iterator[Plan]:
    """Yield every crowd that was asked for."""
    for arrivals, think_s, people in product(options.arrivals, options.think, options.participants):
        yield Plan(people, arrivals, options.over, think_s, options.seed)


def shown(rows: list[Row]) -> str:
    """Return the rows as a table, one line for each figure."""
    lines = [[name, *(_cell(row.get(name, "")) for row in rows)] for name in rows[0]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _cell(value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{value:,}"


@contextmanager
def fresh_database(kind: str) -> Iterator[Callable[[], AbstractContextManager[Database]]]:
    """Yield what gives a new database for each crowd; SQLite's is the installation's own file."""
    if kind == "sqlite":
        yield lambda: nullcontext(Database("", ()))
        return
    # The tests' server, this time as durable as in production.
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.webapp.postgres import postgres_server

    with postgres_server(durable=True) as server:

        @contextmanager
        def new() -> Iterator[Database]:
            with server.database() as url:
                yield Database(url, (server.pid,))

        yield new


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for every crowd and platform, the platforms in turns."""
    peers = {"otree": OTree, "psiturk": PsiTurk}
    with fresh_database(options.database) as new:
        for plan, _, name in product(plans(options), range(options.repeat), options.platforms):
            if name == "earlier":
                yield measure_earlier(options, plan)
                continue
            if name == "bare":
                yield measure(Bare(options.workers), plan, ())
                continue
            if name in peers:
                try:
                    peer = peers[name](options.peers_folder)
                except NotInstalledError as error:
                    tqdm.write(str(error), file=sys.stderr)
                    continue
                yield measure(peer, plan, ())
                continue
            for viewers in options.viewers:
                with new() as database:
                    own = Parallax(options.study, database.url, options.workers, viewers)
                    yield measure(own, plan, database.pids)


def measure_earlier(options: argparse.Namespace, plan: Plan) -> Row:
    """Return what another commit's own benchmark measures with the same crowd."""
    if options.earlier is None:
        sys.exit("the platform 'earlier' needs --earlier CHECKOUT")
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "benchmarks/load.py", "--json", file.name]
        command += ["--participants", str(plan.participants), "--arrivals", plan.arrivals]
        command += ["--over", str(plan.over_s), "--think", str(plan.think_s)]
        command += ["--database", options.database, "--study", options.study]
        command += ["--workers", str(options.workers), "--seed", str(plan.seed)]
        own = {**os.environ, "PYTHONPATH": str(options.earlier.resolve())}
        subprocess.run(command, cwd=options.earlier, env=own, check=True, capture_output=True)
        (row,) = json.load(file)
    return {**row, "platform": "earlier"}


def rooms_cost(rows: list[Row]) -> Iterator[str]:
    """Yield how much of the server's time it took that researchers watched, for each such crowd."""
    own = [row for row in rows if row["platform"] == "parallax"]
    alone = [float(row["server CPU s"]) for row in own if not row["viewers"]]
    for viewers in sorted({int(row["viewers"]) for row in own} - {0}):
        with_them = [float(row["server CPU s"]) for row in own if row["viewers"] == viewers]
        if alone:
            more = sum(with_them) / len(with_them) / (sum(alone) / len(alone)) - 1
            yield (
                f"{viewers} viewers: {more:+.1%} of the server's processor time,"
                f" mean of {len(with_them)}"
            )


def main() -> None:
    """Print the table."""
    options = arguments().parse_args()
    # Whoever ends this program ends the server that it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    rows = list(tqdm(measure_all(options), unit="crowd", disable=None))
    if not rows:
        sys.exit("none of these platforms is installed")
    print(shown(rows))
    for line in rooms_cost(rows):
        print(line)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(not sound(row) for row in rows))


def sound(row: Row) -> bool:
    """Return whether everybody finished and nothing acknowledged is missing."""
    fair = row["platform"] != "parallax" or row["imbalance"] <= 1
    return row["completed"] == row["people"] and row["missing"] == 0 and fair


if __name__ == "__main__":
    main()
