"""A submission's state machine: reserved, active, completed with a code, and reviewed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import SCREEN_OUT, count_by_status, record_payment
from marketplace.prolific.people import add_member, find_group, remove_member, send_message
from marketplace.prolific.store import Moment, Submission
from marketplace.prolific.studies import update_status
from marketplace.prolific.webhooks import set_status

_LOWEST_PERCENT, _HIGHEST_PERCENT = 8, 99


def complete_with_code(
    moment: Moment, submission: Submission, code: str, actor: str, data: dict[str, Any]
) -> None:
    """Complete a submission with a code; a completed one stays as it is.

    Args:
        moment: The transaction.
        submission: The submission.
        code: The code; a participant's may be unknown or empty.
        actor: Who enters the code: ``participant`` or ``researcher``.
        data: The data of a dynamic payment.

    Raises:
        RefusedError: The code is not one of the researcher's, the submission is not in
            progress, or no slot is left.
    """
    if actor == "researcher":
        code_fields = _find_code(submission, code, actor)
        if code_fields is None:
            raise RefusedError({"completion_code": ["The study has no such code of yours."]})
    else:
        code_fields = _find_code(submission, code, actor)
    if submission.entered_code == code and submission.completed_at is not None:
        return
    if submission.status not in ("ACTIVE", "RESERVED"):
        raise RefusedError(
            f"A submission that is {submission.status} cannot be completed.",
            code=140008,
            title="Transition not allowed",
        )
    submission.entered_code, submission.completed_at = code or None, moment.now
    submission.started_at = submission.started_at or moment.now
    _apply_actions(moment, submission, code_fields["actions"] if code_fields else [], data)


def _find_code(submission: Submission, code: str, actor: str) -> dict[str, Any] | None:
    for code_fields in submission.study.fields["completion_codes"]:
        if code_fields["code"] == code and code_fields.get("actor", "participant") == actor:
            matching_code: dict[str, Any] = code_fields
            return matching_code
    return None


def _apply_actions(
    moment: Moment, submission: Submission, actions: list[dict[str, Any]], data: dict[str, Any]
) -> None:
    new_status = "AWAITING REVIEW"
    for action in actions:
        name = action["action"]
        if name == "AUTOMATICALLY_APPROVE":
            record_payment(moment, submission, "reward", submission.study.reward)
            new_status = "APPROVED"
        elif name == SCREEN_OUT:
            _pay_screen_out(moment, submission, action)
            new_status = "SCREENED OUT"
        elif name == "DYNAMIC_PAYMENT":
            _pay_dynamically(moment, submission, data)
            new_status = "PARTIALLY APPROVED"
        elif name == "REQUEST_RETURN":
            submission.return_requested = moment.now
            send_message(
                moment, submission.participant, submission.study.ref, action["return_reason"]
            )
        elif name in ("ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"):
            change = add_member if name.startswith("ADD") else remove_member
            change(moment, find_group(moment, action["participant_group"]), submission.participant)
    if new_status != "AWAITING REVIEW":
        submission.reviewed_at = moment.now
    set_status(moment, submission, new_status)


def _pay_screen_out(moment: Moment, submission: Submission, action: dict[str, Any]) -> None:
    n_used = count_by_status(moment.session, submission.study).get("SCREENED OUT", 0)
    if n_used >= action["slots"]:
        raise RefusedError("All screen-out slots of the study are used.")
    record_payment(moment, submission, "screen_out", action["fixed_screen_out_reward"])


def _pay_dynamically(moment: Moment, submission: Submission, data: dict[str, Any]) -> None:
    percent = data.get("percentage_of_reward")
    if not isinstance(percent, int | float) or not _LOWEST_PERCENT <= percent <= _HIGHEST_PERCENT:
        raise RefusedError(
            {"percentage_of_reward": [f"Between {_LOWEST_PERCENT} and {_HIGHEST_PERCENT}."]}
        )
    record_payment(moment, submission, "partial", int(submission.study.reward * percent // 100))
    message = data.get("message_to_participant")
    if message:
        send_message(moment, submission.participant, submission.study.ref, message)


def is_exceptionally_fast(submission: Submission) -> bool:
    """Return whether a submission took less than a tenth of the estimated time."""
    if submission.started_at is None or submission.completed_at is None:
        return False
    estimated_time = timedelta(minutes=float(submission.study.fields["estimated_completion_time"]))
    return submission.completed_at - submission.started_at < estimated_time / 10


CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
_LEAST_REASON_CHARS = 100


def find_submission(moment: Moment, ref: str) -> Submission:
    """Return a submission.

    Raises:
        UnknownError: No submission has that identifier.
    """
    submission = moment.session.scalar(select(Submission).where(Submission.ref == ref))
    if submission is None:
        raise UnknownError("submission")
    return submission


def apply_action(moment: Moment, submission: Submission, fields: dict[str, Any]) -> None:
    """Carry out a researcher's action on a submission; an action already done changes nothing.

    Raises:
        RefusedError: The submission's status does not allow the action.
    """
    _ACTIONS[fields["action"]](moment, submission, fields)
    update_status(moment, submission.study)


def mark_started(moment: Moment, submission: Submission, _fields: object = None) -> None:
    """Record the participant's start."""
    if submission.status == "RESERVED":
        submission.started_at = moment.now
        set_status(moment, submission, "ACTIVE")
    elif submission.status != "ACTIVE":
        raise _transition_error(submission, "START")


