"""Restore older databases of a run on a panel, and count the completions reported to the panel.

Usage: python benchmarks/panel_restored.py [--runs 300] [--seed 1] [--processes 2] [--kept FILE]

The server reports each completion to a panel by a call that must not be repeated. Calls are lost
before or after they are carried out, or refused; the process is killed before and after calls and
commits; at any step the database is restored by ``parallax db restore``, or as a copied file.
Participants who are missing in the older database may return by the same link. A simulated person
then follows docs/panels.md: looks at the panel's records, confirms by hand the completions listed
there, and sends the others. Two cases that the page calls undetectable are not included: the file
``told`` restored together with the database, and participants who return only after the decision.
The exit status is 1 if a completion was reported twice, or not at all.
"""

import argparse
import logging
import random
import tempfile
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

from fault_injection.copies import State, keep, put_back
from fault_injection.environment import Clock, Environment, is_finished, last_page, small_study
from fault_injection.operator import Death, ProcessDied
from faults import RUNS_PER_ENVIRONMENT, ended, report
from sqlalchemy import event, select

from experiment.studies.load import load_study
from webapp import create_app
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport, Run
from webapp.errors import WebappError
from webapp.gate import panel_call_counter
from webapp.jobs.platforms import send_reports
from webapp.recruiters.panel import recruiter as panel
from webapp.recruiters.platform import PlatformError, PlatformUnreachable
from webapp.recruitment.decided_reports import confirm_by_hand, send_again
from webapp.recruitment.reports import ReportState, reports_of
from webapp.runs.launch import launch
from webapp.services import EXTENSION, Services

PLACES_PER_LIST, ROUNDS, STEPS, MOST_ROUNDS = 8, 2, 12, 60
WAYS = ("restored", "copied")
WRONG = ("told more than once", "finished and not told", "runs without end")
SHOWN = (
    *("runs", "people who finished", "calls made", "calls that failed", "process deaths", *WAYS),
    *("came again", "held or in doubt", "confirmed by hand", "told exactly once"),
    *("told, and lost with a copy", *WRONG),
)
_TABLE = """
[panel]
preset = "sona"
values = { site = "http://127.0.0.1:9", experiment_id = "123" }

[panel.endings.completed.report]
repeatable = false
"""


class Book:
    """What a panel was told, and how its calls end.

    Attributes:
        told: Whom it was told of, as often as it was.
    """

    def __init__(self, rng: random.Random, death: Death, faults: float) -> None:
        self.told, self.calls, self.failed = Counter[str](), 0, 0
        self._rng, self._death, self._faults = rng, death, faults

    def call(self, _report: object, _signatures: object, known: dict[str, str], *_: object) -> str:
        """Be told of an ending, or not."""
        self.calls += 1
        self._death.may_come()
        lost = self._rng.random() < self._faults and self._rng.choice(
            ("before", "after", "refused")
        )
        self.failed += bool(lost)
        if lost == "refused":
            raise PlatformError("503 not now")
        if lost != "before":
            self.told[known["survey_code"]] += 1
        self._death.may_come()
        if lost:
            raise PlatformUnreachable("no answer")
        return "200 done"


