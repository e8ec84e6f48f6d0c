"""Let two live copies of an installation pay the same participants at once; check all payments.

Usage: python benchmarks/two_copies.py [--races 100] [--seed 1] [--processes 2] [--longest 10]
       [--kept FILE]

Each race has a stand-in in a separate process (for Prolific, or for Mechanical Turk in every other
race), a run with approved participants who are owed a bonus, and a second copy of the installation:
a backup restored in another folder with the same keys, or a copy of the whole folder. Commands run
as separate processes. Both copies are told to pay, 0 to ten seconds apart. Then, drawn at random,
the first copy hands over the right to pay (while it pays, or after it was killed while paying), or
its folder is deleted and the second copy takes over. The copy that finally has the right reconciles
and pays the rest. Then the stand-in's records are checked. The exit status is 1 if a participant
was paid twice or not at all, or if a copy took over while the other one was alive.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
from fault_injection.environment import Environment, Worker, small_study
from fault_injection.prolific import Participant, ProlificEnvironment
from faults import campaign_in_batches

import parallax
from experiment.studies.load import load_study
from marketplace.mturk import create_marketplace
from marketplace.prolific import create_prolific
from marketplace.serving import serve_in_thread
from webapp import create_app
from webapp.core import clock
from webapp.core.clock import utc_now
from webapp.gate import paying_copy
from webapp.jobs.platforms import send_reports
from webapp.recruiters.registry import open_platform
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run
from webapp.services import EXTENSION

BONUS, PLACES_PER_LIST, GAPS_S = 5, 2, (0.0, 0.0, 0.05, 0.2, 0.5, 1.0, 3.0, 10.0)
WAYS = ("hand over while paying", "killed while paying", "gone", "stays")
WRONG = ("people paid twice", "people not paid", "taken over from a living copy", "left undone")
SHOWN = (
    *("races", "races on prolific", "races on mturk", "backups restored", "folders copied", *WAYS),
    *("settled by hand", "people paid once", *WRONG),
)
PATIENCE_S, BETWEEN_S = 120.0, 0.3
# After so long a payment that a process was making when it was killed may be looked at, and what
# the other copy did last is old enough for a take-over.
_LATER = timedelta(minutes=66)
BULK_S = 0.3  # so long Prolific takes until an order shows


@dataclass(frozen=True, slots=True)
class World:
    """A stand-in with a run whose people wait for a bonus.

    Attributes:
        url: The stand-in's address.
        run: The run.
        people: How many are owed a bonus.
    """

    url: str
    run: str
    people: int


def serve_world(folder: Path, recruiter: str, pipe: Connection) -> None:
    """Make a stand-in and a run in which everybody worked, and serve until the pipe ends."""
    if recruiter == "prolific":
        market = create_prolific(
            folder / "market",
            currency="USD",
            balance_minor=10**9,
            webhooks_by_themselves=False,
            bulk_s=BULK_S,
        )
    else:
        market = create_marketplace(folder / "market", balance_cents=10**7)
    with serve_in_thread(market) as url, httpx.Client(base_url=url, trust_env=False) as web:
        (folder / "first").mkdir()
        settings = f'{recruiter}_endpoint = "{url}"\nport = 1\n'
        (folder / "first" / "parallax.toml").write_text(settings, encoding="utf-8")
        app = create_app(folder / "first")
        app.logger.setLevel("CRITICAL")
        kind = ProlificEnvironment if recruiter == "prolific" else Environment
        run, people = _worked(kind(folder, url, app, utc_now, web), recruiter)
        app.extensions[EXTENSION].engine.dispose()
        pipe.send(World(url, run, people))
        pipe.recv()


def _worked(environment: Environment, recruiter: str) -> tuple[str, int]:
    services = environment.services
    with services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, PLACES_PER_LIST)))
        ref = launch_run(session, study, 1, recruiter, now=utc_now(), code_version="0").ref
    platform = open_platform(recruiter, services.settings)
    link = services.recruiter(recruiter).invitation("http://127.0.0.1:1", ref)
    plan = draft_plan(services.sessions, platform, ref, link, utc_now())
    offers = [offer for offer, _ in carry_out_plan(services.sessions, platform, plan, utc_now)]
    people = 2 * PLACES_PER_LIST
    for number in range(people):
        if isinstance(environment, ProlificEnvironment):
            with Participant(environment, ref) as person:
                assert person.take(offers[0])
                assert person.consent()
                person.answer()
        else:
            with Worker(environment, ref, f"AWORKER{number}") as worker:
                assert worker.accept()
                assert worker.consent()
                assert worker.answer()
                assert worker.submit()
    send_reports(services)
    return ref, people


class _LaterTime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + _LATER


class Copy:
    """A copy of the installation, and the commands that are given there.

    Args:
        folder: Its instance folder.

    Attributes:
        is_later: Whether the clock of its commands is some minutes ahead.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.is_later = folder, False

    def begin(self, *command: str) -> int:
        """Start a command in a process of its own, and return its number."""
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            return pid
        os.environ["PARALLAX_INSTANCE"] = str(self.folder)
        if self.is_later:
            vars(clock)["datetime"] = _LaterTime
        output = os.open(self.folder.parent / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        try:
            parallax.cli.main(list(command), standalone_mode=True)
        except SystemExit as end:
            os._exit(int(end.code or 0) if isinstance(end.code, int | None) else 1)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(70)
        os._exit(0)

    def give(self, *command: str) -> int:
        """Give a command, and return its exit status."""
        return ended(self.begin(*command))


def ended(pid: int) -> int:
    """Wait for a process, and return how it ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def one_race(options: argparse.Namespace, number: int) -> Counter[str]:
    """Return the counts of one race."""
    rng = random.Random(f"{options.seed} {number}")
    recruiter = ("prolific", "mturk")[number % 2]
    with tempfile.TemporaryDirectory() as name, world(Path(name), recruiter) as made:
        race = Race(Path(name), made, rng, min(rng.choice(GAPS_S), options.longest))
        race.run()
        counts = race.counts
        paid = Counter(list_bonuses(made.url))
        counts["people paid twice"] = sum(times > 1 for times in paid.values())
        counts["people not paid"] = made.people - len(paid)
        counts["people paid once"] = sum(times == 1 for times in paid.values())
        counts[f"races on {recruiter}"] = counts["races"] = 1
        if any(counts[each] for each in WRONG):
            print(f"race {number}: {race.way}, {dict(counts)}", file=sys.stderr)
            print((Path(name) / "output").read_text(encoding="utf-8"), file=sys.stderr)
    return counts


@contextmanager
def world(folder: Path, recruiter: str) -> Iterator[World]:
    """Yield a stand-in with a run, in a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=serve_world, args=(folder, recruiter, theirs)
    )
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.kill()
        process.join()


