"""An installation with a run that people took."""

import logging
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from flask import Flask
from sqlalchemy import select
from werkzeug.serving import make_server

from benchmarks.blind.exchange import give_traces
from benchmarks.blind.paying import PaidBy
from benchmarks.blind.studies import PAID, study_of_kind
from webapp import create_app
from webapp.database.engine import Sessions, reading
from webapp.database.models import Participant, Response, Run
from webapp.gate import paying_copy
from webapp.gate.installation import Installation
from webapp.jobs.long_jobs import RESULT_FOLDER, Job, Jobs, JobState, Step
from webapp.recruiters.settings import load_settings
from webapp.recruiters.simulated_crowd import simulate
from webapp.recruiters.simulated_plan import make_plan
from webapp.recruiters.simulated_session import SimulatedSession
from webapp.researcher.reports import make_report_link
from webapp.runs.blinding import unblind_run
from webapp.runs.exclude import store_verdicts
from webapp.runs.launch import launch_run
from webapp.runs.runs import close_run, load_launched_study
from webapp.users.projects import add_project

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
        self.paid_by = PaidBy(folder, self.instance, NOW) if kind == PAID else None
        recruiter = "prolific" if self.paid_by else "simulator"
        self.app = create_app(self.instance, now=lambda: NOW)
        self.sessions: Sessions = self.app.extensions["parallax"].sessions
        study = study_of_kind(folder, kind)
        with self.sessions.begin() as session:
            add_project(session, PROJECT, by="a test", now=NOW)
            run = launch_run(
                session, study, 7, recruiter, now=NOW, code_version="0", project=PROJECT,
                simulated=True,
            )  # fmt: skip
            self.ref = run.ref
        self._take_part(people)
        with self.sessions.begin() as session:
            # From now on it is a run of people, and so it is blind.
            run = session.scalars(select(Run)).one()
            run.simulated = False
            run.recruiter = run.recruiter if self.paid_by else "direct"
            if kind == "traces":
                give_traces(session)
            self.people = list(session.scalars(select(Participant.ref)))
            if kind == "rule outlier":
                # It compares all participants, so it waits until nobody can come any more.
                close_run(session, run, NOW)
            store_verdicts(session, run, NOW)
        self.app.extensions["parallax"]._studies.clear()

    def _take_part(self, people: int) -> None:
        with reading(self.sessions) as session:
            run = session.scalars(select(Run)).one()
            ready = make_plan(session, run, load_launched_study(session, run))
        server = make_server("127.0.0.1", 0, self.app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            visitor = self.paid_by.publish(self.app, self.ref, url) if self.paid_by else None
            visits = simulate(ready, url, people, visitor=visitor or SimulatedSession)
            problems = [each.problem for each in visits if each.problem]
            if self.paid_by:
                self.paid_by.hand_in(self.app, self.ref)
        finally:
            server.shutdown()
            thread.join()
        assert not problems, problems

    def unblind(self) -> None:
        """Unblind the run."""
        with self.sessions.begin() as session:
            run = session.scalars(select(Run)).one()
            unblind_run(session, run, by="a test", reason="everybody has finished", now=NOW)

    def report_of_before(self) -> tuple[str, str]:
        """Make a report with everything that was answered, and a link to it; return both names.

        So it stands where a backup is restored from before the run was unblinded.
        """
        with reading(self.sessions) as session:
            told = session.execute(select(Response.client_uuid, Response.rt_ms)).all()
        jobs, steps = Jobs(self.instance), [Step("comparing", ("compare",))]
        job = Job(_REPORT, self.ref, "People", "a test", NOW.isoformat(), steps, JobState.DONE)
        made = jobs.folder(job.id) / RESULT_FOLDER
        made.mkdir(parents=True)
        jobs.store(job)
        jobs.add_marks(job.id, ())  # so that nothing but the blinding hides it
        (made / "report.html").write_text(str(told), encoding="utf-8")
        return _REPORT, make_report_link(jobs.folder(job.id))

    @contextmanager
    def as_it_is(self) -> Iterator[Flask]:
        """Yield a server that just started, of a copy of this installation."""
        whole = self.instance
        self.app.extensions["parallax"].engine.dispose()
        with tempfile.TemporaryDirectory() as folder:
            self.instance = shutil.copytree(whole, Path(folder) / "instance")
            if self.paid_by:
                self.paid_by.go_on_with_a_copy(Path(folder))
            app = create_app(self.instance, now=lambda: NOW)
            # The original does nothing meanwhile, so the copy may have its right to pay.
            with app.extensions["parallax"].engine.begin() as connection:
                here = Installation(self.instance, load_settings(self.instance))
                paying_copy.take_right(connection, here)
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
        if self.paid_by:
            self.paid_by.close()
