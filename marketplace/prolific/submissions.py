"""A submission's state machine: reserved, active, completed, and reviewed."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from marketplace.prolific.codes import complete
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.money import pay
from marketplace.prolific.people import write
from marketplace.prolific.store import Moment
from marketplace.prolific.studies import settle
from marketplace.prolific.tables import Submission
from marketplace.prolific.webhooks import set_status

CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
_LEAST_REASON_CHARS = 100


def find(moment: Moment, ref: str) -> Submission:
    """Return a submission.

    Raises:
        UnknownError: No submission has that identifier.
    """
    found = moment.session.scalar(select(Submission).where(Submission.ref == ref))
    if found is None:
        raise UnknownError("submission")
    return found


def transition(moment: Moment, submission: Submission, asked: dict[str, Any]) -> None:
    """Carry out a researcher's action on a submission; an action already done changes nothing.

    Raises:
        RefusedError: The submission's status does not allow the action.
    """
    _ACTIONS[asked["action"]](moment, submission, asked)
    settle(moment, submission.study)


def start(moment: Moment, submission: Submission, _asked: object = None) -> None:
    """Record the participant's start."""
    if submission.status == "RESERVED":
        submission.started_at = moment.now
        set_status(moment, submission, "ACTIVE")
    elif submission.status != "ACTIVE":
        raise _impossible(submission, "START")


def approve(moment: Moment, submission: Submission, _asked: object = None) -> None:
    """Approve a submission and pay its reward.

    Raises:
        RefusedError: The submission is not awaiting review.
    """
    if submission.status == "APPROVED":
        return
    if submission.status != "AWAITING REVIEW":
        raise _impossible(submission, "APPROVE")
    submission.reviewed_at = moment.now
    pay(moment, submission, "reward", submission.study.reward)
    set_status(moment, submission, "APPROVED")


def reject(moment: Moment, submission: Submission, asked: dict[str, Any]) -> None:
    """Reject a submission without payment.

    Raises:
        RefusedError: The submission is not awaiting review, or the reason is too short.
    """
    message, category = asked.get("message") or "", asked.get("rejection_category")
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
        raise _impossible(submission, "REJECT")
    submission.reviewed_at, submission.rejection_category = moment.now, category
    set_status(moment, submission, "REJECTED")
    write(moment, submission.participant, submission.study.ref, message)


def give_back(moment: Moment, submission: Submission, _asked: object = None) -> None:
    """Mark a submission as returned: it is neither paid nor rejected."""
    if submission.status == "RETURNED":
        return
    if submission.status not in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
        raise _impossible(submission, "RETURN")
    set_status(moment, submission, "RETURNED")


def ask_to_return(moment: Moment, submission: Submission, reasons: list[str]) -> None:
    """Ask the participant to return the submission."""
    if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
        raise _impossible(submission, "request-return")
    submission.return_requested = submission.return_requested or moment.now
    body = f"The researcher asks you to return this submission: {', '.join(reasons)}"
    write(moment, submission.participant, submission.study.ref, body)


def _unreject(moment: Moment, submission: Submission, _asked: object) -> None:
    if submission.status == "AWAITING REVIEW":
        return
    if submission.status != "REJECTED":
        raise _impossible(submission, "UNREJECT")
    submission.reviewed_at = submission.rejection_category = None
    submission.unrejected = True
    set_status(moment, submission, "AWAITING REVIEW")


def _unreturn(moment: Moment, submission: Submission, _asked: object) -> None:
    if submission.status in ("ACTIVE", "AWAITING REVIEW"):
        return
    if submission.status != "RETURNED":
        raise _impossible(submission, "UNRETURN")
    set_status(moment, submission, "AWAITING REVIEW" if submission.completed_at else "ACTIVE")


def _complete(moment: Moment, submission: Submission, asked: dict[str, Any]) -> None:
    complete(
        moment,
        submission,
        asked.get("completion_code") or "",
        "researcher",
        asked.get("completion_code_data") or {},
    )


def _screen_out(_moment: Moment, _submission: Submission, _asked: object) -> None:
    raise RefusedError(
        "Custom screening is no longer offered: complete the submission with a code whose action"
        " is FIXED_SCREEN_OUT_PAYMENT."
    )


def _impossible(submission: Submission, action: str) -> RefusedError:
    return RefusedError(
        f"A submission that is {submission.status} cannot do {action}.",
        code=140008,
        title="Transition not allowed",
    )


_ACTIONS: dict[str, Callable[[Moment, Submission, dict[str, Any]], None]] = {
    "APPROVE": approve,
    "COMPLETE": _complete,
    "REJECT": reject,
    "RETURN": give_back,
    "START": start,
    "SCREEN_OUT": _screen_out,
    "UNREJECT": _unreject,
    "UNRETURN": _unreturn,
}
ACTIONS = tuple(_ACTIONS)
