"""The rows of the exported table of codes."""

from collections.abc import Generator
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import Session

from experiment.coding.rounds import Codes
from experiment.studies.study import Study
from experiment.tables.column import JUDGE, PERSON, PROGRAM
from webapp.codes.answers import list_answers
from webapp.codes.codes import find_frozen
from webapp.database.models import Run


def stream_code_rows(
    session: Session, run: Run, study: Study, query: Select[Any]
) -> Generator[dict[str, object]]:
    """Yield a row for each answer that has a code in the latest frozen version.

    Args:
        session: A reading session.
        run: The run.
        study: Its study.
        query: As for ``list_answers``.
    """
    frozen = find_frozen(session, run)
    if frozen is None:
        return
    judge = PROGRAM if run.simulated else PERSON
    answers = list_answers(session, run, study, query)
    for number, answer in enumerate(answers.values(), start=1):
        stored = next((frozen.codes[each] for each in answer.digests if each in frozen.codes), None)
        if stored is None:
            continue
        codes = Codes(*stored)
        for person, position, gap in answer.given:
            yield {
                "participant": person,
                "position": position,
                "gap": gap,
                "answer": number,
                **codes.columns,
                "coding_version": frozen.number,
                JUDGE.name: judge,
            }
