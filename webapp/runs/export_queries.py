"""The rows of every exported table, as queries that stream in a fixed order.

No query reads ``Participant.platform_id`` or ``visit_mark``: a platform's id of a person stays in
the database. No row contains data of a participant whose data are restricted.
"""

from collections.abc import Callable, Generator
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, literal, not_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from experiment.materials.item_rows import item_from_row
from experiment.participation import Ending
from experiment.payment.payment import PaymentKind, PaymentState
from experiment.responses.base import ResponseType
from experiment.responses.registry import export_tables as tables_of
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from experiment.tables.codes import CODES
from experiment.tables.column import JUDGE, PERSON, PROGRAM, TableSchema
from experiment.tables.observation_tables import (
    EVENTS,
    HUMANNESS,
    INTEGRITY,
    READINGS,
    TIMINGS,
    TRACES,
)
from experiment.tables.schemas import (
    ANSWERS,
    CONSENTS,
    DEVICES,
    ENDINGS,
    ITEMS,
    LISTS,
    PARTICIPANTS,
    PAYMENTS,
    RESPONSES,
    TRIALS,
    UNCONFIRMED,
    VERDICTS,
)
from webapp.codes.codes import find_frozen
from webapp.codes.rows import stream_code_rows
from webapp.database.models import (
    Answer,
    Assignment,
    ConsentText,
    Device,
    Event,
    Participant,
    Payment,
    Response,
    Run,
    RunItem,
    Trial,
    Verdict,
)
from webapp.recruiters.statuses import RETURNED_STATUSES, SUBMITTED_STATUSES
from webapp.runs.integrity import stream_humanness_rows, stream_integrity_rows
from webapp.runs.runs import find_static_mark, load_launched_study
from webapp.runs.stored_answers import (
    get_arrangement,
    get_given_answer,
    read_row_measures,
    serialise_detail,
    split_task,
    stream_trace_rows,
)

_ROWS_AT_A_TIME = 2_000
_PARTICIPANT_REF = Participant.ref.label("participant")


def stream_rows(session: Session, run: Run, table: TableSchema) -> Generator[dict[str, object]]:
    """Yield the rows of one exported table of a run, in constant memory."""
    if table.name == INTEGRITY.name:
        unnamed = select(Participant.ref).where(Participant.run_id == run.id, _is_unconfirmed())
        hidden = set(session.scalars(unnamed))
        rows = stream_integrity_rows(session, run, load_launched_study(session, run))
        yield from (row for row in rows if row["participant"] not in hidden)
        return
    if table.name == READINGS.name:
        yield from _stream_step_rows(session, run)
        return
    if table.name == HUMANNESS.name:
        exported = set(session.scalars(_select_confirmed_participants(run, _PARTICIPANT_REF)))
        yield from stream_humanness_rows(session, run, load_launched_study(session, run), exported)
        return
    if table.name == TRACES.name:
        traced = select_answered_trials(run, _PARTICIPANT_REF, Trial.position, Response.trace)
        yield from stream_trace_rows(session, run, traced.where(Response.trace.is_not(None)))
        return
    if table.name == CODES.name:
        coded = select_answered_trials(run, _PARTICIPANT_REF, Trial, RunItem.item, Response)
        yield from stream_code_rows(session, run, load_launched_study(session, run), coded)
        return
    complete = _choose_row_completion(session, run, table)
    query = _make_query(run, table.name).add_columns(
        *_list_task_columns(table), *_list_further_columns(session, run, table)
    )
    with session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME)) as result:
        for row in result.mappings():
            # An item was frozen as a complete row; all other rows are built from columns.
            yield row["item"] if table.name == ITEMS.name else complete(dict(row))


def _list_further_columns(
    session: Session, run: Run, table: TableSchema
) -> list[ColumnElement[Any]]:
    """Return the judge's column, and the details from which a response type derives columns."""
    columns: list[ColumnElement[Any]] = []
    if JUDGE in table.columns:
        columns.append(literal(PROGRAM if run.simulated else PERSON).label(JUDGE.name))
    if table.name == RESPONSES.name and response_of(load_launched_study(session, run)).details:
        columns.append(Response.steps.label("details"))
    return columns


def _list_task_columns(table: TableSchema) -> list[ColumnElement[Any]]:
    """Return the columns of tasks other than paired choices, if the table has them.

    They are not returned for the table of items, whose own columns may have the same names.
    """
    if table.name not in (TRIALS.name, RESPONSES.name):
        return []
    task_columns = {
        "options": Trial.options,
        "version": Trial.options,
        "rating": Response.rating,
        "n_steps": Response.steps,
        "task": Trial.options,
    }
    return [task_columns[name].label(name) for name in task_columns if name in table.column_names]


