"""Changes that happen as time passes."""

from datetime import timedelta

from sqlalchemy import bindparam, exists, func, or_, select

from marketplace.prolific.errors import RefusedError
from marketplace.prolific.money import record_payment
from marketplace.prolific.store import BonusSetup, Job, Moment, Study, Submission
from marketplace.prolific.studies import publish, update_status
from marketplace.prolific.submissions import approve, is_exceptionally_fast
from marketplace.prolific.webhooks import set_status
from marketplace.storage import UtcDateTime

_RESERVATION_TIME = timedelta(minutes=10)
AUTO_APPROVAL_DELAY = timedelta(days=21)
_FAST_REVIEW_DELAY = timedelta(minutes=1)
_NOW, _RESERVED_BY, _COMPLETED_BY = (
    bindparam(name, type_=UtcDateTime) for name in ("now", "reserved_by", "completed_by")
)
# Every call checks, and usually nothing is due: so one prepared query checks all of it.
_MAY_BE_DUE = select(
    or_(
        exists().where(Study.status == "SCHEDULED", Study.publish_at <= _NOW),
        exists().where(Job.done.is_(False), Job.due_at <= _NOW),
        # The time limit of an active submission depends on its study.
        exists().where(Submission.status == "ACTIVE"),
        exists().where(
            Submission.status == "RESERVED",
            func.coalesce(Submission.started_at, Submission.reserved_at) < _RESERVED_BY,
        ),
        exists().where(
            Submission.status == "AWAITING REVIEW", Submission.completed_at <= _COMPLETED_BY
        ),
    )
)


def apply_expiry(moment: Moment) -> None:
    """Apply all changes that are due by now."""
    bounds = {
        "now": moment.now,
        "reserved_by": moment.now - _RESERVATION_TIME,
        "completed_by": moment.now - _FAST_REVIEW_DELAY,
    }
    if not moment.session.scalar(_MAY_BE_DUE, bounds):
        return
    _publish_scheduled(moment)
    _run_jobs(moment)
    changed_submissions = [*_time_out_submissions(moment), *_review_automatically(moment)]
    for study in {
        submission.study.id: submission.study for submission in changed_submissions
    }.values():
        update_status(moment, study)


def _publish_scheduled(moment: Moment) -> None:
    is_due = (Study.status == "SCHEDULED", Study.publish_at <= moment.now)
    for study in moment.session.scalars(select(Study).where(*is_due)).all():
        try:
            with moment.session.begin_nested():
                publish(moment, study)
        except RefusedError:
            study.status, study.publish_at = "UNPUBLISHED", None


def _time_out_submissions(moment: Moment) -> list[Submission]:
    timed_out = []
    working = Submission.status.in_(("RESERVED", "ACTIVE"))
    for submission in moment.session.scalars(select(Submission).where(working)).all():
        allowed_time = timedelta(minutes=float(submission.study.fields["maximum_allowed_time"]))
        started_at = submission.started_at or submission.reserved_at
        if moment.now - started_at > (
            allowed_time if submission.status == "ACTIVE" else _RESERVATION_TIME
        ):
            set_status(moment, submission, "TIMED-OUT")
            timed_out.append(submission)
    return timed_out


def _review_automatically(moment: Moment) -> list[Submission]:
    reviewed_submissions = []
    waiting = select(Submission).where(Submission.status == "AWAITING REVIEW")
    for submission in moment.session.scalars(waiting).all():
        waiting_time = moment.now - (submission.completed_at or moment.now)
        if waiting_time >= AUTO_APPROVAL_DELAY:
            approve(moment, submission)
            reviewed_submissions.append(submission)
        elif waiting_time >= _FAST_REVIEW_DELAY and _is_rejected_automatically(submission):
            submission.rejection_category = "EXCEPTIONALLY_FAST"
            submission.reviewed_at = moment.now
            set_status(moment, submission, "REJECTED")
            reviewed_submissions.append(submission)
    return reviewed_submissions


def _is_rejected_automatically(submission: Submission) -> bool:
    categories = submission.study.fields["submissions_config"].get("auto_rejection_categories", [])
    # Un-rejected submissions, and those with a return request, are not rejected automatically.
    is_spared = submission.return_requested is not None or submission.unrejected
    return (
        "EXCEPTIONALLY_FAST" in categories and not is_spared and is_exceptionally_fast(submission)
    )


def _run_jobs(moment: Moment) -> None:
    is_due = (Job.done.is_(False), Job.due_at <= moment.now)
    for job in moment.session.scalars(select(Job).where(*is_due).order_by(Job.id)).all():
        job.done = True
        (_pay_bonuses if job.kind == "bonus" else _approve_all)(moment, job.ids)


def _pay_bonuses(moment: Moment, setups: list[str]) -> None:
    for setup in moment.session.scalars(select(BonusSetup).where(BonusSetup.ref.in_(setups))):
        for row, amount in setup.lines:
            submission = moment.session.get_one(Submission, row)
            record_payment(moment, submission, "bonus", amount, setup.ref)


def _approve_all(moment: Moment, refs: list[str]) -> None:
    waiting = select(Submission).where(
        Submission.ref.in_(refs), Submission.status == "AWAITING REVIEW"
    )
    for submission in moment.session.scalars(waiting).all():
        approve(moment, submission)
        update_status(moment, submission.study)
