"""Inject failures while participants answer in a browser; count stuck participants, lost answers.

Usage: python benchmarks/page_faults.py [--most 200] [--sequences 1000] [--seed 1] [--windows 8]

First, each request of a session fails, one per session: the n-th session of a kind of failure loses
the n-th request after the consent page, until a session has fewer than n requests. Then sequences
of one to four failures follow; the seed determines their kinds, moments and durations.
"""

import argparse
import asyncio
import random
import shutil
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from page_failures.network import FAILURES, Network
from page_failures.person import Person, of_seed
from page_failures.plan import KINDS, PHASES, Fault, drawn
from playwright.async_api import Browser, async_playwright
from sqlalchemy import select
from werkzeug.serving import WSGIRequestHandler, make_server

from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Device, Participant, Response, Run, Trial
from webapp.runs.launch import launch_run

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

SWITCHES = ["--no-sandbox", "--disable-gpu"]
_TRIALS = 8
_PRACTICE = """[[practice]]
good = "the cat sleeps"
bad = "the cat sleep"
feedback = "One cat."
[[practice]]
good = "the dogs bark"
bad = "the dogs barks"
feedback = "Several dogs."
"""


class _Quiet(WSGIRequestHandler):
    def log(self, *args: object) -> None:
        """Write nothing."""


@dataclass(slots=True)
class Outcome:
    """What came of one session.

    Attributes:
        faults: What went wrong.
        finished: Whether its end was reached.
        lost: Answers that the server acknowledged and does not have.
        changed: Acknowledged answers that are stored otherwise than they were given.
        others: Acknowledged answers to trials of which another device's answer was first.
        missing: Trials without an answer.
        repeated: Stored answers to trials that had been on the same screen before.
        unflagged: Those of them that do not say so.
        elsewhere: Stored answers to trials that had been on another device's screen alone.
        unknown_device: Those of them whose session does not tell of a second device.
        people: How many participants the session made.
        errors: What the pages' programs failed with.
    """

    faults: list[Fault] = field(default_factory=list)
    finished: bool = False
    lost: int = 0
    changed: int = 0
    others: int = 0
    missing: int = 0
    repeated: int = 0
    unflagged: int = 0
    elsewhere: int = 0
    unknown_device: int = 0
    people: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def fault(self) -> str:
        """What must not be, in words; empty where all is well."""
        found = {
            "stuck": not self.finished, "answers lost": self.lost, "changed": self.changed,
            "trials missing": self.missing, "repeated, unflagged": self.unflagged,
            "a device unknown": self.unknown_device, "came twice": self.people - 1,
            "errors": len(self.errors),
        }  # fmt: skip
        return ", ".join(f"{name} {int(n)}" for name, n in found.items() if n)


