"""The progress of a run: its lists, participants, durations and problems.

Nothing here reveals how often participants chose the expected option: the researchers of a study
stay blind to its result until the run is unblinded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median

from sqlalchemy import case, exists, func, select
from sqlalchemy.orm import Session

from experiment.participation import State
from experiment.payment.payment import SETTLED_FOR_GOOD, PaymentKind, PaymentState
from webapp.database.models import (
    Assignment,
    LinkVisit,
    Participant,
    Payment,
    Place,
    Run,
    RunCount,
    Verdict,
)
from webapp.database.row_counts import PLACES, TAKEN, participants_in
from webapp.recruiters.statuses import AssignmentStatus
from webapp.runs.runs import count_verdicts, count_with_events
from webapp.sessions.lease import ACTIVE_STATES, find_expired_participants

# More would cost time and hardly change the median.
_MOST_FOR_MEDIAN = 300
_EARLIEST_TIME = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListProgress:
    """The progress of one list: its places by their state. A place is a participant slot."""

    list: int
    places: int
    finished: int
    at_work: int

    @property
    def free(self) -> int:
        """The free places."""
        return self.places - self.finished - self.at_work


@dataclass(frozen=True, slots=True)
class Overview:
    """The progress of a run.

    Attributes:
        lists: The run's lists, in order.
        states: The number of participants in each state, including empty states.
        kept: The number of participants whom verdicts keep.
        excluded: The number of excluded participants, by rule.
        median_minutes: The median time from consent to the end, of at most the last 300 finished
            participants; None before anybody finished.
        silent: How many participants hold a place and have been silent for longer than the lease.
        refused_links: How many opened links were malformed.
        unsettled_payments: How many payments are neither done nor withdrawn.
        rejected_kept: How many kept participants were rejected on the platform.
        with_events: How many participants have a recorded event, as of the last summary.
        paid: How many participants got money.
        spent_minor: The total paid to participants, without the platform's fee, in minor units of
            the run's currency.
        committed_minor: The amount still to be paid if all active participants finish: payments
            that are not done, and the reward of finished or active participants whose reward no
            ledger line decides. Without the platform's fee.
    """

    lists: Sequence[ListProgress]
    states: dict[State, int]
    kept: int
    excluded: dict[str, int]
    median_minutes: float | None
    silent: int
    refused_links: int
    unsettled_payments: int
    rejected_kept: int
    with_events: int
    paid: int
    spent_minor: int
    committed_minor: int

    @property
    def places(self) -> int:
        """The places of all lists."""
        return sum(progress.places for progress in self.lists)

    def hourly_minor(self, reward_minor: int) -> int | None:
        """Return a reward's hourly pay at the median time; None before anybody finished."""
        return round(reward_minor * 60 / self.median_minutes) if self.median_minutes else None


def make_overview(session: Session, run: Run, now: datetime, reward_minor: int = 0) -> Overview:
    """Return the progress of a run.

    Args:
        session: A reading session.
        run: The run.
        now: The time now.
        reward_minor: The reward of a participant who finishes; 0 if the run pays nobody.
    """
    counts_by_state = _count_states(session, run)
    kept, excluded = count_verdicts(session, run)
    refused_query = select(func.count()).where(LinkVisit.run_id == run.id, LinkVisit.problem != "")
    unsettled = select(func.count()).where(
        Payment.run_id == run.id, Payment.state.not_in(SETTLED_FOR_GOOD)
    )
    rejected = (
        select(func.count())
        .select_from(Assignment)
        .join(Verdict, Verdict.participant_id == Assignment.participant_id)
        .where(
            Assignment.run_id == run.id,
            Assignment.status == AssignmentStatus.REJECTED,
            Verdict.kept,
        )
    )
    paid, spent_minor, unsettled_minor = _sum_payments(session, run)
    unpaid = _count_undecided_rewards(session, run) if reward_minor else 0
    return Overview(
        lists=_count_lists(session, run),
        states=counts_by_state,
        kept=kept,
        excluded=excluded,
        median_minutes=_compute_median_minutes(session, run),
        silent=len(find_expired_participants(session, run, now)),
        refused_links=session.execute(refused_query).scalar_one(),
        unsettled_payments=session.execute(unsettled).scalar_one(),
        rejected_kept=session.execute(rejected).scalar_one(),
        with_events=count_with_events(session, run),
        paid=paid,
        spent_minor=spent_minor,
        committed_minor=unsettled_minor + reward_minor * unpaid,
    )


