"""A simulated run of the minimal study, served over real HTTP."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from webapp.database.engine import Sessions, reading
from webapp.database.models import Run
from webapp.recruiters.simulated_crowd import VisitOutcome, simulate
from webapp.recruiters.simulated_plan import Plan, make_plan
from webapp.runs.runs import load_launched_study


class Quiet(WSGIRequestHandler):
    def log(self, *args: object) -> None:
        pass


@pytest.fixture
def url(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ready(sessions: Sessions, simulated_run: Run) -> Callable[..., Plan]:
    """Return a function that gives the run's plan, changed as its arguments say."""

    def make(
        run: Run = simulated_run, responder: str | None = None, accuracy: float | None = None
    ) -> Plan:
        with reading(sessions) as session:
            made = make_plan(session, run, load_launched_study(session, run))
        if responder is not None:
            made = replace(made, responders=(responder,) * len(made.responders))
        if accuracy is not None:
            items = {texts: replace(p, accuracy=accuracy) for texts, p in made.items.items()}
            made = replace(made, items=items)
        return made

    return make


@pytest.fixture
def send(url: str, ready: Callable[..., Plan]) -> Callable[..., list[VisitOutcome]]:
    """Return a function that sends participants and gives their outcomes by number."""

    def visit(participants: int | None = None, workers: int = 4, **changes) -> list[VisitOutcome]:
        outcomes = simulate(ready(**changes), url, participants, workers)
        return sorted(outcomes, key=lambda outcome: outcome.number)

    return visit
