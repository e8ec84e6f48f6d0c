"""Everything stored about one participant, as sent to them in words and as JSON.

The expected option of each trial is left out: it says nothing about the participant, and would
reveal to other participants of the run what the study tests.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.exclusion.rules import decided_by_score
from experiment.money import in_words
from experiment.studies.study import Study
from webapp.database.models import (
    ArrivalAddress,
    Assignment,
    Base,
    Device,
    Link,
    LinkVisit,
    Note,
    OutgoingReport,
    Participant,
    Payment,
    Response,
    Run,
    SessionSummary,
    Tag,
)
from webapp.database.models.identity import names_of
from webapp.runs.integrity import describe_own_score, get_flags, make_certificates
from webapp.runs.people import AnsweredTrial, load_participant_record
from webapp.sessions.lookup import SINGLE
from webapp.sessions.measurements import read_details
from webapp.sessions.session_payload import shown_trial

_Row = TypeVar("_Row", bound=Base)
_INTERNAL_KEYS = (
    "id",
    "participant_id",
    "trial_id",
    "run_id",
    "client_uuid",
    "consent_text_id",
    "hit_id",
    "link_id",
)


def find_participant_by_code(
    session: Session, run: Run, code: str, *, for_update: bool = False
) -> Participant | None:
    """Return the participant with this code; None if the run has none.

    Args:
        session: An open session.
        run: The run.
        code: The code as typed.
        for_update: Whether to lock the participant's record for a change.
    """
    has_code = Participant.run_id == run.id, Participant.code == code.strip().lower()
    query = select(Participant).where(*has_code)
    return session.scalar(query.with_for_update(of=Participant) if for_update else query)


def collect_own_data(
    session: Session, run: Run, study: Study, participant: Participant
) -> dict[str, Any]:
    """Return everything that is stored about a participant, for them to keep.

    Args:
        session: A reading session.
        run: The run that they took part in.
        study: The run's study.
        participant: The participant who asks.
    """
    record = load_participant_record(session, run, participant.ref)
    assert record is not None
    devices, visits = (
        _load_rows(session, Device, participant),
        _load_rows(session, LinkVisit, participant),
    )
    summaries = _load_rows(session, SessionSummary, participant)
    return {
        "study": study.study.title,
        "consent": {
            "study_version": run.study_version,
            "text": record.consent.text if record.consent else study.text("consent").strip(),
            "sha256": record.consent.sha256 if record.consent else None,
        },
        "you": _row_to_json(participant),
        "trials": [_describe_trial(study, row) for row in record.trials],
        "answers": {row.field: row.value for row in record.answers},
        "devices": list(map(_row_to_json, devices)),
        "events": list(map(_row_to_json, record.events)),
        "how_plausible": _describe_plausibility(session, run, study, participant),
        "people_or_program_by_published_rates": describe_own_score(
            session, run, study, participant.id
        ),
        "summary_for_the_researchers": [
            _row_to_json(row, without=(*_INTERNAL_KEYS, "judged")) for row in summaries
        ],
        "notes_of_the_researchers": [
            _row_to_json(row, without=(*_INTERNAL_KEYS, "who"))
            for table in (Note, Tag)
            for row in _load_rows(session, table, participant)
        ],
        "your_link": _describe_link(session, participant),
        "your_rights": _describe_rights(study),
        "use": _describe_use(participant),
        "network_address": [
            _row_to_json(row) for row in _load_rows(session, ArrivalAddress, participant)
        ],
        "work_at_the_platform": [
            _row_to_json(row) for row in _load_rows(session, Assignment, participant)
        ],
        "told_to_the_platform": [
            _row_to_json(row) for row in _load_rows(session, OutgoingReport, participant)
        ],
        "exclusion": None if record.verdict is None else _row_to_json(record.verdict),
        "payments": [_describe_payment(row) for row in record.payments],
        "what_your_link_said": [visit.parameters for visit in visits],
    }


def _load_rows(session: Session, table: type[_Row], participant: Participant) -> Sequence[_Row]:
    """Return the rows of a table that belong to a participant, oldest first."""
    columns = table.__table__.columns
    query = select(table).where(columns["participant_id"] == participant.id)
    return session.scalars(query.order_by(columns["id"])).all()


def _describe_link(session: Session, participant: Participant) -> dict[str, Any] | None:
    link = session.get(Link, participant.link_id) if participant.link_id else None
    # Other participants use the same multi-use link and label.
    return _row_to_json(link) if link is not None and link.kind == SINGLE else None


def _describe_use(participant: Participant) -> str:
    restricted_at = participant.restricted_at
    return (
        "as consented"
        if restricted_at is None
        else f"stored and not used since {restricted_at.isoformat()}"
    )


def _describe_plausibility(
    session: Session, run: Run, study: Study, participant: Participant
) -> dict[str, Any] | None:
    """Return the participant's plausibility score and its parts; None if there is none."""
    certificate = next(make_certificates(session, run, study, only=participant.id), None)
    if certificate is None or run.simulated:
        return None
    scores = certificate[1]
    return {
        "score_from_0_to_1": scores.agent_likelihood,
        "signals_that_count": {k: v for k, v in scores.signals if k in scores.counting},
        "flags": get_flags(run, scores),
        "excludes_without_a_person": decided_by_score(study),
    }


def _describe_rights(study: Study) -> dict[str, str]:
    """Return whom to write to about the data, and the legal basis of the storage."""
    return {
        "contact": study.study.contact,
        "data_protection_officer": study.privacy.data_protection_officer,
        "legal_basis": study.privacy.legal_basis,
        "complaint": "your country's data protection authority",
    }


def _describe_trial(study: Study, answered_trial: AnsweredTrial) -> dict[str, Any]:
    screen_content = shown_trial(
        study,
        answered_trial.trial.position,
        answered_trial.item.item,
        answered_trial.trial.good_side,
        answered_trial.trial.options,
    )
    response = answered_trial.response
    answer = None if response is None else _describe_answer(response)
    return {"on_the_screen": dict(screen_content), "your_answer": answer}


def _describe_answer(response: Response) -> dict[str, Any]:
    """Return a stored answer; the side of a typed one would say whether it was expected."""
    is_typed = read_details(response.steps) is not None
    return _row_to_json(
        response, without=(*_INTERNAL_KEYS, "chosen_side") if is_typed else _INTERNAL_KEYS
    )


def _describe_payment(payment: Payment) -> dict[str, Any]:
    return {
        "kind": payment.kind,
        "amount": in_words(payment.amount_minor, payment.currency),
        "reason": payment.reason,
        "state": payment.state,
        "made_at": payment.made_at.isoformat(),
    }


def _row_to_json(row: Base, without: Iterable[str] = _INTERNAL_KEYS) -> dict[str, Any]:
    """Return a row's columns as JSON values, without the database's own keys."""
    names = (column.name for column in row.__table__.columns if not column.name.endswith("_key"))
    values = {name: getattr(row, name) for name in (*names, *names_of(row))}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
        if name not in without and value not in (None, "")
    }
