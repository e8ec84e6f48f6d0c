"""What a request needs of the installation, made once in ``create_app``."""

from typing import cast

from flask import current_app
from sqlalchemy import Engine

from experiment.studies.study import Study
from webapp.clock import Clock
from webapp.db import Sessions, make_sessions
from webapp.flow.runs import study_as_launched
from webapp.models import Run
from webapp.settings import Settings
from webapp.tokens import Tokens

EXTENSION = "parallax"


class Services:
    """The installation's parts.

    Args:
        settings: Its settings.
        engine: Its database.
        tokens: What signs its participants' links.
        now: Its clock.
    """

    def __init__(self, settings: Settings, engine: Engine, tokens: Tokens, now: Clock) -> None:
        self.settings = settings
        self.engine = engine
        self.sessions: Sessions = make_sessions(engine)
        self.tokens = tokens
        self.now = now
        self._studies: dict[tuple[str, str], Study] = {}

    def study_of(self, run: Run) -> Study:
        """Return the run's study, read once.

        Raises:
            RunError: The study's folder holds another version by now.
            StudyError: The folder is gone or no longer sound.
        """
        key = (run.study_folder, run.study_version)
        if key not in self._studies:
            self._studies[key] = study_as_launched(run)
        return self._studies[key]


def services() -> Services:
    """Return the parts of the app that answers the present request."""
    return cast(Services, current_app.extensions[EXTENSION])
