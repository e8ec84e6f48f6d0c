"""What a request needs of the installation, made once in ``create_app``."""

from functools import partial
from typing import cast

from flask import current_app
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from experiment.studies.study import Study
from webapp.clock import Clock
from webapp.db import Sessions, make_sessions
from webapp.flow.record_many import SentAnswer, record_in_one_transaction
from webapp.flow.runs import study_as_launched
from webapp.flow.together import Together
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
        self.answers = Together[SentAnswer, int | None](
            partial(record_in_one_transaction, engine, settings.session_days)
        )
        self._studies: dict[int, Study] = {}

    def study_of(self, session: Session, run: Run) -> Study:
        """Return the run's study, read from the database once.

        Raises:
            RunError: The study's files are not in the database.
        """
        if run.id not in self._studies:
            self._studies[run.id] = study_as_launched(session, run)
        return self._studies[run.id]


def services() -> Services:
    """Return the parts of the app that answers the present request."""
    return cast(Services, current_app.extensions[EXTENSION])
