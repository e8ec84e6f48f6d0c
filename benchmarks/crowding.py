"""Simulate one machine with many forged browsers and a class of 200 that arrive at the same run.

Usage: python benchmarks/crowding.py [--places 240] [--browsers 600] [--people 200] [--ways WAY ...]

The clock is simulated. In one minute the machine's browsers arrive from one address, evenly spaced,
and answer nothing, one trial or all trials, or finish; or they answer one trial per minute, as the
class does. Or the machine uses a trick, and each browser answers one trial: one browser arrived 50
minutes earlier; all browsers arrived earlier, were silent until their leases expired, and return in
that minute; each browser withdraws and arrives again; each invents addresses in front of its own;
each has another network of one customer (IPv6). The class arrives from the same address in the same
minute, or after it, or after it from its own address; it answers at a human pace for twelve
minutes, and finishes. The benchmark prints how many places (participant slots) the machine holds
after the minute, how many of the class were admitted on arrival, how many finished, and how many
places each side holds at the end. The job that releases places runs every minute, as in a server.
"""

import argparse
import json
import logging
import re
import tempfile
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

from flask import Flask
from sqlalchemy import func, select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study, load_study
from experiment.studies.study import Study
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import Participant, Place
from webapp.jobs.housekeeping import delete_addresses, give_places_to_workers, release_leases
from webapp.runs.launch import launch
from webapp.services import EXTENSION, Services

MACHINE, SCHOOL = "203.0.113.5", "198.51.100.7"
MINUTE_S = 60.0
LEASE_S = 61 * MINUTE_S
CLASS_TAKES_MIN, TRIALS = 12, 8


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def go_on(self, seconds: float) -> None:
        """Let seconds pass."""
        self.now += timedelta(seconds=seconds)


class Browser:
    """Somebody's browser, with nothing in it but the address it comes from."""

    def __init__(self, app: Flask, run_ref: str, address: str) -> None:
        self._web, self._run = app.test_client(), run_ref
        self._from = {"X-Forwarded-For": address}
        self._home, self._left = "", list[dict[str, int]]()

    @property
    def token(self) -> str:
        """What names their session."""
        return self._home.strip("/").rpartition("/")[2]

    def arrive(self) -> bool:
        """Agree, and return whether that led in."""
        said = self._web.post(f"/run/{self._run}", data={"decision": "accept"}, headers=self._from)
        self._home = said.location or ""
        return said.status_code == 303

    def open(self) -> None:
        """Load the page of the trials that are left."""
        page = self._web.get(self._home, headers=self._from).text
        found = re.search(r'id="session">(.*?)</script>', page, re.DOTALL)
        self._left = json.loads(found[1])["trials"] if found else []

    def answer(self, most: int | None = None) -> None:
        """Answer so many of the trials that are left, or all."""
        if not self._left:
            self.open()
        now, self._left = self._left[:most], self._left[len(self._left[:most]) :]
        for trial in now:
            body = {
                "uuid": str(uuid4()),
                "position": trial["position"],
                "side": "first",
                "rt_ms": 700.0,
                "input_method": "key",
                "client_time": "2026-03-01T09:00:01.500Z",
            }
            self._web.post(f"{self._home}answers", json=body, headers=self._from)

    def withdraw(self) -> None:
        """Take the consent back, and with it the place."""
        self._web.post(f"{self._home}withdraw", data={"wish": "erase"}, headers=self._from)

    def finish(self) -> None:
        """Answer everything."""
        self.answer()
        form = {"native_language": "English"}
        self._web.post(f"{self._home}questionnaire", data=form, headers=self._from)


def one_trial(browser: Browser) -> None:
    """Answer the first trial that is open."""
    browser.answer(1)


WAYS: dict[str, Callable[[Browser], None]] = {
    "nothing": lambda browser: None,
    "one trial": one_trial,
    "every trial": Browser.answer,
    "everything": Browser.finish,
    "as people do": one_trial,
}


def study_of(places: int) -> Study:
    """Return a study with two lists and so many places."""
    study = load_study("minimal")
    files = study_files(study)
    lines = files["study.toml"].decode().splitlines()
    toml = "\n".join(
        f"participants_per_list = {places // 2}"
        if line.startswith("participants_per_list")
        else line
        for line in lines
    )
    return frozen_study({**files, "study.toml": toml.encode()}, study.folder)


class Installation:
    """A server with one run, whose clock is ours."""

    def __init__(self, folder: Path, places: int, clock: Callable[[], datetime]) -> None:
        folder.mkdir()
        self.app = create_app(folder, now=clock)
        self.services: Services = self.app.extensions[EXTENSION]
        with self.services.sessions.begin() as session:
            study = study_of(places)
            run = launch(session, study, 1, "direct", now=clock(), code_version="0")
            session.flush()
            self.run_ref = run.ref

    def browser(self, address: str) -> Browser:
        """Return a new browser at an address."""
        return Browser(self.app, self.run_ref, address)

    def held(self, tokens: Collection[str]) -> int:
        """Return how many places these sessions hold."""
        refs = [self.services.tokens.read(token) for token in tokens]
        counted = (
            select(func.count(Place.id))
            .join(Participant, Participant.id == Place.participant_id)
            .where(Participant.ref.in_(refs))
        )
        with reading(self.services.sessions) as session:
            return session.execute(counted).scalar_one()

    def finished(self, tokens: Collection[str]) -> int:
        """Return how many of these sessions are complete."""
        refs = [self.services.tokens.read(token) for token in tokens]
        done = Participant.ref.in_(refs), Participant.finished_at.is_not(None)
        with reading(self.services.sessions) as session:
            return session.execute(select(func.count(Participant.id)).where(*done)).scalar_one()


