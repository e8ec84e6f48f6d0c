"""The compared data (a run's records, its ledger, the platform's lists) and its discrepancies.

Bonuses that the platform lists are matched with lines of the ledger.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentItem, PaymentKind, PaymentState
from experiment.studies.study import Study
from webapp.core.sealing import forgotten_id, is_forgotten
from webapp.core.tokens import Tokens
from webapp.database.engine import Sessions, reading
from webapp.database.models import Assignment, Hit, Payment, Run
from webapp.database.row_counts import find_wrong_counts
from webapp.payments.accounts import PayeeAccount, load_accounts
from webapp.payments.ledger import BY_HAND_PREFIX, is_claimed, load_payments
from webapp.payments.platform_payments import get_bonus_mark, is_paid_as_bonus
from webapp.payments.reconciliation.statement import (
    Statement,
    build_statements,
    compute_platform_pay_minor,
)
from webapp.privacy.forget import find_forgotten_participants
from webapp.recruiters.capabilities import TokenBonuses, TwoStepBonuses
from webapp.recruiters.platform import Bonus, Platform
from webapp.recruiters.statuses import ACTIVE_STATUSES, SUBMITTED_STATUSES
from webapp.runs.runs import load_launched_study
from webapp.sessions.lease import find_expired_participants

_MARK_PATTERN = re.compile(r"\[[0-9a-f]{12}\]$")


@dataclass(frozen=True, slots=True)
class MatchedBonuses:
    """The platform's list of bonuses, matched with the ledger.

    Attributes:
        all_listed: Every bonus that the platform shows.
        n_shown: How often it shows each payment, by the payment's id.
        unrecorded: Bonuses that Parallax did not pay, each with its item for the ledger.
    """

    all_listed: Sequence[Bonus]
    n_shown: Counter[int]
    unrecorded: Sequence[tuple[Bonus, PaymentItem]]


def load_bonuses(
    platform: Platform,
    offers: Iterable[str],
    assignments: Iterable[tuple[str, str]],
    payments: Sequence[Payment],
    is_gone: Callable[[Bonus], bool] = lambda _: False,
) -> MatchedBonuses:
    """Return the platform's list of bonuses, matched with the ledger.

    Args:
        platform: The platform; one that pays no bonuses lists none.
        offers: The platform's ids of the run's offers.
        assignments: The platform's ids of the run's assignments and of their workers.
        payments: The whole ledger.
        is_gone: Whether a bonus belongs to an erased participant and is ignored here.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    if isinstance(platform, TwoStepBonuses):
        amounts_listed = [
            Bonus(worker_id, assignment_id, amount_minor)
            for assignment_id, worker_id in dict(assignments).items()
            for amount_minor in platform.bonuses_of(assignment_id)
        ]
        return match_bonuses(platform, amounts_listed, payments)
    if isinstance(platform, TokenBonuses):
        bonuses = (bonus for offer in offers for bonus in platform.bonuses(offer))
        return match_bonuses(platform, [bonus for bonus in bonuses if not is_gone(bonus)], payments)
    return MatchedBonuses((), Counter(), ())


def match_bonuses(
    platform: Platform, bonuses: Sequence[Bonus], payments: Sequence[Payment]
) -> MatchedBonuses:
    """Return a platform's listed bonuses, matched with the ledger as it is now."""
    if isinstance(platform, TwoStepBonuses):
        return _match_by_amount(
            bonuses, [line for line in payments if is_paid_as_bonus(platform, line)]
        )
    return _match_by_mark(bonuses, payments)


def _match_by_mark(bonuses: Sequence[Bonus], payments: Sequence[Payment]) -> MatchedBonuses:
    marks = {get_bonus_mark(line): line.id for line in payments if line.kind == PaymentKind.BONUS}
    counts, unmatched = Counter[int](), list[tuple[Bonus, PaymentItem]]()
    for bonus in bonuses:
        match = _MARK_PATTERN.search(bonus.reason)
        if match is not None and match[0] in marks:
            counts[marks[match[0]]] += 1
        else:
            granted_at = bonus.granted_at.isoformat() if bonus.granted_at else ""
            unmatched.append((bonus, _build_item(bonus, f"{granted_at}\x1f{bonus.reason}")))
    return MatchedBonuses(bonuses, counts, unmatched)


