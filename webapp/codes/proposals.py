"""The codes that a model proposed: a third opinion, which no coder sees and which never decides."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.coding.categories import Coding
from experiment.coding.frozen import CodingError
from experiment.coding.normalise import normalise
from experiment.records import Variant
from webapp.codes.answers import DistinctAnswer, name_version
from webapp.codes.tables import read_columns
from webapp.core.tokens import new_reference
from webapp.database.models import Run
from webapp.database.models.run import Code, Coder

# Stored in place of a ``Round``, since no person codes in it.
_PROPOSED = 3
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Proposals:
    """What one model proposed.

    Attributes:
        model: The model's name; empty if there are no proposals.
        categories: The proposed categories by the answers' digests.
    """

    model: str = ""
    categories: Mapping[str, str] = field(default_factory=dict)


def read_proposals(path: Path, coding: Coding, answers: Collection[DistinctAnswer]) -> Proposals:
    """Read a table of proposed codes: typed, category, model, and item_id where coders see texts.

    Args:
        path: The table; with the columns version and gap if texts have several.
        coding: The study's categories.
        answers: The answers to be coded; proposals for others are ignored.

    Raises:
        CodingError: The table lacks a column, names another category or several models, has two
            proposals for one answer, or none for these answers.
    """
    columns = ("typed", "category", "model", *(("item_id",) if coding.show_text else ()))
    rows = read_columns(path, columns, "a table of proposed codes").rows
    digests = {answer.key: answer.digest for answer in answers}
    categories: dict[str, str] = {}
    for row in rows:
        category, text = row.values["category"], normalise(row.values["typed"])
        if category not in coding.names:
            raise CodingError(
                f'the proposed "{category}" is no category of the study',
                where=row.place,
                expected=f"one of: {', '.join(coding.names)}",
            )
        gap = row.values.get("gap", "")
        version = name_version(
            row.values.get("version") or Variant.GOOD.value, int(gap) if gap.isdecimal() else 1
        )
        key = (row.values["item_id"], version, text) if coding.show_text else ("", "", text)
        if key in digests and categories.setdefault(digests[key], category) != category:
            raise CodingError(
                f'"{text}" has two proposed categories, {categories[digests[key]]} and {category}',
                where=row.place,
                expected="one proposal for each answer",
            )
    models = {row.values["model"] for row in rows}
    if len(models) != 1 or not 0 < len(model := min(models)) <= _LONGEST_NAME:
        raise CodingError(
            f"the column model names {len(models)} models"
            if len(models) != 1
            else "the model's name is empty or too long",
            where=str(path),
            expected=f"one model's name in each row, of at most {_LONGEST_NAME} characters",
        )
    if not categories:
        raise CodingError(
            "no proposal is for an answer that is coded",
            where=str(path),
            expected="item_id, version and typed as in the responses of an export",
        )
    return Proposals(model, categories)


def store_proposals(session: Session, run: Run, proposals: Proposals, now: datetime) -> None:
    """Store a model's proposals for a run, in place of earlier ones.

    The model is stored as a coder whose link was ended when it was made, so that it opens nothing.
    """
    coder = Coder(
        run_id=run.id, token=new_reference() + new_reference(), label=proposals.model,
        decides=False, made_at=now, ended_at=now,
    )  # fmt: skip
    session.add(coder)
    session.flush()
    for answer, category in proposals.categories.items():
        session.add(
            Code(coder_id=coder.id, round=_PROPOSED, answer=answer, category=category, at=now)
        )


def find_proposals(session: Session, run: Run) -> Proposals:
    """Return the latest proposals for a run; empty if there are none."""
    of_run = select(Coder.id, Coder.label).join(Code, Code.coder_id == Coder.id)
    of_models = of_run.where(
        Coder.run_id == run.id, Code.round == _PROPOSED, Coder.ended_at == Coder.made_at
    )
    latest = session.execute(of_models.order_by(Coder.id.desc()).limit(1)).first()
    if latest is None:
        return Proposals()
    codes = select(Code.answer, Code.category).where(Code.coder_id == latest.id)
    return Proposals(latest.label, {row.answer: row.category for row in session.execute(codes)})
