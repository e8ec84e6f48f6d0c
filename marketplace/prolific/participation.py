"""Participants' actions: find a study, take a place, open the study, complete or return it."""

from sqlalchemy import func, select

from marketplace.prolific.errors import ParticipantRefusedError, RefusedError
from marketplace.prolific.money import TAKING_STATUSES, count_taken_places
from marketplace.prolific.people import Participant, is_eligible
from marketplace.prolific.store import Moment, Study, Submission
from marketplace.prolific.studies import update_status
from marketplace.prolific.submissions import complete_with_code, mark_returned, mark_started

_IN_PROGRESS = ("RESERVED", "ACTIVE")


def open_studies(moment: Moment, participant: Participant) -> list[Study]:
    """Return the studies that a participant may take now, newest first."""
    live = select(Study).where(Study.status == "ACTIVE").order_by(Study.id.desc())
    return [study for study in moment.session.scalars(live) if _is_open(moment, participant, study)]


def _is_open(moment: Moment, participant: Participant, study: Study) -> bool:
    config = study.fields["submissions_config"]
    own_submissions = _own_submissions(moment, participant, study)
    most_submissions = config["max_submissions_per_participant"] or 1
    if any(submission.status in _IN_PROGRESS for submission in own_submissions) or (
        most_submissions != -1 and len(own_submissions) >= most_submissions
    ):
        return False
    if count_taken_places(moment.session, study) >= study.places:
        return False
    at_once = config["max_concurrent_submissions"] or -1
    if at_once != -1 and _count_in_progress(moment, study) >= at_once:
        return False
    return is_eligible(moment, participant, study)


def take_place(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Take a place in a study for a participant, and return the new submission.

    Raises:
        ParticipantRefusedError: No place is left for the participant.
    """
    study = next((s for s in open_studies(moment, participant) if s.ref == ref), None)
    if study is None:
        raise ParticipantRefusedError("no_place", "This study has no place for you.", status=404)
    submission = Submission(
        study=study,
        participant=participant.ref,
        reserved_at=moment.now,
        link=_free_link(moment, study),
    )
    moment.session.add(submission)
    update_status(moment, study)
    return submission


def find_own_submission(moment: Moment, participant: Participant, ref: str) -> Submission:
    """Return one of the participant's submissions.

    Raises:
        ParticipantRefusedError: The participant has no submission with that identifier.
    """
    submission = moment.session.scalar(
        select(Submission).where(Submission.ref == ref, Submission.participant == participant.ref)
    )
    if submission is None:
        raise ParticipantRefusedError("unknown", "You have no such submission.", status=404)
    return submission


def open_study(moment: Moment, submission: Submission) -> None:
    """Record the participant's start; opening the study again changes nothing.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    if submission.status not in _IN_PROGRESS:
        raise _closed_error(submission)
    mark_started(moment, submission)


def enter_code(moment: Moment, participant: Participant, code: str) -> Submission:
    """Complete the study that a participant opened last with a code; return its submission.

    Raises:
        ParticipantRefusedError: The participant has no study in progress.
    """
    working = (
        select(Submission)
        .where(Submission.participant == participant.ref, Submission.status.in_(_IN_PROGRESS))
        .order_by(Submission.started_at.desc(), Submission.id.desc())
    )
    submission = moment.session.scalars(working).first()
    if submission is None:
        raise ParticipantRefusedError("nothing", "You are not taking part in any study now.")
    return complete_submission(moment, submission, code)


def complete_submission(moment: Moment, submission: Submission, code: str) -> Submission:
    """Complete a submission with any code that its participant enters.

    Raises:
        ParticipantRefusedError: The submission is no longer in progress.
    """
    try:
        complete_with_code(moment, submission, code, "participant", {})
    except RefusedError as error:
        raise _closed_error(submission) from error
    update_status(moment, submission.study)
    return submission


def return_submission(moment: Moment, submission: Submission) -> None:
    """Return (give back) a participant's own submission.

    Raises:
        ParticipantRefusedError: The submission has been reviewed already.
    """
    try:
        mark_returned(moment, submission)
    except RefusedError as error:
        raise _closed_error(submission) from error
    update_status(moment, submission.study)


def _closed_error(submission: Submission) -> ParticipantRefusedError:
    status = submission.status
    return ParticipantRefusedError(status.lower(), f"This submission is {status} already.")


def _own_submissions(moment: Moment, participant: Participant, study: Study) -> list[Submission]:
    query = select(Submission).where(
        Submission.study_id == study.id, Submission.participant == participant.ref
    )
    return list(moment.session.scalars(query))


def _count_in_progress(moment: Moment, study: Study) -> int:
    count_query = select(func.count()).where(
        Submission.study_id == study.id, Submission.status.in_(_IN_PROGRESS)
    )
    return moment.session.execute(count_query).scalar_one()


def _free_link(moment: Moment, study: Study) -> int:
    used = dict(
        moment.session.execute(
            select(Submission.link, func.count())
            .where(Submission.study_id == study.id, Submission.status.in_(TAKING_STATUSES))
            .group_by(Submission.link)
        ).all()
    )
    links = study.fields.get("access_details", [])
    free = (n for n, link in enumerate(links) if used.get(n, 0) < link["total_allocation"])
    return next(free, 0)
