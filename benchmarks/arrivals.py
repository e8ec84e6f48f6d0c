"""What an arrival, the page before it and a scrape of the metrics ask of SQLite, by places.

Usage: python benchmarks/arrivals.py [--places 100 1000 10000 100000]

Counted are the steps of SQLite's machine, not the time, so the table is the same on any computer.
Half of the places are taken, by participants at work.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, event, insert
from sqlalchemy.engine.interfaces import DBAPIConnection

from experiment.participation import State
from experiment.studies.load import load_study
from webapp.core.keys import make_keys
from webapp.core.metrics import Metrics
from webapp.core.settings import Settings
from webapp.database.engine import Sessions, make_sessions, open_database, reading
from webapp.database.models import Identity, Participant, Place, Run
from webapp.gate.gate import put_up
from webapp.gate.premises import Premises
from webapp.runs.launch import launch
from webapp.server.private_port import collect_registry
from webapp.sessions.consent import Decision, enroll, refuse_newcomers

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Steps:
    """Counts the steps of every connection's machine while something is done."""

    def __init__(self, engine: Engine) -> None:
        self.n = 0
        event.listen(engine, "connect", self._watch)

    def _watch(self, connection: DBAPIConnection, _record: object) -> None:
        def tick() -> int:
            self.n += 1
            return 0

        connection.set_progress_handler(tick, 1)  # type: ignore[attr-defined]

    def of(self, do: Callable[[], object]) -> int:
        """Return how many steps it took."""
        before = self.n
        do()
        return self.n - before


def large_run(sessions: Sessions, places: int) -> Run:
    """Launch a study, and give it so many places instead of its own."""
    study = load_study("minimal")
    with sessions.begin() as session:
        run = launch(session, study, 1, "direct", now=NOW, code_version="0")
        session.flush()
        session.query(Place).filter_by(run_id=run.id).delete()
        lists = range(study.design.lists)
        names = [
            {"hash": f"W{n}", "sealed": f"W{n}", "forgotten": False} for n in range(places // 2)
        ]
        session.execute(insert(Identity), names)
        keys = dict(session.query(Identity.sealed, Identity.id))
        people = [
            {"run_id": run.id, "ref": f"p{n}", "person_key": keys[f"W{n}"], "state": State.WORKING,
             "list": n % len(lists), "place": n // len(lists), "arrived_at": NOW,
             "consented_at": NOW}
            for n in range(places // 2)
        ]  # fmt: skip
        session.execute(insert(Participant), people)
        held = dict(session.query(Participant.platform_id, Participant.id))
        rows = [
            {"run_id": run.id, "list": n % len(lists), "place": n // len(lists),
             "participant_id": held.get(f"W{n}")}
            for n in range(places)
        ]  # fmt: skip
        session.execute(insert(Place), rows)
    return run


@contextmanager
def database() -> Iterator[tuple[Engine, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(
            f"sqlite:///{Path(folder) / 'arrivals.sqlite3'}", make_keys(Path(folder))
        )
        put_up(engine, Premises(Path(folder), Settings()))
        yield engine, Path(folder)
        engine.dispose()


def measure(places: int) -> tuple[int, int, int]:
    """Return the steps of an arrival, of the page before it and of a scrape."""
    study = load_study("minimal")
    with database() as (engine, folder):
        sessions = make_sessions(engine)
        run = large_run(sessions, places)
        # Connections made from here on are counted.
        engine.dispose()
        steps = Steps(engine)
        registry = collect_registry(Metrics(), sessions, folder)

        def come() -> None:
            with sessions.begin() as session:
                enroll(session, run, study, Decision.ACCEPT, NOW, platform_id="new")

        def look() -> None:
            with reading(sessions) as session:
                refuse_newcomers(session, run, NOW)

        return steps.of(come), steps.of(look), steps.of(lambda: list(registry.collect()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    options = parser.parse_args()
    print(f"{'places':>9} {'an arrival':>12} {'the page before':>16} {'a scrape':>10}")
    for places in options.places:
        arrival, page, scrape = measure(places)
        print(f"{places:>9,} {arrival:>12,} {page:>16,} {scrape:>10,}")


if __name__ == "__main__":
    main()