class Crowd:
    """Browsers at one address, of which those are kept that got in."""

    def __init__(self, lab: Installation, address: str) -> None:
        self._lab, self._address, self.inside = lab, address, list[Browser]()

    def come(
        self, way: Callable[[Browser], None] = lambda _: None, address: str | None = None
    ) -> None:
        """Let another browser arrive, and do what it does if it is let in."""
        browser = self._lab.browser(address or self._address)
        if browser.arrive():
            self.inside.append(browser)
            way(browser)

    @property
    def tokens(self) -> list[str]:
        """What names their sessions."""
        return [browser.token for browser in self.inside]


# What a machine prepares before the minute, and what it does at each of its steps within it.
Step = Callable[[int], None]
Trick = Callable[[Installation, Crowd, Clock, int], Step]


def _came_early(_lab: Installation, machine: Crowd, clock: Clock, _browsers: int) -> Step:
    machine.come(one_trial)
    clock.go_on(50 * MINUTE_S)
    return lambda _: machine.come(one_trial)


def _fell_silent(lab: Installation, machine: Crowd, clock: Clock, browsers: int) -> Step:
    for _ in range(browsers):
        machine.come(one_trial)
    clock.go_on(LEASE_S)
    release_leases(lab.services)
    delete_addresses(lab.services)

    def step(number: int) -> None:
        machine.inside[number].open()
        machine.inside[number].answer(1)

    return step


def _comes_anew(_lab: Installation, machine: Crowd, _clock: Clock, _browsers: int) -> Step:
    def step(_: int) -> None:
        machine.come(one_trial)
        machine.inside[-1].withdraw()
        machine.come(one_trial)

    return step


def _invents(_lab: Installation, machine: Crowd, _clock: Clock, _browsers: int) -> Step:
    return lambda n: machine.come(one_trial, f"192.0.2.{n % 250}, {MACHINE}")


def _networks(_lab: Installation, machine: Crowd, _clock: Clock, _browsers: int) -> Step:
    return lambda n: machine.come(one_trial, f"2001:db8:1:{n:x}::1")


TRICKS: dict[str, Trick] = {
    "came early": _came_early,
    "fell silent": _fell_silent,
    "comes anew": _comes_anew,
    "invents": _invents,
    "networks": _networks,
}

WHEN = {"the same minute": MACHINE, "a minute later": MACHINE, "elsewhere": SCHOOL}


def meet(folder: Path, options: argparse.Namespace, way: str, when: str) -> list[int]:
    """Let a machine and a class come to one run.

    Returns:
        The machine's places after a minute, the people of the class who were in when they came and
        who finished, and the places of the machine and of the class in the end.
    """
    clock = Clock()
    lab = Installation(folder, options.places, clock)
    machine, people = Crowd(lab, MACHINE), Crowd(lab, WHEN[when])
    at_once, came = when == "the same minute", 0
    if (trick := TRICKS.get(way)) is not None:
        step = trick(lab, machine, clock, options.browsers)
    else:
        step = partial(lambda way, _: machine.come(way), WAYS[way])
    for number in range(options.browsers):
        step(number)
        so_far = options.people * (number + 1) // options.browsers if at_once else 0
        for _ in range(so_far - came):
            people.come()
        came = so_far
        clock.go_on(MINUTE_S / options.browsers)
    give_places_to_workers(lab.services)
    held = lab.held(machine.tokens)
    for _ in range(0 if at_once else options.people):
        people.come()
    for minute in range(CLASS_TAKES_MIN):
        clock.go_on(MINUTE_S)
        at_work = [*people.inside, *(machine.inside if way == "as people do" else ())]
        for browser in at_work if minute < TRIALS - 1 else ():
            browser.answer(1)
        give_places_to_workers(lab.services)
    for browser in people.inside:
        browser.finish()
    clock.go_on(MINUTE_S)
    give_places_to_workers(lab.services)
    return [
        held,
        len(people.inside),
        lab.finished(people.tokens),
        lab.held(machine.tokens),
        lab.held(people.tokens),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--browsers", type=int, default=600)
    parser.add_argument("--people", type=int, default=200, help="in the class")
    ways = [*WAYS, *TRICKS]
    parser.add_argument("--ways", nargs="+", default=ways, choices=ways, help="what it does")
    parser.add_argument("--when", nargs="+", default=list(WHEN), choices=WHEN, help="a class comes")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{options.places} places; {options.browsers} browsers of one machine in a minute;"
              f" a class of {options.people}")  # fmt: skip
        print(f"{'the machine':<14}{'the class comes':<18}{'holds then':>10}{'class in':>10}"
              f"{'finished':>10}{'holds':>8}{'class holds':>13}")  # fmt: skip
        for way in options.ways:
            for when in options.when:
                found = meet(folder / f"{way} {when}".replace(" ", "_"), options, way, when)
                print(f"{way:<14}{when:<18}{found[0]:>10}{found[1]:>10}{found[2]:>10}"
                      f"{found[3]:>8}{found[4]:>13}")  # fmt: skip


if __name__ == "__main__":
    main()
