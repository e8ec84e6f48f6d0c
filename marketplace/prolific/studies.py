"""A study's state machine: published, paused, started, stopped, full and reviewed."""

from collections.abc import Callable
from datetime import datetime

from marketplace.prolific.errors import RefusedError
from marketplace.prolific.money import (
    TAKING_STATUSES,
    count_by_status,
    find_screen_out,
    refuse_overdraft,
)
from marketplace.prolific.store import Moment, Study
from marketplace.prolific.webhooks import report_many_returns, set_study_status

_AUTOMATIC_STATUSES = ("ACTIVE", "AWAITING REVIEW", "COMPLETED")


def update_status(moment: Moment, study: Study) -> None:
    """Update a published study's status from its submissions."""
    moment.session.flush()
    by_status = count_by_status(moment.session, study)
    report_many_returns(moment, study, by_status)
    if study.stopped or study.status not in _AUTOMATIC_STATUSES:
        return
    screening = find_screen_out(study)
    if screening is not None and by_status.get("SCREENED OUT", 0) >= screening["slots"]:
        set_study_status(moment, study, "PAUSED")
        return
    is_full = sum(by_status.get(status, 0) for status in TAKING_STATUSES) >= study.places
    working = by_status.get("RESERVED", 0) + by_status.get("ACTIVE", 0)
    waiting = by_status.get("AWAITING REVIEW", 0)
    new_status = (
        "ACTIVE" if working or not is_full else "AWAITING REVIEW" if waiting else "COMPLETED"
    )
    set_study_status(moment, study, new_status)


def apply_action(moment: Moment, study: Study, action: str, publish_at: datetime | None) -> None:
    """Carry out a researcher's action on a study.

    Raises:
        RefusedError: The study's status does not allow the action.
    """
    allowed_statuses, do = _ACTIONS[action]
    if study.status not in allowed_statuses:
        raise RefusedError(
            f"A study that is {study.status} cannot do {action}.",
            code=140005,
            title="Transition not allowed",
        )
    do(moment, study, publish_at)


def publish(moment: Moment, study: Study, _publish_at: datetime | None = None) -> None:
    """Publish a study, so that participants can find it.

    Raises:
        RefusedError: The pay is too low, or the cost exceeds the available money.
    """
    _refuse_poor_pay(moment, study)
    study.published_at = moment.now
    set_study_status(moment, study, "ACTIVE")
    refuse_overdraft(moment)


def add_places(moment: Moment, study: Study, places: int) -> None:
    """Add places to a published study; a stopped or completed study becomes active again.

    Raises:
        RefusedError: The number is smaller than before, or the cost exceeds the money.
    """
    if places < study.places:
        raise RefusedError({"total_available_places": ["Places can only be increased."]})
    if places == study.places:
        return
    study.fields = {**study.fields, "total_available_places": places}
    if study.status in ("AWAITING REVIEW", "COMPLETED"):
        study.stopped = False
        set_study_status(moment, study, "ACTIVE")
    refuse_overdraft(moment)


def _schedule(_moment: Moment, study: Study, publish_at: datetime | None) -> None:
    if publish_at is None and study.publish_at is None:
        raise RefusedError({"publish_at": ["A time to publish at is needed."]})
    study.publish_at = publish_at or study.publish_at
    study.status = "SCHEDULED"


def _unschedule(_moment: Moment, study: Study, _publish_at: datetime | None) -> None:
    study.publish_at, study.status = None, "UNPUBLISHED"


def _pause(moment: Moment, study: Study, _publish_at: datetime | None) -> None:
    set_study_status(moment, study, "PAUSED")


def _start(moment: Moment, study: Study, _publish_at: datetime | None) -> None:
    screening = find_screen_out(study)
    n_used = count_by_status(moment.session, study).get("SCREENED OUT", 0)
    if screening is not None and n_used >= screening["slots"]:
        raise RefusedError("All screen-out slots are used; give the study more of them first.")
    set_study_status(moment, study, "ACTIVE")
    update_status(moment, study)


def _stop(moment: Moment, study: Study, _publish_at: datetime | None) -> None:
    study.stopped = True
    set_study_status(moment, study, "COMPLETED")


def _refuse_poor_pay(moment: Moment, study: Study) -> None:
    per_hour = study.reward * 60 / float(study.fields["estimated_completion_time"])
    if per_hour < moment.account.least_per_hour_minor:
        raise RefusedError(
            {"reward": ["The reward is below the platform's lowest pay for an hour."]},
            code=140006,
            title="Reward too low",
        )


_Action = Callable[[Moment, Study, datetime | None], None]
_ACTIONS: dict[str, tuple[tuple[str, ...], _Action]] = {
    "PUBLISH": (("UNPUBLISHED", "SCHEDULED"), publish),
    "SCHEDULE_PUBLISH": (("UNPUBLISHED",), _schedule),
    "CANCEL_PUBLISH": (("SCHEDULED",), _unschedule),
    "PAUSE": (("ACTIVE",), _pause),
    "START": (("PAUSED",), _start),
    "STOP": (("ACTIVE", "PAUSED"), _stop),
}
ACTIONS = tuple(_ACTIONS)
