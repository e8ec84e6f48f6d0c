"""Stop runs at random moments, move them from SQLite to PostgreSQL; check payments and erasures.

Usage: python benchmarks/moves.py [--moves 20] [--seed 1]

Each run is on a stand-in (Prolific, or Mechanical Turk in every other run); everybody worked and is
owed a bonus. One person is forgotten, before or after the bonuses are ordered. The command that
orders them is killed at a random moment, and so is ``parallax db move``, up to twice; then the move
is repeated until it ends. The SQLite file, and a copy of its folder, are told to pay, and must not.
The installation goes on with PostgreSQL, reconciles and pays the rest. Then the stand-in's records
and the rows of both databases are compared. The exit status is 1 if a person was paid twice or not
at all, rows were lost, a forgotten person is in PostgreSQL, or SQLite paid.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copytree

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from two_copies import BETWEEN_S, BULK_S, PATIENCE_S, Copy, World, ended, list_bonuses, world

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import POSTGRESQL
from tests.webapp.postgres import PostgresServer, postgres_server
from webapp.commands.options import open_sessions
from webapp.database.engine import reading
from webapp.database.models import Answer, Base, Participant, Payment, Response, Trial

WRONG = (
    *("people paid twice", "people not paid", "tables that differ", "forgotten people found"),
    *("paid from SQLite", "left undone"),
)
SHOWN = (
    *("moves", "bonuses killed", "moves killed", "moves repeated", "settled by hand"),
    *("people forgotten", "people paid once", *WRONG),
)
# The move itself writes them.
_CHANGED = frozenset({"stamp"})
_LONGEST_S = 3.0


class Move:
    """An installation that is moved.

    Args:
        folder: Where everything lies.
        made: The stand-in and its run.
        rng: What draws the moments.
        url: The empty PostgreSQL database.
    """

    def __init__(self, folder: Path, made: World, rng: random.Random, url: str) -> None:
        self._folder, self._run, self._stand_in = folder / "first", made.run, made.url
        self._here, self._rng, self._url = Copy(self._folder), rng, url
        self.counts = Counter[str](moves=1)

    def run(self) -> None:
        """Pay, stop, move, and pay the rest."""
        assert self._here.give("approve", self._run, "--yes") == 0
        gone = self._forget() if self._rng.random() < 0.5 else None
        self.counts["bonuses killed"] += self._begin_and_kill("bonus", self._run, "--yes")
        gone = gone or self._forget()
        before = self._count_rows()
        self._move()
        self._pay_from_sqlite()
        with (self._folder / "parallax.toml").open("a", encoding="utf-8") as settings:
            settings.write(f"database_url = {json.dumps(self._url)}\n")
        after = self._count_rows()
        self.counts["tables that differ"] = sum(before[name] != after[name] for name in before)
        self._here.is_later = True  # a payment that was killed may now be looked at
        self._pay_the_rest()
        self._compare(gone)

    def _begin_and_kill(self, *command: str) -> bool:
        """Begin a command, kill it after a random time, and return whether it was still at work."""
        pid = self._here.begin(*command)
        time.sleep(self._rng.random() * _LONGEST_S)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return ended(pid) < 0

    def _forget(self) -> Participant:
        """Forget somebody, and return who it was."""
        with self._session() as session:
            people = session.scalars(select(Participant).order_by(Participant.id)).all()
        person = self._rng.choice(people)
        assert self._here.give("forget", person.ref, "--yes", "--although-unpaid") == 0
        self.counts["people forgotten"] = 1
        return person

    def _move(self) -> None:
        command = ("db", "move", self._url)
        for _ in range(self._rng.randint(0, 2)):
            self.counts["moves killed"] += self._begin_and_kill(*command)
        # A move that ended before it could be killed is not made again.
        if self._here.give(*command) != 0:
            self.counts["moves repeated"] += 1

    def _pay_from_sqlite(self) -> None:
        """Let the folder, and a copy of it, pay with the settings from before the move."""
        paid = len(list_bonuses(self._stand_in))
        copytree(self._folder, self._folder.with_name("copy"))
        for here in (self._here, Copy(self._folder.with_name("copy"))):
            assert here.give("bonus", self._run, "--yes") != 0
        self.counts["paid from SQLite"] = len(list_bonuses(self._stand_in)) - paid

    def _pay_the_rest(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            self._here.give("reconcile", self._run, "--fix")
            self._settle()
            done = self._here.give("bonus", self._run, "--yes") == 0
            if done and self._here.give("reconcile", self._run) == 0:
                return
            time.sleep(BETWEEN_S)
        self.counts["left undone"] = 1

    def _settle(self) -> None:
        """Decide as a person who looks at the platform's pages whether an order was carried out."""
        time.sleep(2 * BULK_S)
        with self._session() as session:
            bonuses = select(Payment.id, Payment.state).where(Payment.kind == "bonus")
            states = {id_: str(state) for id_, state in session.execute(bonuses)}
        doubtful = [id_ for id_, state in states.items() if state in ("ordered", "unknown")]
        if len(doubtful) == 1:
            n_done = sum(state == "done" for state in states.values())
            is_paid = len(list_bonuses(self._stand_in)) > n_done
            wish = "--paid" if is_paid else "--not-paid"
            settled = self._here.give("settle", self._run, str(doubtful[0]), wish) == 0
            self.counts["settled by hand"] += settled

    def _compare(self, gone: Participant) -> None:
        """Compare the platform's payments, and look for whoever was forgotten."""
        paid = Counter(list_bonuses(self._stand_in))
        with self._session() as session:
            people = session.scalars(select(Participant)).all()
            owed = {person.platform_id for person in people if person.platform_id}
            answers = select(func.count(Answer.id)).where(Answer.participant_id == gone.id)
            responses = select(func.count(Response.id)).join(Trial)
            found = [
                *({gone.platform_id} & owed),
                session.scalar(answers),
                session.scalar(responses.where(Trial.participant_id == gone.id)),
            ]
        self.counts["forgotten people found"] = int(any(found))
        self.counts["people paid twice"] = sum(times > 1 for times in paid.values())
        self.counts["people paid once"] = sum(times == 1 for times in paid.values())
        self.counts["people not paid"] = len(owed - set(paid))

    def _count_rows(self) -> dict[str, int]:
        with self._session() as session:
            return {
                table.name: session.scalar(select(func.count()).select_from(table)) or 0
                for table in Base.metadata.sorted_tables
                if table.name not in _CHANGED
            }

    @contextmanager
    def _session(self) -> Iterator[Session]:
        """Read the database that the settings name."""
        sessions = open_sessions(self._folder)
        with reading(sessions) as session:
            session.expire_on_commit = False
            yield session
        sessions.kw["bind"].dispose()


def one_move(number: int, seed: int, server: PostgresServer) -> Counter[str]:
    """Return the counts of one move."""
    rng, recruiter = random.Random(f"{seed} {number}"), ("prolific", "mturk")[number % 2]
    with (
        tempfile.TemporaryDirectory() as name,
        world(Path(name), recruiter) as made,
        server.database(empty=True) as url,
    ):
        move = Move(Path(name), made, rng, url)
        move.run()
        if any(move.counts[each] for each in WRONG):
            print(f"move {number}: {dict(move.counts)}", file=sys.stderr)
            print((Path(name) / "output").read_text(encoding="utf-8"), file=sys.stderr)
    return move.counts


def main() -> None:
    """Make the moves, print what was found, and end with 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options, totals = parser.parse_args(), Counter[str]()
    assert POSTGRESQL.find(), "PostgreSQL is needed"
    with postgres_server() as server:
        for number in range(options.moves):
            totals += one_move(number, options.seed, server)
    for name in SHOWN:
        print(f"{name:<34}{totals[name]:>8,}")
    sys.exit(any(totals[name] for name in WRONG))


if __name__ == "__main__":
    main()
