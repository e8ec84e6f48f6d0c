"""Completion of a submission: find the completion code, and carry out its actions."""

from datetime import timedelta
from typing import Any

from marketplace.prolific.errors import RefusedError
from marketplace.prolific.money import SCREEN_OUT, counts, pay
from marketplace.prolific.people import find_group, join, leave, write
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Submission
from marketplace.prolific.webhooks import set_status

_LOWEST_PERCENT, _HIGHEST_PERCENT = 8, 99


def complete(
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
        known = _code_of(submission, code, actor)
        if known is None:
            raise RefusedError({"completion_code": ["The study has no such code of yours."]})
    else:
        known = _code_of(submission, code, actor)
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
    _act(moment, submission, known["actions"] if known else [], data)


def _code_of(submission: Submission, code: str, actor: str) -> dict[str, Any] | None:
    for each in submission.study.fields["completion_codes"]:
        if each["code"] == code and each.get("actor", "participant") == actor:
            found: dict[str, Any] = each
            return found
    return None


def _act(
    moment: Moment, submission: Submission, actions: list[dict[str, Any]], data: dict[str, Any]
) -> None:
    paid = "AWAITING REVIEW"
    for action in actions:
        name = action["action"]
        if name == "AUTOMATICALLY_APPROVE":
            pay(moment, submission, "reward", submission.study.reward)
            paid = "APPROVED"
        elif name == SCREEN_OUT:
            _screen_out(moment, submission, action)
            paid = "SCREENED OUT"
        elif name == "DYNAMIC_PAYMENT":
            _pay_part(moment, submission, data)
            paid = "PARTIALLY APPROVED"
        elif name == "REQUEST_RETURN":
            submission.return_requested = moment.now
            write(moment, submission.participant, submission.study.ref, action["return_reason"])
        elif name in ("ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"):
            change = join if name.startswith("ADD") else leave
            change(moment, find_group(moment, action["participant_group"]), submission.participant)
    if paid != "AWAITING REVIEW":
        submission.reviewed_at = moment.now
    set_status(moment, submission, paid)


def _screen_out(moment: Moment, submission: Submission, action: dict[str, Any]) -> None:
    used = counts(moment.session, submission.study).get("SCREENED OUT", 0)
    if used >= action["slots"]:
        raise RefusedError("All screen-out slots of the study are used.")
    pay(moment, submission, "screen_out", action["fixed_screen_out_reward"])


def _pay_part(moment: Moment, submission: Submission, data: dict[str, Any]) -> None:
    percent = data.get("percentage_of_reward")
    if not isinstance(percent, int | float) or not _LOWEST_PERCENT <= percent <= _HIGHEST_PERCENT:
        raise RefusedError(
            {"percentage_of_reward": [f"Between {_LOWEST_PERCENT} and {_HIGHEST_PERCENT}."]}
        )
    pay(moment, submission, "partial", int(submission.study.reward * percent // 100))
    message = data.get("message_to_participant")
    if message:
        write(moment, submission.participant, submission.study.ref, message)


def exceptionally_fast(submission: Submission) -> bool:
    """Return whether a submission took less than a tenth of the estimated time."""
    if submission.started_at is None or submission.completed_at is None:
        return False
    estimated = timedelta(minutes=float(submission.study.fields["estimated_completion_time"]))
    return submission.completed_at - submission.started_at < estimated / 10