def list_bonuses(url: str) -> list[str]:
    """Return whom the platform paid a bonus, once for each."""
    with httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S) as web:
        payments = web.get("/control/payments").raise_for_status().json()["payments"]
    who = "participant" if payments and "participant" in payments[0] else "worker_id"
    return [str(each[who]) for each in payments if each["kind"] == "bonus"]


class Race:
    """Two copies of an installation, of which one may pay.

    Args:
        folder: Where everything lies.
        made: The stand-in and its run.
        rng: What draws the way.
        gap_s: How far apart the copies are told to pay.
    """

    def __init__(self, folder: Path, made: World, rng: random.Random, gap_s: float) -> None:
        self._run, self._rng, self._gap_s = made.run, rng, gap_s
        self._url = made.url
        self.counts, self.way = Counter[str](), rng.choice(WAYS)
        self._first, self._second = Copy(folder / "first"), Copy(folder / "second")
        assert self._first.give("approve", self._run, "--yes") == 0
        if rng.random() < 0.5:
            self._restore(folder)
        else:
            shutil.copytree(folder / "first", folder / "second")
            self.counts["folders copied"] += 1

    def _restore(self, folder: Path) -> None:
        assert self._first.give("db", "backup", str(folder / "backup")) == 0
        (folder / "second").mkdir()
        for file in ("secret_key", "parallax.toml"):
            shutil.copy(folder / "first" / file, folder / "second")
        assert self._second.give("db", "restore", str(folder / "backup")) == 0
        self.counts["backups restored"] += 1

    def run(self) -> None:
        """Let both pay, and let the one that has the right in the end pay the rest."""
        self._second.give("reconcile", self._run, "--fix")
        copies = [self._first, self._second]
        self._rng.shuffle(copies)
        first = self._pay(copies[0])
        time.sleep(self._gap_s)
        paying = {copies[0]: first, copies[1]: self._pay(copies[1])}
        self.counts[self.way] += 1
        end = self._first
        if self.way != "stays":
            time.sleep(self._rng.random() / 2)
            if self.way != "hand over while paying":
                os.kill(paying[self._first], signal.SIGKILL)
                ended(paying.pop(self._first))
                self._first.is_later = self._second.is_later = True
            end = self._second
            self._move()
        for pid in paying.values():
            ended(pid)
        self._pay_the_rest(end)

    def _pay(self, copy: Copy) -> int:
        return copy.begin("bonus", self._run, "--yes")

    def _move(self) -> None:
        gone = ("paying-copy", "take-over", "--other-copy-is-gone", "--yes")
        if self.way == "gone":
            # Nobody can take over while its folder is there.
            self.counts["taken over from a living copy"] += self._second.give(*gone) == 0
            # What it ordered last must show, as the command says.
            time.sleep(1.0)
            shutil.rmtree(self._first.folder)
            self._second.is_later = False
            if list_bonuses(self._url):
                # Nor less than an hour after the platform shows what it did last.
                self.counts["taken over from a living copy"] += self._second.give(*gone) == 0
            self._second.is_later = True
            assert self._second.give(*gone) == 0
            return
        self._second.give("paying-copy", "show")
        request = paying_copy.find_request_code(self._second.folder)
        hand_over = ("paying-copy", "hand-over", "--to", request)
        until = time.monotonic() + PATIENCE_S
        while self._first.give(*hand_over) != 0:
            # Something is in doubt: what the message says is done.
            self._first.give("reconcile", self._run, "--fix")
            self._settle(self._first)
            if time.monotonic() > until:
                self.counts["left undone"] += 1
                return
            time.sleep(BETWEEN_S)
        output = (self._first.folder.parent / "output").read_text(encoding="utf-8")
        code = output.rpartition("--code ")[2].split()[0]
        assert self._second.give("paying-copy", "take-over", "--code", code) == 0

    def _pay_the_rest(self, copy: Copy) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            copy.give("reconcile", self._run, "--fix")
            self._settle(copy)
            done = copy.give("bonus", self._run, "--yes") == 0
            if done and copy.give("reconcile", self._run) == 0:
                return
            if time.monotonic() > until:
                self.counts["left undone"] += 1
                return
            time.sleep(BETWEEN_S)

    def _settle(self, copy: Copy) -> None:
        """Decide as a person who looks at the platform's pages whether an order was carried out."""
        time.sleep(2 * BULK_S)
        with closing(sqlite3.connect(copy.folder / "parallax.sqlite3")) as database:
            lines = database.execute("SELECT id, state FROM payment WHERE kind = 'bonus'")
            states = dict(lines.fetchall())
        doubtful = [id_ for id_, state in states.items() if state in ("ordered", "unknown")]
        done = sum(state == "done" for state in states.values())
        if len(doubtful) == 1:
            is_paid = len(list_bonuses(self._url)) > done
            wish = "--paid" if is_paid else "--not-paid"
            settled = copy.give("settle", self._run, str(doubtful[0]), wish) == 0
            self.counts["settled by hand"] += settled


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--longest", type=float, default=10.0, help="gap in seconds")
    parser.add_argument("--kept", type=Path, help="where races are kept, to go on with later")
    options = parser.parse_args()
    totals = campaign_in_batches(options, one_race, range(options.races))
    for name in SHOWN:
        print(f"{name:<34}{totals[name]:>8,}")
    sys.exit(any(totals[name] for name in WRONG))
