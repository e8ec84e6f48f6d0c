"""A server with its database, and what it holds of a run's participants."""

from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.serving import BaseWSGIServer

from experiment.participation import EventKind
from experiment.studies.load import load_study
from webapp.core.clock import utc_now
from webapp.database.engine import Sessions, reading
from webapp.database.models import Answer, Device, Event, Participant, Response, Run, Trial
from webapp.runs.launch import launch_run


@dataclass
class Stored:
    """What the database holds of one participant; responses in the order they were stored."""

    state: str
    positions: list[int]
    responses: list[Response]
    late_answers: int
    questionnaire: dict[str, str]
    devices: list[Device]


def stored(sessions: Sessions, link: str) -> list[Stored]:
    """Return what is stored of each of a run's participants, in the order they came."""
    with reading(sessions) as session:
        ref = link.rpartition("/")[2]
        found = session.scalars(
            select(Participant).join(Run).where(Run.ref == ref).order_by(Participant.id)
        ).all()
        return [_of(session, participant) for participant in found]


def _of(session: Session, participant: Participant) -> Stored:
    rows = session.execute(
        select(Trial.position, Response)
        .join(Response, Response.trial_id == Trial.id)
        .where(Trial.participant_id == participant.id)
        .order_by(Response.id)
    ).all()
    of = participant.id
    events = session.scalars(select(Event).where(Event.participant_id == of))
    answers = session.scalars(select(Answer).where(Answer.participant_id == of))
    return Stored(
        state=participant.state,
        positions=[position for position, _ in rows],
        responses=[response for _, response in rows],
        late_answers=sum(event.kind == EventKind.LATE_ANSWER for event in events),
        questionnaire={answer.field: answer.value for answer in answers},
        devices=list(session.scalars(select(Device).where(Device.participant_id == of))),
    )


def launched(sessions: Sessions, study: str | Path, recruiter: str = "direct") -> str:
    """Return the path of a new run of the study."""
    with sessions() as session:
        loaded = load_study(str(study))
        run = launch_run(session, loaded, 1, recruiter, now=utc_now(), code_version="0")
        session.commit()
    return f"/run/{run.ref}"


class Site:
    """A server in a thread, with its database."""

    def __init__(self, app: Flask, server: BaseWSGIServer) -> None:
        self.app = app
        self.origin = f"http://localhost:{server.port}"
        self.sessions: Sessions = app.extensions["parallax"].sessions

    def launch(self, study: str | Path, recruiter: str = "direct") -> str:
        """Return the link of a new run of the study."""
        return self.origin + launched(self.sessions, study, recruiter)

    def stored(self, link: str) -> list[Stored]:
        """Return what is stored of each of a run's participants."""
        return stored(self.sessions, link)
