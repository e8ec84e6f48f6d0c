"""Invented links to a run on Prolific: how many get a place, what each costs, what people wait.

Usage: python benchmarks/forged_links.py [--forged 1000] [--people 20]

The stand-in counts its calls and answers after 100 ms where it is told to. Every link is pressed
twice: a second press of the same link asks nothing more. The people's times are from pressing
*I agree* to the answer: by a signed link, by one that is asked about, with and without the 100 ms,
and with a stand-in that does not answer at all. Who comes while it is away is let in and marked,
and nobody is paid who is not listed there.
"""

import argparse
import logging
import statistics
import tempfile
import time
from pathlib import Path

from fault_injection.environment import small_study
from fault_injection.prolific import Participant, ProlificEnvironment, open_prolific_environment
from sqlalchemy import func, select

from experiment.studies.load import load_study
from webapp.database.engine import reading
from webapp.database.models import LinkVisit, Place, Run
from webapp.recruiters.prolific.calls import Calls
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruitment.publish import draft, publish
from webapp.runs.launch import launch

PLACES_PER_LIST = 60
# Where the platform sends people, and where no signature of its counts.
HERE, ELSEWHERE = "http://127.0.0.1:8000", "http://localhost"
SLOW = [{"kind": "slow", "operation": "get-submission", "seconds": 0.1, "probability": 1.0}]
AWAY = [{"kind": "server_error", "operation": "get-submission", "probability": 1.0}]


class Counted:
    """Counts the calls of every client."""

    def __init__(self) -> None:
        self.n, answered = 0, Calls._answered

        def counting(calls: Calls, *arguments: object) -> object:
            self.n += 1
            return answered(calls, *arguments)  # type: ignore[arg-type]

        Calls._answered = counting  # type: ignore[assignment, method-assign]


def published(environment: ProlificEnvironment) -> tuple[Run, str]:
    """Return a run with many places, and its study on the stand-in."""
    services = environment.services
    with services.sessions.begin() as session:
        study = load_study(str(small_study(environment.folder, PLACES_PER_LIST)))
        run = launch(session, study, 1, "prolific", now=environment.clock(), code_version="0")
    platform = open_prolific(ProlificSettings(endpoint=environment.url), live=False)
    assert isinstance(platform, ProlificClient)
    link = f"{HERE}/run/{run.ref}"
    plan = draft(services.sessions, platform, run.ref, link, environment.clock())
    [(offer, _)] = publish(services.sessions, platform, plan, environment.clock)
    return run, offer


def press(environment: ProlificEnvironment, run: Run, person: str, study: str, visit: str) -> int:
    """Press the button under a link that anybody wrote, and return the status."""
    link = f"/run/{run.ref}?PROLIFIC_PID={person}&STUDY_ID={study}&SESSION_ID={visit}"
    return environment.app.test_client().post(link, data={"decision": "accept"}).status_code


def waits_ms(
    environment: ProlificEnvironment, run: Run, study: str, people: int, at: str = ELSEWHERE
) -> float:
    """Return the median time from pressing the button to being let in."""
    times = []
    for _ in range(people):
        with Participant(environment, run.ref) as person:
            assert person.take(study)
            began = time.perf_counter()
            assert person.consent(at)
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def count(environment: ProlificEnvironment, column: object) -> int:
    """Return how many rows have a value."""
    with reading(environment.services.sessions) as session:
        return session.execute(select(func.count(column))).scalar_one()  # type: ignore[arg-type]


def shown(name: str, value: object) -> None:
    """Print a line."""
    print(f"{name:<46}{value:>10}")


def measured(environment: ProlificEnvironment, forged: int, people: int) -> None:
    """Print all of it."""
    run, study = published(environment)
    calls = Counted()
    said = [
        press(environment, run, f"{n:024x}", study, f"{n + forged:024x}")
        for _ in range(2)
        for n in range(forged)
    ]
    shown("forged links, each pressed twice", f"{forged:,}")
    shown("refused", f"{sum(status == 400 for status in said):,}")
    shown("places taken", count(environment, Place.participant_id))
    shown("calls to the platform", f"{calls.n:,}")
    asked = calls.n
    signed = waits_ms(environment, run, study, people, HERE)
    shown("calls for people with a signed link", f"{calls.n - asked:,}")
    usual = waits_ms(environment, run, study, people)
    environment.control("faults", {"faults": SLOW})
    slow = waits_ms(environment, run, study, people)
    environment.control("faults", {"faults": AWAY})
    away = waits_ms(environment, run, study, people)
    shown("people let in by a signed link, ms (median)", f"{signed:.0f}")
    shown("by a link that is asked about", f"{usual:.0f}")
    shown("the same, the platform takes 100 ms", f"{slow:.0f}")
    shown("the same, the platform has a fault", f"{away:.0f}")
    with reading(environment.services.sessions) as session:
        visits = session.scalars(select(LinkVisit).where(LinkVisit.problem == "")).all()
    marked = sum("unconfirmed" in visit.parameters for visit in visits)
    shown("of these let in and marked", marked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--forged", type=int, default=1000)
    parser.add_argument("--people", type=int, default=20)
    options = parser.parse_args()
    logging.disable()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_prolific_environment(Path(folder)) as environment,
    ):
        measured(environment, options.forged, options.people)


if __name__ == "__main__":
    main()