def _count_states(session: Session, run: Run) -> dict[State, int]:
    subjects = {participants_in(state): state for state in State}
    rows = session.execute(
        select(RunCount.subject, func.sum(RunCount.n))
        .where(RunCount.run_id == run.id, RunCount.subject.in_(subjects))
        .group_by(RunCount.subject)
    )
    return dict.fromkeys(State, 0) | {subjects[subject]: n for subject, n in rows}


def _count_lists(session: Session, run: Run) -> list[ListProgress]:
    """Return the lists' progress; only the rows of active participants are read."""
    list_counts = session.execute(
        select(RunCount.list, RunCount.subject, func.sum(RunCount.n))
        .where(RunCount.run_id == run.id, RunCount.subject.in_((PLACES, TAKEN)))
        .group_by(RunCount.list, RunCount.subject)
    )
    counts = {(list_, subject): n for list_, subject, n in list_counts}
    # A sum, so that SQLite looks up the active participants instead of scanning all in list order.
    of_list = (Participant.list + 0).label("of_list")
    active = session.execute(
        select(of_list, func.count())
        .join(Place, Place.participant_id == Participant.id)
        .where(Participant.run_id == run.id, Participant.state.in_(ACTIVE_STATES))
        .group_by(of_list)
    )
    at_work = dict(active.all())
    lists = sorted({list_ for list_, subject in counts if subject == PLACES})
    return [
        ListProgress(
            list_,
            counts[list_, PLACES],
            counts.get((list_, TAKEN), 0) - at_work.get(list_, 0),
            at_work.get(list_, 0),
        )
        for list_ in lists
    ]


def _sum_payments(session: Session, run: Run) -> tuple[int, int, int]:
    """Return how many participants got money, the amount paid, and the amount not yet paid."""
    done = Payment.state == PaymentState.DONE
    waits = Payment.state.not_in(SETTLED_FOR_GOOD)
    payment_sums = session.execute(
        select(
            func.count(case((done, Payment.worker_key)).distinct()),
            func.sum(case((done, Payment.amount_minor), else_=0)),
            func.sum(case((waits, Payment.amount_minor), else_=0)),
        ).where(Payment.run_id == run.id, Payment.kind != PaymentKind.REJECTION)
    ).one()
    paid, spent_minor, unsettled_minor = payment_sums
    return paid, spent_minor or 0, unsettled_minor or 0


# Ledger lines of these kinds decide whether the reward is paid.
_DECIDE_ON_REWARD = (
    PaymentKind.REWARD,
    PaymentKind.REJECTION,
    PaymentKind.COMPENSATION,
    PaymentKind.SCREEN_OUT,
)


def _count_undecided_rewards(session: Session, run: Run) -> int:
    decision = exists().where(
        Payment.participant_id == Participant.id,
        Payment.kind.in_(_DECIDE_ON_REWARD),
        Payment.state != PaymentState.WITHDRAWN,
    )
    owed = select(func.count()).where(
        Participant.run_id == run.id,
        Participant.state.in_((State.WORKING, State.ANSWERED, State.FINISHED)),
        ~decision,
    )
    return session.execute(owed).scalar_one()


def _compute_median_minutes(session: Session, run: Run) -> float | None:
    """Return the median duration of all finished participants, or of the last ``_FOR_MEDIAN``."""
    rows = session.execute(
        select(Participant.consented_at, Participant.finished_at)
        .where(Participant.run_id == run.id, Participant.finished_at > _EARLIEST_TIME)
        .order_by(Participant.finished_at.desc())
        .limit(_MOST_FOR_MEDIAN)
    )
    minutes = [(end - begun) / timedelta(minutes=1) for begun, end in rows if begun and end]
    return median(minutes) if minutes else None