def _choose_row_completion(
    session: Session, run: Run, table: TableSchema
) -> Callable[[dict[str, object]], dict[str, object]]:
    """Return the function that completes a stored row of the table."""
    if table.name == RESPONSES.name:
        response = response_of(load_launched_study(session, run))
        exported = _make_response_completion(response)
        if find_static_mark(session, run) is not None:
            # No server received this answer; the browser's time has a column of its own.
            return lambda row: exported(row) | {"recorded_at": None}
        return exported
    if table.name == TRIALS.name and "task" in table.column_names:
        return split_task
    return serialise_detail if table.name == EVENTS.name else lambda row: row


def _make_response_completion(
    response: ResponseType,
) -> Callable[[dict[str, object]], dict[str, object]]:
    if not (response.step_table or response.details):
        return response.derive_all_columns
    return lambda row: response.derive_all_columns(row | read_row_measures(row))


def _stream_step_rows(session: Session, run: Run) -> Generator[dict[str, object]]:
    """Yield a row for each word or region that was read."""
    response = response_of(load_launched_study(session, run))
    judge = PROGRAM if run.simulated else PERSON
    query = select_answered_trials(run, _PARTICIPANT_REF, Trial, RunItem.item, Response)
    with session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME)) as result:
        for person, trial, item, stored in result:
            key = {"participant": person, "position": trial.position, "item_id": item["item_id"]}
            for row in response.step_rows(
                item_from_row(item), get_arrangement(trial), get_given_answer(stored)
            ):
                yield {**key, **row, JUDGE.name: judge}


def list_export_tables(session: Session, run: Run, study: Study) -> list[TableSchema]:
    """Return the tables of a run, with the columns of its response type and its study's items."""
    item = session.scalars(_select_list_entries(run, RunItem.item).limit(1)).first()
    tables = [*tables_of(response_of(study))]
    tables += [TRACES] if study.taking_part.traces else []
    tables += [HUMANNESS] if study.humanness else []
    tables += [CODES] if study.coding and find_frozen(session, run) else []
    return [table.extended(item or ()) if table.name == ITEMS.name else table for table in tables]


def _make_query(run: Run, name: str) -> Select[Any]:
    queries: dict[str, Callable[[], Select[Any]]] = {
        ITEMS.name: lambda: _select_list_entries(run, RunItem.item).where(
            RunItem.id.in_(_select_first_of_each_item(run))
        ),
        LISTS.name: lambda: _select_list_entries(run, RunItem.list, RunItem.item_id, RunItem.kind),
        PARTICIPANTS.name: lambda: _select_participants(run),
        CONSENTS.name: lambda: _select_confirmed_participants(
            run,
            _PARTICIPANT_REF,
            ConsentText.version.label("consent_version"),
            ConsentText.sha256.label("consent_sha256"),
        ).join(ConsentText, ConsentText.id == Participant.consent_text_id),
        ENDINGS.name: lambda: _select_all_participants(
            run,
            _PARTICIPANT_REF,
            func.coalesce(Participant.ending, "").label("ending"),
            _select_platform_status(),
        ),
        DEVICES.name: lambda: _select_devices(run),
        ANSWERS.name: lambda: (
            _select_confirmed_participants(run, _PARTICIPANT_REF, Answer.field, Answer.value)
            .join(Answer, Answer.participant_id == Participant.id)
            .order_by(Answer.id)
        ),
        TRIALS.name: lambda: _select_trials(
            run,
            _PARTICIPANT_REF,
            Trial.position,
            RunItem.item_id,
            RunItem.kind,
            func.nullif(Trial.good_side, "").label("good_side"),
        ),
        RESPONSES.name: lambda: _select_responses(run),
        TIMINGS.name: lambda: _select_timings(run),
        EVENTS.name: lambda: _select_events(run),
        VERDICTS.name: lambda: _select_confirmed_participants(
            run, _PARTICIPANT_REF, Verdict.kept, Verdict.rule, Verdict.evidence
        ).join(Verdict, Verdict.participant_id == Participant.id),
        PAYMENTS.name: lambda: _select_payments(run),
    }
    return queries[name]()


_Columns = ColumnElement[Any] | InstrumentedAttribute[Any]


def _select_list_entries(run: Run, *columns: _Columns) -> Select[Any]:
    query = select(*columns).where(RunItem.run_id == run.id)
    return query.order_by(RunItem.list, RunItem.list_order)


def _select_first_of_each_item(run: Run) -> Select[Any]:
    # Lists may share items; the table of items contains each item once.
    return select(func.min(RunItem.id)).where(RunItem.run_id == run.id).group_by(RunItem.item_id)


def _select_confirmed_participants(run: Run, *columns: _Columns) -> Select[Any]:
    # Participants who withdrew appear only in the tables of participants and endings. So do
    # participants who used another worker's id, unless the platform confirms that the id is theirs.
    used = func.coalesce(Participant.ending, "") != Ending.WITHDRAWN
    return _select_all_participants(run, *columns).where(used, not_(_is_unconfirmed()))


