"""One machine with any number of forged browsers, and a class of 200: both come to one run.

Usage: python benchmarks/crowding.py [--places 240] [--browsers 600] [--people 200] [--ways WAY ...]

The clock is passed in: a minute goes by while the machine's browsers arrive from one address,
evenly, and do nothing, one trial, all trials or everything. A class comes behind the same address
within the same minute, or when it is over, or then from an address of its own; it answers for
twelve minutes as people do, and finishes. Printed is how many places the machine holds after the
minute, how many of the class were in when they came, how many finished, and how many places each
side holds in the end: a job that gives places runs each minute as in a server.
"""

import argparse
import json
import logging
import re
import tempfile
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
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
from webapp.jobs.leases import give_places_to_workers
from webapp.runs.launch import launch
from webapp.services import EXTENSION, Services

MACHINE, SCHOOL = "203.0.113.5", "198.51.100.7"
MINUTE_S = 60.0
CLASS_TAKES_MIN = 12


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
        self._home = ""

    @property
    def token(self) -> str:
        """What names their session."""
        return self._home.strip("/").rpartition("/")[2]

    def arrive(self) -> bool:
        """Agree, and return whether that led in."""
        said = self._web.post(f"/run/{self._run}", data={"decision": "accept"}, headers=self._from)
        self._home = said.location or ""
        return said.status_code == 303

    def answer(self, most: int | None = None) -> None:
        """Answer so many trials, or all."""
        page = self._web.get(self._home, headers=self._from).text
        found = re.search(r'id="session">(.*?)</script>', page, re.DOTALL)
        trials = json.loads(found[1])["trials"] if found else []
        for trial in trials[:most]:
            body = {
                "uuid": str(uuid4()),
                "position": trial["position"],
                "side": "first",
                "rt_ms": 700.0,
                "input_method": "key",
                "client_time": "2026-03-01T09:00:01.500Z",
            }
            self._web.post(f"{self._home}answers", json=body, headers=self._from)

    def finish(self) -> None:
        """Answer everything."""
        self.answer()
        form = {"native_language": "English"}
        self._web.post(f"{self._home}questionnaire", data=form, headers=self._from)


WAYS: dict[str, Callable[[Browser], None]] = {
    "nothing": lambda browser: None,
    "one trial": lambda browser: browser.answer(1),
    "every trial": Browser.answer,
    "everything": Browser.finish,
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

    def come(self, way: Callable[[Browser], None] = lambda _: None) -> None:
        """Let another browser arrive, and do what it does if it is let in."""
        browser = self._lab.browser(self._address)
        if browser.arrive():
            self.inside.append(browser)
            way(browser)

    @property
    def tokens(self) -> list[str]:
        """What names their sessions."""
        return [browser.token for browser in self.inside]


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
    for number in range(options.browsers):
        machine.come(WAYS[way])
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
        for browser in people.inside if minute == 0 else ():
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
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS, help="it answers")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{options.places} places; {options.browsers} browsers of one machine in a minute;"
              f" a class of {options.people}")  # fmt: skip
        print(f"{'the machine':<14}{'the class comes':<18}{'holds then':>10}{'class in':>10}"
              f"{'finished':>10}{'holds':>8}{'class holds':>13}")  # fmt: skip
        for way in options.ways:
            for when in WHEN:
                found = meet(folder / f"{way} {when}".replace(" ", "_"), options, way, when)
                print(f"{way:<14}{when:<18}{found[0]:>10}{found[1]:>10}{found[2]:>10}"
                      f"{found[3]:>8}{found[4]:>13}")  # fmt: skip


if __name__ == "__main__":
    main()
