"""The mark of a run without a server, with the parameters of its exported folder."""

import json
from dataclasses import asdict, dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.models import Run, StudyFile
from webapp.errors import RunError

# Stored and exported together with the study's own files.
STATIC_FILE = "static.json"


@dataclass(frozen=True, slots=True)
class StaticMark:
    """The parameters with which a run's folder was written.

    Attributes:
        folder: The version of the folder, which every session file names.
        sessions: How many sessions were drawn.
        assignment: How a participant gets a session if the link names none: "counter" or "chance".
        consent: The consent text.
    """

    folder: str
    sessions: int
    assignment: str
    consent: str

    def as_file(self) -> bytes:
        """Return the mark's file content."""
        return (json.dumps(asdict(self), sort_keys=True) + "\n").encode()


def static_mark(session: Session, run: Run) -> StaticMark | None:
    """Return the mark of a run without a server; None for a run that a server serves."""
    kept = select(StudyFile.content).where(
        StudyFile.run_id == run.id, StudyFile.name == STATIC_FILE
    )
    content = session.scalar(kept)
    return None if content is None else StaticMark(**json.loads(content))


def refuse_without_server(session: Session, run: Run) -> None:
    """Check that this server assigns the run's places.

    Raises:
        RunError: The run is taken without a server.
    """
    if static_mark(session, run) is None:
        return
    raise RunError(
        f'the run "{run.ref}" is taken without a server: this server would give its sessions to'
        " other people as well, and its folder has no others",
        expected="a run that was launched",
        remedy="Send people to the web host that has its folder, and read what the store kept with"
        " parallax import sessions; or write a folder with more sessions, or launch the study:"
        " parallax launch",
    )


def static_runs(session: Session) -> list[tuple[Run, StaticMark]]:
    """Return every run without a server."""
    rows = session.execute(
        select(Run, StudyFile.content)
        .join(StudyFile, StudyFile.run_id == Run.id)
        .where(StudyFile.name == STATIC_FILE)
        .order_by(Run.id)
    )
    return [(run, StaticMark(**json.loads(content))) for run, content in rows]
