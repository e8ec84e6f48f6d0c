"""The rows of every exported table, as queries that stream in a fixed order.

No query names ``Participant.platform_id`` or ``visit_mark``: what a recruiting platform calls a
person stays in the database.
"""

from collections.abc import Generator
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from experiment.payment import PaymentKind, PaymentState
from experiment.schemas import (
    ANSWERS,
    DEVICES,
    ITEMS,
    LISTS,
    PARTICIPANTS,
    PAYMENTS,
    RESPONSES,
    TRIALS,
    VERDICTS,
    TableSchema,
)
from webapp.models import (
    Answer,
    Device,
    Participant,
    Payment,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)

_ROWS_AT_A_TIME = 2_000
_REF = Participant.ref.label("participant")


def export_rows(session: Session, run: Run, table: TableSchema) -> Generator[dict[str, object]]:
    """Yield the rows of one exported table of a run, in memory that does not grow with it."""
    query = _queries(run)[table.name].execution_options(yield_per=_ROWS_AT_A_TIME)
    with session.execute(query) as found:
        for row in found.mappings():
            # An item was frozen as its whole row; every other row is put together from columns.
            yield row["item"] if table is ITEMS else dict(row)


def _queries(run: Run) -> dict[str, Select[Any]]:
    return {
        ITEMS.name: _of_lists(run, RunItem.item),
        LISTS.name: _of_lists(run, RunItem.list, RunItem.item_id, RunItem.kind),
        PARTICIPANTS.name: _participants(run),
        DEVICES.name: _devices(run),
        ANSWERS.name: (
            _of_participants(run, _REF, Answer.field, Answer.value)
            .join(Answer, Answer.participant_id == Participant.id)
            .order_by(Answer.id)
        ),
        TRIALS.name: _trials(
            run, _REF, Trial.position, RunItem.item_id, RunItem.kind, Trial.good_side
        ),
        RESPONSES.name: _responses(run),
        VERDICTS.name: _of_participants(
            run, _REF, Verdict.kept, Verdict.rule, Verdict.evidence
        ).join(Verdict, Verdict.participant_id == Participant.id),
        PAYMENTS.name: _payments(run),
    }


_Columns = ColumnElement[Any] | InstrumentedAttribute[Any]


def _of_lists(run: Run, *columns: _Columns) -> Select[Any]:
    query = select(*columns).where(RunItem.run_id == run.id)
    return query.order_by(RunItem.list, RunItem.list_order)


def _of_participants(run: Run, *columns: _Columns) -> Select[Any]:
    return (
        select(*columns)
        .select_from(Participant)
        .where(Participant.run_id == run.id)
        .order_by(Participant.id)
    )


def _participants(run: Run) -> Select[Any]:
    return _of_participants(
        run,
        _REF,
        func.row_number().over(order_by=Participant.id).label("number"),
        literal(run.simulated).label("simulated"),
        Participant.state,
        Participant.list,
        Participant.place,
        Participant.arrived_at,
        Participant.consented_at,
        Participant.returned_at,
        Participant.finished_at,
    )


def _devices(run: Run) -> Select[Any]:
    return _of_participants(
        run,
        _REF,
        Device.user_agent_family,
        Device.refresh_rate_hz,
        Device.time_zone_offset_min,
        Device.language,
    ).join(Device, Device.participant_id == Participant.id)


def _payments(run: Run) -> Select[Any]:
    return (
        select(
            func.row_number().over(order_by=Payment.id).label("payment"),
            _REF,
            Payment.kind.label("paid_for"),
            Payment.amount_cents,
            Payment.settled_at.label("paid_at"),
        )
        .join(Participant, Participant.id == Payment.participant_id)
        .where(Payment.run_id == run.id, Payment.state == PaymentState.DONE)
        .where(Payment.kind != PaymentKind.REJECTION)
        .order_by(Payment.id)
    )


def _trials(run: Run, *columns: _Columns) -> Select[Any]:
    return (
        _of_participants(run, *columns)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .order_by(Trial.position)
    )


def _responses(run: Run) -> Select[Any]:
    return _trials(
        run,
        _REF,
        Trial.position,
        RunItem.item_id,
        Response.chosen_side,
        (Response.chosen_side == Trial.good_side).label("chose_good"),
        Response.rt_ms,
        Response.input_method,
        Response.viewport_width_px,
        Response.viewport_height_px,
        Response.was_hidden,
        Response.lost_focus,
        Response.client_time,
        Response.recorded_at,
    ).join(Response, Response.trial_id == Trial.id)