def _match_by_amount(bonuses: Sequence[Bonus], lines: Sequence[Payment]) -> MatchedBonuses:
    """Match bonuses that show only their amount: each with one line, in the lines' order."""
    open_lines = [line for line in lines if line.state == PaymentState.DONE]
    # An ordered, unsettled payment may be the one that is shown: it is not a payment by hand.
    open_lines += [line for line in lines if line.state != PaymentState.DONE and line.ordered_at]
    counts, unmatched = Counter[int](), list[tuple[Bonus, PaymentItem]]()
    serials = Counter((line.assignment, line.amount_minor) for line in lines)
    for bonus in bonuses:
        key = (bonus.assignment_id, bonus.amount_minor)
        line = next(
            (
                candidate
                for candidate in open_lines
                if (candidate.assignment, candidate.amount_minor) == key
            ),
            None,
        )
        if line is not None:
            open_lines.remove(line)
            counts[line.id] += 1
            continue
        serials[key] += 1
        unmatched.append((bonus, _build_item(bonus, f"{bonus.amount_minor}\x1f{serials[key]}")))
    return MatchedBonuses(bonuses, counts, unmatched)


def _build_item(bonus: Bonus, serial: str) -> PaymentItem:
    return PaymentItem(
        bonus.assignment_id,
        PaymentKind.BONUS,
        bonus.amount_minor,
        bonus.reason,
        f"{BY_HAND_PREFIX}{serial}",
    )


def find_unrecorded(bonuses: MatchedBonuses, run_ref: str, payments: Iterable[Payment]) -> Iterator[
    tuple[Bonus, PaymentItem]
]:  # fmt: skip
    """Yield each bonus that Parallax did not pay and the ledger does not hold."""
    tokens = {payment.token for payment in payments}
    for bonus, item in bonuses.unrecorded:
        if item.token(run_ref) not in tokens:
            yield bonus, item


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One discrepancy between our records and the platform's.

    Attributes:
        problem: Its name, for programs.
        who: A participant's reference; the platform's id of an assignment without a participant; or
            the beginning of an offer's token.
        detail: What was seen.
        remedy: What to do about it.
        safe: Whether ``--fix`` corrects it.
    """

    problem: str
    who: str
    detail: str
    remedy: str
    safe: bool = False


@dataclass(frozen=True)
class PaymentSnapshot:
    """A run's records, its ledger and the platform's lists at one time.

    Attributes:
        run_ref: The run's reference.
        accounts: The accounts of all consenting participants.
        assignments: Every submitted assignment of the run's recruitment.
        hits: Every offer.
        payments: The whole ledger.
        bonuses: Every bonus that the platform lists, and its line of the ledger.
        posted_rewards: The posted reward of each offer for one submission, by the offer's key.
        platform_rewards: The reward by the platform's report, if the platform has the offer.
        currency: The code of the run's currency.
        receipts: The participant whom a submission's receipt names, by the assignment's id; None if
            it is not one of ours. Empty if the platform does not take our form.
        silent: The references of participants whose places could be given to others.
        claimed: The ids of payments that another process may be making at this moment.
        statements: What each payee is owed and was paid.
        miscounted: The subjects of the run's stored counts that differ from their rows.
        at: The time of the snapshot.
    """

    run_ref: str
    accounts: Sequence[PayeeAccount]
    assignments: Sequence[Assignment]
    hits: Sequence[Hit]
    payments: Sequence[Payment]
    bonuses: MatchedBonuses
    posted_rewards: Mapping[int, int]
    platform_rewards: Mapping[int, int]
    currency: str
    receipts: Mapping[str, str | None]
    silent: Sequence[str]
    claimed: frozenset[int]
    statements: Sequence[Statement]
    miscounted: Sequence[str]
    at: datetime

    @cached_property
    def ledger(self) -> Mapping[str | None, list[Payment]]:
        """The payments by the platform's id of their assignment."""
        lines = defaultdict[str | None, list[Payment]](list)
        for payment in self.payments:
            lines[payment.assignment].append(payment)
        return lines

    def ref(self, participant_id: int | None, otherwise: str) -> str:
        """Return the participant's reference, or a substitute for a payee who has none."""
        return self._refs.get(participant_id, otherwise)

    def participant_of(self, assignment_id: str) -> int | None:
        """Return the key of the participant who submitted an assignment, None if there is none."""
        ids = [a.participant_id for a in self.assignments if a.platform_id == assignment_id]
        # Compensation has assignments of its own, which only the ledger knows.
        ids += [line.participant_id for line in self.ledger.get(assignment_id, [])]
        return next(iter(ids), None)

    @cached_property
    def _refs(self) -> Mapping[int | None, str]:
        return {account.participant.id: account.participant.ref for account in self.accounts}


