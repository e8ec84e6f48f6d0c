"""The titles of runs on pages, read from the study's files without building the study."""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.studies.study import STUDY_FILE
from experiment.untrusted import read_toml
from webapp.database.models import Run, StudyFile


def titles_of(session: Session, runs: Sequence[Run]) -> dict[int, str]:
    """Return the titles of runs by id; the study's name if the title cannot be read.

    Building a study takes tens of milliseconds, too long for a list of many runs.
    """
    stored = session.execute(
        select(StudyFile.run_id, StudyFile.content).where(
            StudyFile.run_id.in_([run.id for run in runs]), StudyFile.name == STUDY_FILE
        )
    )
    written = {run_id: _title(content) for run_id, content in stored}
    return {run.id: written.get(run.id) or run.study for run in runs}


@lru_cache(maxsize=1_000)
def _title(content: bytes) -> str:
    try:
        # Decoded as in experiment.studies.load: a byte order mark is allowed.
        return str(read_toml(content.decode("utf-8-sig"))["study"]["title"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
