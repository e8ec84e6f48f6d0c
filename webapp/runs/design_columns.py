"""The columns that a study's design adds to exported tables, each with its role."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.materials.formats.columns import column_headers
from experiment.studies.study import Study
from experiment.tables.column import Column, Role, TableSchema, roles_of_items
from experiment.tables.schemas import ANSWERS, ITEMS, LISTS, PARTICIPANTS
from webapp.database.models import Answer, Participant, Run
from webapp.runs.export_queries import export_rows

_BLOCK = Column("block", "string", "the block of the session that the item is in", role=Role.BLOCK)
_SESSION = Column(
    "session",
    "integer",
    "which session this is of a study that is taken in parts, from 1",
    role=Role.SESSION,
)


@dataclass(frozen=True, slots=True)
class DesignColumns:
    """The design columns of a study's tables: their names, roles and values.

    Attributes:
        study: The study.
        roles: The role of each of the researcher's own item columns.
        blocks: The block of each item, by the item's id; empty if the session has no blocks.
        answers: For each question that the study's analysis names, the answers by participant.
        session: The number of the session; None if no part of the study precedes it.
    """

    study: Study
    roles: Mapping[str, Role]
    blocks: Mapping[str, str]
    answers: Mapping[str, Mapping[str, str]]
    session: int | None = None

    def extended(self, table: TableSchema) -> TableSchema:
        """Return a table with its design columns and the columns' roles."""
        if table.name == ITEMS.name:
            headers = column_headers(self.study.materials.headers)
            roles = [
                replace(
                    column,
                    role=self.roles.get(column.name, column.role),
                    description=column.description + headers.get(column.name, ""),
                )
                for column in table.columns
            ]
            return table.with_columns(roles)
        if table.name == ANSWERS.name:
            return self._with_questions(table)
        if table.name not in (LISTS.name, PARTICIPANTS.name):
            return table
        what = "the list's level of a factor between participants"
        added = [
            Column(name, "string", what, role=Role.BETWEEN_PARTICIPANTS)
            for name in self.study.design.factors
        ]
        if table.name == LISTS.name and self.blocks:
            added.append(_BLOCK)
        if table.name == PARTICIPANTS.name:
            added += [_SESSION] if self.session else []
            asked = "the answer to this question of the questionnaire"
            added += [
                Column(name, "string", asked, role=Role.ANSWER)
                for name in self.answers
                if name not in table.column_names
            ]
        known = set(table.column_names)
        return table.with_columns([column for column in added if column.name not in known])

    def _with_questions(self, table: TableSchema) -> TableSchema:
        """Return the table of answers with the wording and the allowed values of each field."""
        check = self.study.comprehension
        before = (*self.study.screening, *(check.questions if check else ()))
        asked = "; ".join(f"{q.name}: {q.in_words}" for q in (*before, *self.study.questionnaire))
        return table.with_columns(
            replace(column, description=f"{column.description}. {asked}")
            if column.name == "field" and asked
            else column
            for column in table.columns
        )

    def free_texts(self, table: TableSchema) -> tuple[str, ...]:
        """Return the columns of a table that hold participants' free text."""
        return tuple(self.answers) if table.name == PARTICIPANTS.name else ()

    def completed(
        self, table: TableSchema, rows: Iterable[Mapping[str, object]]
    ) -> Iterator[Mapping[str, object]]:
        """Yield the rows of a table with the values of the design columns."""
        if table.name not in (LISTS.name, PARTICIPANTS.name):
            yield from rows
            return
        for row in rows:
            known: dict[str, object] = {**self._levels(row["list"])}
            if table.name == LISTS.name and self.blocks:
                known["block"] = self.blocks[str(row["item_id"])]
            if table.name == PARTICIPANTS.name:
                known |= {_SESSION.name: self.session} if self.session else {}
                person = str(row["participant"])
                known |= {name: own.get(person, "") for name, own in self.answers.items()}
            yield known | dict(row)

    def _levels(self, list_: object) -> dict[str, str]:
        if isinstance(list_, int):
            return self.study.design.levels(list_)
        return dict.fromkeys(self.study.design.factors, "")


def design_columns(
    session: Session, run: Run, study: Study, number: int | None = None
) -> DesignColumns:
    """Return the design columns of a run's study, from its frozen items and its answers.

    Args:
        session: A reading session.
        run: The run.
        study: Its study.
        number: The number of the session among several, as ``part_number`` returns it.
    """
    items = [dict(row) for row in export_rows(session, run, ITEMS)]
    own = [name for name in (items[0] if items else ()) if name not in ITEMS.column_names]
    blocks = study.design.block_of if any(study.design.block_of.values()) else {}
    asked = {question.name for question in study.questionnaire}
    chosen = [name for name in study.analysis.covariates if name in asked]
    texts = [{key: str(value) for key, value in row.items()} for row in items]
    return DesignColumns(
        study=study,
        roles=roles_of_items(texts, own, study.analysis.factors),
        blocks={row["item_id"]: blocks.get(row["template"], "") for row in texts} if blocks else {},
        answers={name: _answers(session, run, name) for name in chosen},
        session=number,
    )


def _answers(session: Session, run: Run, field: str) -> dict[str, str]:
    query = (
        select(Participant.ref, Answer.value)
        .join(Answer, Answer.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Answer.field == field)
    )
    return {str(ref): str(value) for ref, value in session.execute(query)}