def take_snapshot(
    sessions: Sessions, platform: Platform, run: Run, tokens: Tokens, now: datetime
) -> PaymentSnapshot:
    """Return the state of the run and its platform; a poll must have fetched the submissions.

    Raises:
        PlatformError: The platform cannot be asked.
    """
    with reading(sessions) as session:
        # Erased participants are not compared: their ids have been deleted.
        forgotten_ids = find_forgotten_participants(session, run)
        submitted = _load_submitted_assignments(session, run)
        assignments = [a for a in submitted if not is_forgotten(a.worker_id)]
        ledger = load_payments(session, run)
        payments = [line for line in ledger if not is_forgotten(line.worker_id)]
        hits = session.scalars(select(Hit).where(Hit.run_id == run.id).order_by(Hit.id)).all()
        payee_accounts = [
            account
            for account in load_accounts(session, run)
            if account.participant.id not in forgotten_ids
        ]
        silent_participants = find_expired_participants(session, run, now)
        wrong_counts = find_wrong_counts(session.connection(), run.id)
        study = load_launched_study(session, run)
        all_assignments = session.scalars(
            select(Assignment).where(Assignment.run_id == run.id)
        ).all()
        identified_assignments = [a for a in all_assignments if not is_forgotten(a.worker_id)]
        stand_ins = {a.platform_id for a in all_assignments} | {line.assignment for line in ledger}
    with_bonus = [a for a in identified_assignments if _may_have_bonus(a, payments)]
    bonuses = load_bonuses(
        platform,
        [hit.platform_id for hit in hits if hit.platform_id],
        [(a.platform_id, a.worker_id) for a in with_bonus],
        payments,
        lambda bonus: forgotten_id(bonus.assignment_id, bonus.worker_id) in stand_ins,
    )
    amounts = {line.token: line.amount_minor for line in ledger}
    posted_rewards = {hit.id: amounts.get(hit.token, study.reward_minor) for hit in hits}
    rewards = _load_platform_rewards(platform, hits, posted_rewards)
    with_receipts = assignments if platform.hands_in_forms else []
    listed = bonuses.all_listed
    platform_minor = _sum_platform_payments(identified_assignments, rewards, listed, study)
    return PaymentSnapshot(
        run_ref=run.ref,
        accounts=payee_accounts,
        assignments=assignments,
        hits=hits,
        payments=payments,
        bonuses=bonuses,
        posted_rewards=posted_rewards,
        platform_rewards=rewards,
        currency=run.currency,
        receipts={a.platform_id: tokens.read_receipt(a.receipt) for a in with_receipts},
        silent=[person.ref for person in silent_participants],
        claimed=frozenset(payment.id for payment in payments if is_claimed(payment, now)),
        statements=build_statements(payee_accounts, payments, study, platform_minor),
        miscounted=sorted({subject for _, subject, _ in wrong_counts}),
        at=now,
    )


def _load_submitted_assignments(session: Session, run: Run) -> Sequence[Assignment]:
    return session.scalars(
        select(Assignment)
        .outerjoin(Hit, Hit.id == Assignment.hit_id)
        .where(Assignment.run_id == run.id, Assignment.status.in_(SUBMITTED_STATUSES))
        .where(Hit.purpose.is_distinct_from("compensation"))
        .order_by(Assignment.id)
    ).all()


def _may_have_bonus(assignment: Assignment, payments: Sequence[Payment]) -> bool:
    # A returned assignment may have been compensated, which an older backup does not know.
    lines = (line for line in payments if line.assignment == assignment.platform_id)
    return assignment.status not in ACTIVE_STATUSES or any(line.amount_minor for line in lines)


def _load_platform_rewards(
    platform: Platform, hits: Sequence[Hit], posted: Mapping[int, int]
) -> Mapping[int, int]:
    """Return each offer's reward as the platform reports it, or else as it was posted."""
    rewards = dict[int, int]()
    for hit in hits:
        if hit.platform_id:
            reward_minor = platform.state(hit.platform_id).reward_minor
            rewards[hit.id] = posted[hit.id] if reward_minor is None else reward_minor
    return rewards


def _sum_platform_payments(
    assignments: Sequence[Assignment],
    platform_rewards: Mapping[int, int],
    bonuses: Sequence[Bonus],
    study: Study,
) -> Mapping[str, int]:
    """Return what the platform paid each payee, by platform id, including compensation."""
    paid = Counter[str]()
    for assignment in assignments:
        reward_minor = platform_rewards.get(assignment.hit_id or 0, study.reward_minor)
        paid[assignment.worker_id] += compute_platform_pay_minor(
            assignment, reward_minor, study.screen_out_minor
        )
    for bonus in bonuses:
        paid[bonus.worker_id] += bonus.amount_minor
    return paid
