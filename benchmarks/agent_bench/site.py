"""A server with runs to which people are invited and programs come."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from experiment.integrity.observed import ObservedSession
from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.runs.integrity import observed_sessions
from webapp.runs.launch import launch
from webapp.runs.runs import study_as_launched


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
            study = study_as_launched(session, self.run)
            found = observed_sessions(session, self.run, study)
            return {person.ref: seen for person, seen in found}


@contextmanager
def served(folder: Path, study: str, seed: int) -> Iterator[tuple[Site, Site]]:
    """Launch a study twice, for scripts and for browsers, and serve it on a free port."""
    app = create_app(folder / "instance")
    services = app.extensions["parallax"]
    with services.sessions() as session:
        loaded, now = load_study(study), utc_now()
        runs = [
            launch(session, loaded, seed, "direct", now=now, code_version="0") for _ in range(2)
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
