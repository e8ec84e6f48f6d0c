"""Participants' actions: find a study, take a place, open the study, complete or return it."""

from sqlalchemy import func, select

from marketplace.prolific.errors import ParticipantRefusedError, RefusedError
from marketplace.prolific.money import TAKING, taken
from marketplace.prolific.people import Participant, may_take
from marketplace.prolific.store import Moment, Study, Submission
from marketplace.prolific.studies import settle
from marketplace.prolific.submissions import complete, give_back, start

_WORKING = ("RESERVED", "ACTIVE")


def open_studies(moment: Moment, participant: Participant) -> list[Study]:
    """Return the studies that a participant may take now, newest first."""
    live = select(Study).where(Study.status == "ACTIVE").order_by(Study.id.desc())
    return [study for study in moment.session.scalars(live) if _open(moment, participant, study)]


def _open(moment: Moment, participant: Participant, study: Study) -> bool:
    config = study.fields["submissions_config"]
    own = _own(moment, participant, study)
    most = config["max_submissions_per_participant"] or 1
    if any(each.status in _WORKING for each in own) or (most != -1 and len(own) >= most):
        return False
    if taken(moment.session, study) >= study.places:
        return False
    at_once = config["max_concurrent_submissions"] or -1
    if at_once != -1 and _working(moment, study) >= at_once:
        return False
    return may_take(moment, participant, study)


def take(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Take a place in a study for a participant, and return the new submission.

    Raises:
        ParticipantRefusedError: No place is left for the participant.
    """
    study = next((s for s in open_studies(moment, participant) if s.ref == ref), None)
    if study is None:
        raise ParticipantRefusedError("no_place", "This study has no place for you.", status=404)
    made = Submission(
        study=study,
        participant=participant.ref,
        reserved_at=moment.now,
        link=_free_link(moment, study),
    )
    moment.session.add(made)
    settle(moment, study)
    return made


def own_submission(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Return one of the participant's submissions.

    Raises:
        ParticipantRefusedError: The participant has no submission with that identifier.
    """
    found = moment.session.scalar(
        select(Submission).where(Submission.ref == ref, Submission.participant == participant.ref)
    )
    if found is None:
        raise ParticipantRefusedError("unknown", "You have no such submission.", status=404)
    return found


def open_study(moment: Moment, submission: Submission) -> None:
    """Record the participant's start; opening the study again changes nothing.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    if submission.status not in _WORKING:
        raise _over(submission)
    start(moment, submission)


def enter_code(moment: Moment, participant: Participant, code: str) -> Submission:
    """Complete the study that a participant opened last with a code; return its submission.

    Raises:
        ParticipantRefusedError: The participant has no study in progress.
    """
    working = (
        select(Submission)
        .where(Submission.participant == participant.ref, Submission.status.in_(_WORKING))
        .order_by(Submission.started_at.desc(), Submission.id.desc())
    )
    found = moment.session.scalars(working).first()
    if found is None:
        raise ParticipantRefusedError("nothing", "You are not taking part in any study now.")
    return complete_own(moment, found, code)


def complete_own(moment: Moment, submission: Submission, code: str) -> Submission:
    """Complete a submission with any code that its participant enters.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    try:
        complete(moment, submission, code, "participant", {})
    except RefusedError as error:
        raise _over(submission) from error
    settle(moment, submission.study)
    return submission


def give_back_own(moment: Moment, submission: Submission) -> None:
    """Return (give back) a participant's own submission.

    Raises:
        ParticipantRefusedError: The submission has been reviewed already.
    """
    try:
        give_back(moment, submission)
    except RefusedError as error:
        raise _over(submission) from error
    settle(moment, submission.study)


def _over(submission: Submission) -> ParticipantRefusedError:
    status = submission.status
    return ParticipantRefusedError(status.lower(), f"This submission is {status} already.")


def _own(moment: Moment, participant: Participant, study: Study) -> list[Submission]:
    own = select(Submission).where(
        Submission.study_id == study.id, Submission.participant == participant.ref
    )
    return list(moment.session.scalars(own))


def _working(moment: Moment, study: Study) -> int:
    counted = select(func.count()).where(
        Submission.study_id == study.id, Submission.status.in_(_WORKING)
    )
    return moment.session.execute(counted).scalar_one()


def _free_link(moment: Moment, study: Study) -> int:
    used = dict(
        moment.session.execute(
            select(Submission.link, func.count())
            .where(Submission.study_id == study.id, Submission.status.in_(TAKING))
            .group_by(Submission.link)
        ).all()
    )
    links = study.fields.get("access_details", [])
    free = (n for n, link in enumerate(links) if used.get(n, 0) < link["total_allocation"])
    return next(free, 0)
