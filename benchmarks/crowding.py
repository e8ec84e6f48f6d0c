"""One machine with any number of forged browsers, and a class of 200, each behind one address.

Usage: python benchmarks/crowding.py [--places 240] [--browsers 600] [--people 200]

The clock is passed in: a minute goes by while the machine's browsers arrive, evenly. Then people
come from elsewhere, each from an address of their own, as many as there are places. Printed is how
many of them got in, and how many places the machine has left. The class comes within one second of
that clock to a run of its own, and finishes.
"""

import argparse
import json
import logging
import re
import tempfile
from collections.abc import Callable
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
from webapp.database.models import ArrivalAddress, Place
from webapp.runs.launch import launch
from webapp.services import EXTENSION, Services

MACHINE, SCHOOL = "203.0.113.5", "198.51.100.7"
MINUTE_S = 60.0


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

    def __init__(self, folder: Path, places: int) -> None:
        folder.mkdir()
        self.clock = Clock()
        self.app = create_app(folder, now=self.clock)
        self.services: Services = self.app.extensions[EXTENSION]
        with self.services.sessions.begin() as session:
            study = study_of(places)
            run = launch(session, study, 1, "direct", now=self.clock(), code_version="0")
            session.flush()
            self.run_ref = run.ref

    def browser(self, address: str) -> Browser:
        """Return a new browser at an address."""
        return Browser(self.app, self.run_ref, address)

    def held(self, address: str) -> int:
        """Return how many places are held from an address."""
        digest = self.services.tokens.digest(f"address {address}")
        counted = (
            select(func.count(Place.id))
            .join(ArrivalAddress, ArrivalAddress.participant_id == Place.participant_id)
            .where(ArrivalAddress.digest == digest)
        )
        with reading(self.services.sessions) as session:
            return session.execute(counted).scalar_one()


def attack(folder: Path, places: int, browsers: int, way: str) -> tuple[int, int, int]:
    """Return the places that a machine took in a minute, how many others got in, and its rest."""
    lab = Installation(folder, places)
    for _ in range(browsers):
        browser = lab.browser(MACHINE)
        if browser.arrive():
            WAYS[way](browser)
        lab.clock.go_on(MINUTE_S / browsers)
    taken = lab.held(MACHINE)
    came = sum(lab.browser(f"2001:db8:{n:x}::1").arrive() for n in range(places))
    return taken, came, lab.held(MACHINE)


def school(folder: Path, places: int, people: int) -> tuple[int, int]:
    """Return how many of a class behind one address got in at once, and still had their place."""
    lab = Installation(folder, places)
    browsers = [lab.browser(SCHOOL) for _ in range(people)]
    within = sum(browser.arrive() for browser in browsers)
    lab.clock.go_on(5 * MINUTE_S)
    for browser in browsers:
        browser.finish()
    return within, lab.held(SCHOOL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--browsers", type=int, default=600)
    parser.add_argument("--people", type=int, default=200, help="in the class")
    options = parser.parse_args()
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{options.places} places; {options.browsers} browsers of one machine in a minute")
        print(f"{'it answers':<14}{'takes':>7}{'others in':>12}{'keeps':>8}")
        for way in WAYS:
            place = Path(folder) / way.replace(" ", "_")
            taken, came, kept = attack(place, options.places, options.browsers, way)
            print(f"{way:<14}{taken:>7}{came:>12}{kept:>8}")
        people = options.people
        places = max(options.places, people)
        within, finished = school(Path(folder) / "school", places, people)
        print(f"a class of {people} behind one address: {within} in at once, {finished} finished")


if __name__ == "__main__":
    main()
