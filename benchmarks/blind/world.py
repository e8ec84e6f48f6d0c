"""An installation with a run that people took, and the exchange of what they answered."""

import logging
import re
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.serving import make_server

from benchmarks.blind.studies import study_of_kind
from experiment.records import Kind
from webapp import create_app
from webapp.database.engine import Sessions, reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial
from webapp.long_jobs.records import MADE, Job, Jobs, JobState, Step
from webapp.projects.projects import add_project
from webapp.runs.exclude import exclude
from webapp.runs.launch import launch
from webapp.runs.runs import study_as_launched
from webapp.runs.unblind import unblind
from webapp.simulation.crowd import simulate
from webapp.simulation.plan import plan
from webapp.users.shared_links import link_of

# When and where a line was written: numbers that may be anybody's time by chance.
_OF_THE_LOG = frozenset(
    {"created", "msecs", "relativeCreated", "thread", "process", "lineno", "taskName"}
)
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
PROJECT = "lab"
_REPORT = "0123456789abcdef"


class _Lines(logging.Handler):
    """Keeps every line of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = {name: said for name, said in record.__dict__.items() if name not in _OF_THE_LOG}
        self.text.append(f"{record.getMessage()} {told}")


class World:
    """An installation whose only run is blind, and was taken by people.

    Args:
        folder: Where it lies.
        kind: What its trials ask for.
        people: How many took part.
    """

    def __init__(self, folder: Path, kind: str, people: int) -> None:
        self.instance, self.lines = folder / "instance", _Lines()
        logging.getLogger().addHandler(self.lines)
        self.app = create_app(self.instance, now=lambda: NOW)
        self.sessions: Sessions = self.app.extensions["parallax"].sessions
        study = study_of_kind(folder, kind)
        with self.sessions.begin() as session:
            add_project(session, PROJECT, by="a test", now=NOW)
            run = launch(session, study, 7, "simulator", now=NOW, code_version="0", project=PROJECT)
            self.ref = run.ref
        self._take_part(people)
        with self.sessions.begin() as session:
            # From now on it is a run of people, and so it is blind.
            run = session.scalars(select(Run)).one()
            run.simulated, run.recruiter = False, "direct"
            if kind == "traces":
                _trace(session)
            self.people = list(session.scalars(select(Participant.ref)))
            exclude(session, run, NOW)
        self.app.extensions["parallax"]._studies.clear()

    def _take_part(self, people: int) -> None:
        with reading(self.sessions) as session:
            run = session.scalars(select(Run)).one()
            ready = plan(session, run, study_as_launched(session, run))
        server = make_server("127.0.0.1", 0, self.app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            problems = [each.problem for each in simulate(ready, url, people) if each.problem]
        finally:
            server.shutdown()
            thread.join()
        assert not problems, problems

    def unblind(self) -> None:
        """Unblind the run."""
        with self.sessions.begin() as session:
            run = session.scalars(select(Run)).one()
            unblind(session, run, by="a test", reason="everybody has finished", now=NOW)

    def report_of_before(self) -> tuple[str, str]:
        """Make a report with everything that was answered, and a link to it; return both names.

        So it stands where a backup is restored from before the run was unblinded.
        """
        with reading(self.sessions) as session:
            told = session.execute(select(Response.client_uuid, Response.rt_ms)).all()
        jobs, steps = Jobs(self.instance), [Step("comparing", ("compare",))]
        job = Job(_REPORT, self.ref, "People", "a test", NOW.isoformat(), steps, JobState.DONE)
        made = jobs.folder(job.id) / MADE
        made.mkdir(parents=True)
        jobs.keep(job)
        (made / "report.html").write_text(str(told), encoding="utf-8")
        return _REPORT, link_of(jobs.folder(job.id))

    @contextmanager
    def as_it_is(self) -> Iterator[Flask]:
        """Yield a server that just started, of a copy of this installation."""
        whole = self.instance
        self.app.extensions["parallax"].engine.dispose()
        with tempfile.TemporaryDirectory() as folder:
            self.instance = shutil.copytree(whole, Path(folder) / "instance")
            app = create_app(self.instance, now=lambda: NOW)
            yield app
            app.extensions["parallax"].engine.dispose()
        self.instance = whole

    def told_by_the_log(self) -> Iterator[str]:
        """Yield the lines of the log that hold an answer's id or its time."""
        with reading(self.sessions) as session:
            rows = session.execute(select(Response.client_uuid, Response.rt_ms)).all()
        marks = {uuid for uuid, _ in rows} | {str(rt_ms) for _, rt_ms in rows if rt_ms is not None}
        wanted = re.compile("|".join(re.escape(each) for each in sorted(marks)))
        yield from (f"the log: {line[:80]}" for line in self.lines.text if wanted.search(line))

    def close(self) -> None:
        """End it."""
        logging.getLogger().removeHandler(self.lines)
        self.app.extensions["parallax"].engine.dispose()


def _trace(session: Session) -> None:
    """Give each answer a path of the mouse of its own, which no simulated browser sends."""
    for number, response in enumerate(session.scalars(select(Response)), start=1):
        response.trace = f"m{number + 9},{number + 9},7;m8,-2,{number + 9};d{number + 9};u9"


def exchange(sessions: Sessions) -> int:
    """Change what people answered, but nothing that a blind run may tell; return how many rows."""
    with sessions.begin() as session:
        rows = session.execute(
            select(Trial, Response, RunItem.kind)
            .join(Response, Response.trial_id == Trial.id)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .order_by(Trial.participant_id, Trial.position)
        ).all()
        of_each = defaultdict[int, list[tuple[Trial, Response, str]]](list)
        for trial, response, kind in rows:
            of_each[trial.participant_id].append((trial, response, kind))
        for theirs in of_each.values():
            _exchanged(theirs)
    return len(rows)


def _exchanged(theirs: Sequence[tuple[Trial, Response, str]]) -> None:
    plain = [(trial, response) for trial, response, kind in theirs if kind != Kind.CATCH]
    catch = [(trial, response) for trial, response, kind in theirs if kind == Kind.CATCH]
    for some in (plain, catch):
        responses = [response for _, response in some]
        for column in ("rt_ms", "release_ms", "steps", "trace", "client_uuid"):
            values = [getattr(each, column) for each in responses]
            for each, value in zip(responses, values[1:] + values[:1], strict=True):
                setattr(each, column, value)
    for number, (trial, response) in enumerate(plain):
        if response.rating is not None and trial.points:
            response.rating = trial.points + 1 - response.rating
        elif number % 2:
            response.chosen_side = _turned(response.chosen_side)
        else:
            trial.good_side = _turned(trial.good_side)
    wrong = [one for one in catch if one[0].good_side != one[1].chosen_side]
    right = [one for one in catch if one[0].good_side == one[1].chosen_side]
    for pair in zip(wrong, right, strict=False):
        for _, response in pair:
            response.chosen_side = _turned(response.chosen_side)
    if not wrong:
        # Nothing was wrong: all catch trials are turned whole.
        for trial, response in catch:
            trial.good_side = _turned(trial.good_side)
            response.chosen_side = _turned(response.chosen_side)


def _turned(side: str) -> str:
    return {"first": "second", "second": "first"}.get(side, side)