class Installation:
    """A run on a panel, the people who come, and whoever runs it."""

    def __init__(
        self, environment: Environment, number: int, rng: random.Random, options: argparse.Namespace
    ) -> None:
        self.environment, self.rng = environment, rng
        self.services: Services = environment.services
        self.death = Death(rng, options.deaths)
        self.book = Book(rng, self.death, options.faults)
        self.states, self.counts, self.finished = list[State](), Counter[str](), set[str]()
        self.gone = set[str]()  # lost when a person decided: they come no more
        folder = small_study(environment.folder, PLACES_PER_LIST)
        toml = folder / "study.toml"
        text = toml.read_text(encoding="utf-8")
        toml.write_text(text if _TABLE in text else text + _TABLE, encoding="utf-8")
        with self.services.sessions.begin() as session:
            study = load_study(str(folder))
            made = launch(
                session, study, number, "panel", now=environment.clock(), code_version="0"
            )
            session.flush()
            self.run_id, self.ref = made.id, made.ref
            self.study = study

    def come(self, code: str) -> None:
        """Let somebody finish; who finished before, by this database too, only looks."""
        pages = self.environment.app.test_client()
        link = f"/run/{self.ref}?survey_code={code}"
        home = pages.post(link, data={"decision": "accept"}).location
        if home and is_finished(last_page(self.environment.app, home)):
            self.finished.add(code)

    def send(self) -> None:
        """Let the job send what is due; its process may die."""
        self.environment.clock.go_on(hours=self.rng.choice((0.02, 1, 7)))
        self.death.on = True
        with suppress(ProcessDied, WebappError):
            send_reports(self.services)
        self.death.on = False

    def go_back(self) -> None:
        """Put an older database in place, and let some of those come again who are not in it."""
        if not self.states:
            return
        way, instance = self.rng.choice(WAYS), self.environment.folder / "instance"
        self.counts[way] += 1
        if way == "restored":
            panel_call_counter.restoring(instance)
        put_back(self.environment, self.rng.choice(self.states), way)
        if way == "restored":
            with self.services.sessions.begin() as session:
                panel_call_counter.restored(session.connection())
        for code in sorted(self.finished - self.here() - self.gone):
            if self.rng.random() < 0.5:
                self.send()  # The job runs before anybody comes.
                self.come(code)
                self.counts["came again"] += 1

    def here(self) -> set[str]:
        """Return who is in this database and finished."""
        with reading(self.services.sessions) as session:
            run = session.get_one(Run, self.run_id)
            return {str(person.platform_id) for _, person in reports_of(session, run)}

    def decide(self) -> None:
        """Do what a person does who looks at the panel's own book, until nothing is open."""
        recruiter = self.services.recruiter("panel")
        self.gone |= self.finished - self.here()
        for _ in range(MOST_ROUNDS):
            self.send()
            with self.services.sessions.begin() as session:
                run, now = session.get_one(Run, self.run_id), self.environment.clock()
                # Nothing is in another process's hand any more.
                rows = [(each, p) for each, p in reports_of(session, run)
                        if each.state not in (ReportState.DONE, ReportState.WAITING)]  # fmt: skip
                self.counts["held or in doubt"] += len(rows)
                for _report, person in rows:
                    if self.book.told[str(person.platform_id)]:
                        self.counts["confirmed by hand"] += 1
                        confirm_by_hand(session, run, person.ref, now)
                send_again(session, run, recruiter, self.study, now, also_unsafe=True)
            if not self.open():
                return
        self.counts["runs without end"] += 1

    def open(self) -> int:
        """Return how many reports are not done."""
        with reading(self.services.sessions) as session:
            of_run = select(OutgoingReport.id).where(
                OutgoingReport.run_id == self.run_id, OutgoingReport.state != ReportState.DONE
            )
            return len(session.scalars(of_run).all())


def one_run(
    environment: Environment, number: int, rng: random.Random, options: argparse.Namespace
) -> Counter[str]:
    """Return the counts of one run from its launch to its clean end."""
    lab = Installation(environment, number, rng, options)
    panel.call = lab.book.call  # type: ignore[assignment]
    for hook in ("before_commit", "after_commit"):
        event.listen(lab.services.sessions, hook, lab.death.may_come)
    codes = iter(range(10 * number, 10**9))
    for _ in range(ROUNDS):
        lab.states.clear()  # From before the last decision, nobody puts anything back.
        for _ in range(STEPS):
            step = rng.choice(("come", "send", "send", "keep", "back"))
            if step == "come" and len(lab.finished) < PLACES_PER_LIST:
                lab.come(str(next(codes)))
            elif step == "send":
                lab.send()
            elif step == "keep":
                lab.states.append(keep(environment))
            elif step == "back":
                lab.go_back()
        lab.decide()
    for hook in ("before_commit", "after_commit"):
        event.remove(lab.services.sessions, hook, lab.death.may_come)
    here, counts = lab.here(), lab.counts
    counts.update(
        {
            "runs": 1,
            "people who finished": len(lab.finished),
            "calls made": lab.book.calls,
            "calls that failed": lab.book.failed,
            "process deaths": lab.death.deaths,
            "told exactly once": sum(lab.book.told[code] == 1 for code in here),
            "told, and lost with a copy": len(set(lab.book.told) - here),
            "told more than once": sum(n > 1 for n in lab.book.told.values()),
            "finished and not told": sum(not lab.book.told[code] for code in here),
        }
    )
    return counts


def environments(options: argparse.Namespace, first: int) -> Counter[str]:
    """Return the counts of the runs from that number on that share an installation."""
    logging.disable()
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name), Clock()
        (folder / "instance").mkdir()
        settings = '[panel.secrets]\ncredit_token = "play"\n'
        (folder / "instance" / "parallax.toml").write_text(settings, encoding="utf-8")
        app = create_app(folder / "instance", now=clock)
        environment = Environment(folder, "", app, clock, None)  # type: ignore[arg-type]
        for number in range(first, min(first + RUNS_PER_ENVIRONMENT, options.runs)):
            rng = random.Random(f"{options.seed} {number}")
            counts.update(ended(number, partial(one_run, environment, number, rng, options)))
        app.extensions[EXTENSION].engine.dispose()
    return counts


if __name__ == "__main__":
    report(__doc__, environments, SHOWN, WRONG, runs=300)