def _select_all_participants(run: Run, *columns: _Columns) -> Select[Any]:
    return (
        select(*columns)
        .select_from(Participant)
        .where(Participant.run_id == run.id, Participant.restricted_at.is_(None))
        .order_by(Participant.id)
    )


def _is_unconfirmed() -> ColumnElement[bool]:
    came_for_work = exists().where(Assignment.participant_id == Participant.id)
    return and_(Participant.platform_id.is_(None), came_for_work)


def _select_platform_status() -> ColumnElement[str]:
    latest = (
        select(Assignment.status)
        .where(Assignment.participant_id == Participant.id)
        # A submitted assignment takes precedence over the participant's other assignments.
        .order_by(
            Assignment.status.not_in(SUBMITTED_STATUSES),
            Assignment.status.in_(RETURNED_STATUSES),
            Assignment.id.desc(),
        )
        .limit(1)
        .correlate(Participant)
        .scalar_subquery()
    )
    status = case((_is_unconfirmed(), literal(UNCONFIRMED)), else_=func.coalesce(latest, ""))
    return status.label("platform_status")


def _select_participants(run: Run) -> Select[Any]:
    return _select_all_participants(
        run,
        _PARTICIPANT_REF,
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


def _select_devices(run: Run) -> Select[Any]:
    devices_before = func.row_number().over(partition_by=Participant.id, order_by=Device.id)
    return _select_confirmed_participants(
        run,
        _PARTICIPANT_REF,
        devices_before.label("device"),
        Device.user_agent_family,
        Device.refresh_rate_hz,
        Device.time_zone_offset_min,
        Device.language,
        Device.automated,
    ).join(Device, Device.participant_id == Participant.id)


def _select_events(run: Run) -> Select[Any]:
    events_before = func.row_number().over(partition_by=Participant.id, order_by=Event.id)
    return (
        _select_confirmed_participants(
            run, _PARTICIPANT_REF, events_before.label("event"), Event.kind, Event.detail, Event.at
        )
        .join(Event, Event.participant_id == Participant.id)
        .order_by(Event.id)
    )


def _select_payments(run: Run) -> Select[Any]:
    return (
        select(
            func.row_number().over(order_by=Payment.id).label("payment"),
            _PARTICIPANT_REF,
            Payment.kind.label("paid_for"),
            Payment.amount_minor,
            Payment.currency,
            Payment.settled_at.label("paid_at"),
        )
        .join(Participant, Participant.id == Payment.participant_id)
        .where(Payment.run_id == run.id, Payment.state == PaymentState.DONE)
        .where(Payment.kind != PaymentKind.REJECTION, Participant.restricted_at.is_(None))
        .order_by(Payment.id)
    )


def _select_trials(run: Run, *columns: Any) -> Select[Any]:  # noqa: ANN401 (columns or whole rows)
    return (
        _select_confirmed_participants(run, *columns)
        .join(Trial, Trial.participant_id == Participant.id)
        .join(RunItem, RunItem.id == Trial.run_item_id)
        .order_by(Trial.position)
    )


def select_answered_trials(run: Run, *columns: Any) -> Select[Any]:  # noqa: ANN401
    """Return the query for columns, or whole rows, of each answer that exports contain."""
    return _select_trials(run, *columns).join(Response, Response.trial_id == Trial.id)


def _select_responses(run: Run) -> Select[Any]:
    return select_answered_trials(
        run,
        _PARTICIPANT_REF,
        Trial.position,
        RunItem.item_id,
        func.nullif(Response.chosen_side, "").label("chosen_side"),
        # Null if the trial has no right or wrong answer.
        (func.nullif(Response.chosen_side, "") == func.nullif(Trial.good_side, "")).label(
            "chose_good"
        ),
        Response.rt_ms,
        Response.input_method,
        Response.viewport_width_px,
        Response.viewport_height_px,
        Response.was_hidden,
        Response.lost_focus,
        Response.client_time,
        Response.recorded_at,
    )


def _select_timings(run: Run) -> Select[Any]:
    return select_answered_trials(
        run,
        _PARTICIPANT_REF,
        Trial.position,
        func.coalesce(Response.onset_source, "").label("onset_source"),
        Response.onset_uncertainty_ms,
        Response.release_ms,
        Response.times_shown,
        Response.seen_before_ms,
        Response.waited_ms,
        Response.trusted,
        Response.pointer_moves,
        Response.pointer_path_px,
        Response.pointer_stopped_ms,
        Response.hidden_ms,
        Response.frames_dropped,
        Response.pixel_ratio,
        Response.round_trip_ms,
    )
