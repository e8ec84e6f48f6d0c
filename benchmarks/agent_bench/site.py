"""A server with runs to which people are invited and programs come."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.serving import WSGIRequestHandler, make_server

from agent_bench.seen import SeenAnswer
from experiment.integrity.observed import ObservedSession
from experiment.records import PAIR
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial
from webapp.runs.integrity import load_observed_sessions
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study


class _Quiet(WSGIRequestHandler):
    def log(self, *args: object) -> None:
        """Write nothing."""


@dataclass(frozen=True, slots=True)
class Site:
    """A served run.

    Attributes:
        app: The application.
        run: The run; programs come to it as people would.
        origin: The server's address.
    """

    app: Flask
    run: Run
    origin: str

    @property
    def link(self) -> str:
        """The run's link."""
        return f"{self.origin}/run/{self.run.ref}"

    def ref_of(self, home: str) -> str:
        """Return the reference of whoever was sent to an address."""
        token = home.removeprefix(self.origin).split("/")[2]
        return self.app.extensions["parallax"].tokens.read(token)

    def observed(self) -> dict[str, ObservedSession]:
        """Return what was seen of each session that has an answer, by reference."""
        with reading(self.app.extensions["parallax"].sessions) as session:
            study = load_launched_study(session, self.run)
            tried = _tried(session, self.run, study)
            return {
                person.ref: _with_tried(seen, tried[person.ref])
                for person, seen in load_observed_sessions(session, self.run, study)
            }


def _tried(session: Session, run: Run, study: Study) -> dict[str, dict[int, dict[str, Any]]]:
    """Return what ``SeenAnswer`` has beside what is observed, by reference and position."""
    rows = session.execute(
        select(Participant.ref, Trial, RunItem, Response)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .join(Response, Response.trial_id == Trial.id)
        .where(Participant.run_id == run.id)
    )
    asked, found = response_of(study), {}
    for ref, trial, item, response in rows:
        right = response.chosen_side == trial.good_side
        known = response.chosen_side and trial.good_side
        of_two = asked.n_offered(trial.options) == len(PAIR)
        found.setdefault(ref, {})[trial.position] = {
            "kind": f"{item.item['construction']}, {item.item['condition']}",
            "chose_good": right if known and of_two else None,
            "pointer_stopped_ms": response.pointer_stopped_ms,
        }
    return found


def _with_tried(seen: ObservedSession, tried: dict[int, dict[str, Any]]) -> ObservedSession:
    answers = (SeenAnswer(**asdict(one), **tried[one.position]) for one in seen.answers)
    return replace(seen, answers=tuple(answers))


@contextmanager
def served(folder: Path, study: str, seed: int) -> Iterator[tuple[Site, Site]]:
    """Launch a study twice, for scripts and for browsers, and serve it on a free port."""
    app = create_app(folder / "instance")
    services = app.extensions["parallax"]
    with services.sessions() as session:
        loaded, now = load_study(study), utc_now()
        runs = [
            launch_run(session, loaded, seed, "direct", now=now, code_version="0") for _ in range(2)
        ]
        session.commit()
    server = make_server("localhost", 0, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        origin = f"http://localhost:{server.port}"
        yield Site(app, runs[0], origin), Site(app, runs[1], origin)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        services.engine.dispose()
