"""Events, sent to their subscribers."""

from typing import Any

from sqlalchemy import select

from marketplace.prolific.money import taken
from marketplace.prolific.store import Moment
from marketplace.prolific.tables import Event, Study, Submission, Subscription

STUDY_STATUS, STUDY_PROGRESS = "study.status.change", "study.progress.change"
SUBMISSION_STATUS, HIGH_RETURNS = "submission.status.change", "study.has_high_return_rate"
EVENT_TYPES = {
    STUDY_STATUS: "A study's status changed.",
    SUBMISSION_STATUS: "A submission's status changed.",
    STUDY_PROGRESS: "More of a study's places are taken, or fewer.",
    HIGH_RETURNS: "Many participants return a study.",
}
_MANY_RETURNS, _FEWEST_SUBMISSIONS = 0.3, 10


def set_study_status(moment: Moment, study: Study, status: str) -> None:
    """Change a study's status, and tell."""
    if study.status != status:
        study.status = status
        _tell(moment, STUDY_STATUS, study.ref, {"status": status})


def set_status(moment: Moment, submission: Submission, status: str) -> None:
    """Change a submission's status, and tell; its study is told too how far it has come."""
    if submission.status == status:
        return
    submission.status = status
    moment.session.flush()
    study = submission.study
    about = {"status": status, "study_id": study.ref, "participant_id": submission.participant}
    _tell(moment, SUBMISSION_STATUS, submission.ref, about)
    places = {"places_taken": taken(moment.session, study), "total_places": study.places}
    _tell(moment, STUDY_PROGRESS, study.ref, places)


def tell_many_returns(moment: Moment, study: Study, of: dict[str, int]) -> None:
    """Tell once that many participants return a study."""
    everybody, returned = sum(of.values()), of.get("RETURNED", 0)
    many = everybody >= _FEWEST_SUBMISSIONS and returned > _MANY_RETURNS * everybody
    if many and not study.high_return_told:
        study.high_return_told = True
        _tell(moment, HIGH_RETURNS, study.ref, {"return_rate": returned / everybody})


def _tell(moment: Moment, event_type: str, resource: str, about: dict[str, Any]) -> None:
    subscribed = select(Subscription).where(
        Subscription.event_type == event_type, Subscription.enabled
    )
    for subscription in moment.session.scalars(subscribed):
        payload = {
            "event_type": event_type,
            "resource_id": resource,
            "timestamp": moment.now.isoformat(),
            **about,
        }
        moment.session.add(
            Event(
                subscription_id=subscription.id,
                resource=resource,
                payload=payload,
                created_at=moment.now,
            )
        )