class Place:
    """A server with a study of eight trials, practice, a break and one question."""

    def __init__(self, folder: Path) -> None:
        study = folder / "minimal"
        shutil.copytree(STUDIES_FOLDER / "minimal", study)
        (study / "practice.toml").write_text(_PRACTICE, "utf-8")
        with (study / "study.toml").open("a", encoding="utf-8") as toml:
            toml.write('[trial]\nlockout_ms = 0\nbreak_every = 4\npractice = "practice.toml"\n')
        self._study: Study = load_study(str(study))
        self._app = create_app(folder / "instance")
        self._sessions = self._app.extensions["parallax"].sessions
        self._server = make_server("localhost", 0, self._app, threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def launch(self) -> str:
        """Return the link of a run of its own for one session."""
        with self._sessions() as session:
            run = launch_run(session, self._study, 1, "direct", now=utc_now(), code_version="0")
            session.commit()
        return f"http://localhost:{self._server.port}/run/{run.ref}"

    def outcome(self, link: str, person: Person, *, finished: bool) -> Outcome:
        """Compare what a session stored with what its person saw and was promised."""
        ref = link.rpartition("/")[2]
        with reading(self._sessions) as session:
            who = list(session.scalars(select(Participant).join(Run).where(Run.ref == ref)))
            ids = [one.id for one in who]
            rows = session.execute(
                select(Trial.position, Response)
                .join(Response, Response.trial_id == Trial.id)
                .where(Trial.participant_id.in_(ids))
            ).all()
            devices = len(
                session.scalars(select(Device.id).where(Device.participant_id.in_(ids))).all()
            )
        stored = {response.client_uuid: response for _, response in rows}
        positions = [position for position, _ in rows]
        outcome = Outcome(
            faults=person.done, finished=finished, people=len(who), errors=person.errors,
            missing=_TRIALS - len(set(positions)),
        )  # fmt: skip
        for uuid, sent in person.promises.items():
            response = stored.get(uuid)
            if response is None:
                outcome.others += sent.acknowledged and sent.position in positions
                outcome.lost += sent.acknowledged and sent.position not in positions
                continue
            outcome.changed += response.chosen_side != sent.side
            if sent.shown_here > 1:
                outcome.repeated += 1
                outcome.unflagged += (response.times_shown or 1) < 2
            elif sent.shown > sent.shown_here:
                outcome.elsewhere += 1
                outcome.unknown_device += devices < 2
        return outcome

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._app.extensions["parallax"].engine.dispose()


async def each_request(
    browser: Browser, place: Place, most: int, windows: int
) -> Counter[tuple[str, str, str]]:
    """Let each request fail once in each way; return how often what came of the loss of what."""
    outcomes = Counter[tuple[str, str, str]]()
    for kind in FAILURES:
        for first in count(1, windows):
            numbers = range(first, min(first + windows, first + most - outcomes.total()))
            wave = (_without_request(browser, place, kind, n) for n in numbers)
            found = [one for one in await asyncio.gather(*wave) if one]
            outcomes.update((kind, *each) for each in found)
            if not numbers or len(found) < len(numbers):
                break
    return outcomes


async def _without_request(
    browser: Browser, place: Place, kind: str, n: int
) -> tuple[str, str] | None:
    """Return what the n-th request asked for and what came of its loss; None without one."""
    link = place.launch()
    person = of_seed(browser, link, f"{kind} {n}", [])

    def arm(network: Network) -> None:
        network.fail(kind, FAILURES[kind], after=n - 1)

    finished = await person.take_part(arm)
    hit = person.networks[0].hit
    came = place.outcome(link, person, finished=finished).fault
    return (hit[0][1], came or "all is well") if hit else None


async def sequences(
    browser: Browser, place: Place, seed: int, numbers: range, windows: int, found: list[Outcome]
) -> None:
    """Let sequences of failures happen; add what came of each."""
    room = asyncio.Semaphore(windows)

    async def one(number: int) -> None:
        async with room:
            link, name = place.launch(), f"{seed} sequence {number}"
            person = of_seed(browser, link, name, drawn(random.Random(name)))
            finished = await person.take_part()
            outcome = place.outcome(link, person, finished=finished)
            found.append(outcome)
            if outcome.fault:
                why = (person.stuck_at, *outcome.errors, *outcome.faults)
                print(f"sequence {number}: {outcome.fault}:", *why)

    await asyncio.gather(*map(one, numbers))


def print_each(outcomes: Counter[tuple[str, str, str]]) -> None:
    """Print what came of the loss of each request."""
    for (kind, lost, came), n in sorted(outcomes.items()):
        print(f"{kind:<20}{lost:<22}{came:<34}{n:>4}")
    well = sum(n for (*_, came), n in outcomes.items() if came == "all is well")
    print(f"{outcomes.total()} sessions of one failure, {outcomes.total() - well} not well")


def print_sequences(outcomes: list[Outcome]) -> None:
    """Print what happened in the sequences, by kind and phase, and what came of them."""
    happened = Counter((one.kind, one.phase) for each in outcomes for one in each.faults)
    print(f"\n{'failures':<20}" + "".join(f"{phase:>14}" for phase in PHASES))
    for kind in KINDS:
        print(f"{kind:<20}" + "".join(f"{happened[kind, phase]:>14}" for phase in PHASES))
    total = Counter(len(one.faults) for one in outcomes)
    lengths = ", ".join(f"{n} with {k}" for k, n in sorted(total.items()))
    print(f"{len(outcomes)} sequences, {happened.total()} failures ({lengths})")
    for words, n in (
        ("people stuck", sum(not one.finished for one in outcomes)),
        ("acknowledged answers lost", sum(one.lost for one in outcomes)),
        ("answers stored otherwise than given", sum(one.changed for one in outcomes)),
        ("trials without an answer", sum(one.missing for one in outcomes)),
        ("trials shown again on the same device", sum(one.repeated for one in outcomes)),
        ("  of these unflagged", sum(one.unflagged for one in outcomes)),
        ("trials shown before on another device", sum(one.elsewhere for one in outcomes)),
        ("  of these in sessions without an event", sum(one.unknown_device for one in outcomes)),
        ("answers after another device's to the same trial", sum(one.others for one in outcomes)),
        ("people who became two participants", sum(one.people > 1 for one in outcomes)),
        ("errors of the page's program", sum(len(one.errors) for one in outcomes)),
    ):
        print(f"{words:<52}{n:>6}")


async def _run(options: argparse.Namespace, place: Place) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        if options.most:
            print_each(await each_request(browser, place, options.most, options.windows))
        numbers = range(options.first, options.first + options.sequences)
        found: list[Outcome] = []
        try:
            await sequences(browser, place, options.seed, numbers, options.windows, found)
        finally:
            # Whoever interrupts it sees what has come of those that are over.
            print_sequences(found)
            await browser.close()


def main() -> None:
    """Run the sessions and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    parser.add_argument("--most", type=int, default=200, help="sessions with one failed request")
    parser.add_argument("--sequences", type=int, default=1000, help="sequences of failures")
    parser.add_argument("--first", type=int, default=1, help="the first one's number, to repeat it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--windows", type=int, default=8, help="sessions at a time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        try:
            asyncio.run(_run(options, place))
        finally:
            place.close()


if __name__ == "__main__":
    main()