def approve(moment: Moment, submission: Submission, _fields: object = None) -> None:
    """Approve a submission and pay its reward.

    Raises:
        RefusedError: The submission is not awaiting review.
    """
    if submission.status == "APPROVED":
        return
    if submission.status != "AWAITING REVIEW":
        raise _transition_error(submission, "APPROVE")
    submission.reviewed_at = moment.now
    record_payment(moment, submission, "reward", submission.study.reward)
    set_status(moment, submission, "APPROVED")


def reject(moment: Moment, submission: Submission, fields: dict[str, Any]) -> None:
    """Reject a submission without payment.

    Raises:
        RefusedError: The submission is not awaiting review, or the reason is too short.
    """
    message, category = fields.get("message") or "", fields.get("rejection_category")
    wrong: dict[str, list[str]] = {}
    if len(message) < _LEAST_REASON_CHARS:
        wrong["message"] = [f"At least {_LEAST_REASON_CHARS} characters are needed."]
    if category not in CATEGORIES:
        wrong["rejection_category"] = [f"One of: {', '.join(CATEGORIES)}."]
    if wrong:
        raise RefusedError(wrong)
    if submission.status == "REJECTED":
        return
    if submission.status != "AWAITING REVIEW":
        raise _transition_error(submission, "REJECT")
    submission.reviewed_at, submission.rejection_category = moment.now, category
    set_status(moment, submission, "REJECTED")
    send_message(moment, submission.participant, submission.study.ref, message)


def mark_returned(moment: Moment, submission: Submission, _fields: object = None) -> None:
    """Mark a submission as returned: it is neither paid nor rejected."""
    if submission.status == "RETURNED":
        return
    if submission.status not in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
        raise _transition_error(submission, "RETURN")
    set_status(moment, submission, "RETURNED")


def ask_to_return(moment: Moment, submission: Submission, reasons: list[str]) -> None:
    """Ask the participant to return the submission."""
    if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
        raise _transition_error(submission, "request-return")
    submission.return_requested = submission.return_requested or moment.now
    body = f"The researcher asks you to return this submission: {', '.join(reasons)}"
    send_message(moment, submission.participant, submission.study.ref, body)


def _unreject(moment: Moment, submission: Submission, _fields: object) -> None:
    if submission.status == "AWAITING REVIEW":
        return
    if submission.status != "REJECTED":
        raise _transition_error(submission, "UNREJECT")
    submission.reviewed_at = submission.rejection_category = None
    submission.unrejected = True
    set_status(moment, submission, "AWAITING REVIEW")


def _unreturn(moment: Moment, submission: Submission, _fields: object) -> None:
    if submission.status in ("ACTIVE", "AWAITING REVIEW"):
        return
    if submission.status != "RETURNED":
        raise _transition_error(submission, "UNRETURN")
    set_status(moment, submission, "AWAITING REVIEW" if submission.completed_at else "ACTIVE")


def _complete(moment: Moment, submission: Submission, fields: dict[str, Any]) -> None:
    complete_with_code(
        moment,
        submission,
        fields.get("completion_code") or "",
        "researcher",
        fields.get("completion_code_data") or {},
    )


def _refuse_screen_out(_moment: Moment, _submission: Submission, _fields: object) -> None:
    raise RefusedError(
        "Custom screening is no longer offered: complete the submission with a code whose action"
        " is FIXED_SCREEN_OUT_PAYMENT."
    )


def _transition_error(submission: Submission, action: str) -> RefusedError:
    return RefusedError(
        f"A submission that is {submission.status} cannot do {action}.",
        code=140008,
        title="Transition not allowed",
    )


_ACTIONS: dict[str, Callable[[Moment, Submission, dict[str, Any]], None]] = {
    "APPROVE": approve,
    "COMPLETE": _complete,
    "REJECT": reject,
    "RETURN": mark_returned,
    "START": mark_started,
    "SCREEN_OUT": _refuse_screen_out,
    "UNREJECT": _unreject,
    "UNRETURN": _unreturn,
}
ACTIONS = tuple(_ACTIONS)
