"""Checks of money: the ledger against the payments that the platform reports."""

from collections.abc import Iterator

from experiment.money import in_words
from experiment.payment.payment import PaymentItem, PaymentKind, PaymentState
from webapp.database.models import Assignment, Payment
from webapp.payments.platform_payments import is_by_hand
from webapp.payments.reconciliation.snapshot import Discrepancy, Snapshot, unrecorded
from webapp.recruiters.platform import Bonus
from webapp.recruiters.statuses import PAID_STATUSES, AssignmentStatus

REVIEW_DECISIONS: dict[str, PaymentKind] = {
    AssignmentStatus.APPROVED: PaymentKind.REWARD,
    AssignmentStatus.PARTIALLY_APPROVED: PaymentKind.REWARD,
    AssignmentStatus.SCREENED_OUT: PaymentKind.SCREEN_OUT,
    AssignmentStatus.REJECTED: PaymentKind.REJECTION,
}
_UNSETTLED = {
    PaymentState.INTENDED: "was decided, but not started",
    PaymentState.CALLING: "was started by a process that no longer runs",
    PaymentState.ORDERED: "was ordered by a process that no longer runs",
    PaymentState.UNKNOWN: "was started, but the platform did not answer",
    PaymentState.REFUSED: "was refused by the platform",
}
_LOOK_THERE = (
    "--fix asks the platform whether it was paid. If the platform's own site does not show "
    "the payment after a day: parallax settle {run} {id} --not-paid"
)
_UNDO_AGAIN = "Undo the rejection with: parallax approve {run} --only {who} --undo-rejection"
_DECIDE_AGAIN = (
    "The rejection did not happen. Pay the reward with: parallax approve {run} --only {who}, "
    "or reject again in a way that the platform accepts"
)
_DECIDE_WHICH = (
    "If the bonus that was paid by hand is this one: parallax settle {run} {id} --paid. To pay "
    "this one too, give its command again with --additional"
)
_IN_HAND = "was started a moment ago, perhaps by a process that is still working on it"


def unsettled(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield decided payments that were not made, or whose outcome is unknown."""
    for payment in snapshot.payments:
        detail = _UNSETTLED.get(PaymentState(payment.state))
        # Compensation that nobody has accepted yet waits for the worker, not for us.
        if detail is None or payment.assignment is None or _came_to_nothing(snapshot, payment):
            continue
        claimed = payment.id in snapshot.claimed
        yield Discrepancy(
            f"payment_{payment.state}",
            _payee(snapshot, payment),
            f"{_words(payment)} {_IN_HAND if claimed else detail}"
            f"{payment.answer and f': {payment.answer}'}",
            _what_next(snapshot, payment),
            safe=not (
                claimed
                or _waits_for_undoing(snapshot, payment)
                or is_refused_rejection(payment)
                or _stands_beside_another(snapshot, payment)
            ),
        )


def _what_next(snapshot: Snapshot, payment: Payment) -> str:
    if payment.id in snapshot.claimed:
        return "Run parallax reconcile again in five minutes"
    if _stands_beside_another(snapshot, payment):
        return _DECIDE_WHICH.format(run=snapshot.run_ref, id=payment.id)
    if payment.ordered_at is not None:
        return _LOOK_THERE.format(run=snapshot.run_ref, id=payment.id)
    if _waits_for_undoing(snapshot, payment):
        return _UNDO_AGAIN.format(run=snapshot.run_ref, who=payment.assignment)
    if is_refused_rejection(payment):
        return _DECIDE_AGAIN.format(run=snapshot.run_ref, who=payment.assignment)
    return "--fix asks the platform whether it was paid, and pays if it was not"


def _waits_for_undoing(snapshot: Snapshot, payment: Payment) -> bool:
    """Return whether this pays a submission that is now rejected, which needs an explicit undo."""
    rejected = _status(snapshot, payment) == AssignmentStatus.REJECTED
    return payment.kind == PaymentKind.REWARD and rejected


def _stands_beside_another(snapshot: Snapshot, payment: Payment) -> bool:
    """Return whether this bonus was refused because another one was paid by hand."""
    others = snapshot.ledger.get(payment.assignment, [])
    refused = payment.state == PaymentState.REFUSED and payment.kind != PaymentKind.REJECTION
    return refused and payment.ordered_at is None and any(map(is_by_hand, others))


def is_refused_rejection(payment: Payment) -> bool:
    """Return whether a refused rejection waits for a user's decision: it is never retried."""
    return payment.kind == PaymentKind.REJECTION and payment.state == PaymentState.REFUSED


def _came_to_nothing(snapshot: Snapshot, payment: Payment) -> bool:
    """Return whether this rejects a submission that the platform has paid in the end."""
    return is_refused_rejection(payment) and _status(snapshot, payment) in PAID_STATUSES


def _status(snapshot: Snapshot, payment: Payment) -> str | None:
    status = {assignment.platform_id: assignment.status for assignment in snapshot.assignments}
    return status.get(payment.assignment or "")


def decided_elsewhere(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield assignments approved or rejected on the platform but not in the ledger."""
    for assignment, _, again in unrecorded_decisions(snapshot):
        yield Discrepancy(
            "paid_twice" if again and assignment.status in PAID_STATUSES else "reviewed_elsewhere",
            snapshot.ref(assignment.participant_id, assignment.platform_id),
            (
                f"{'a second submission was ' if again else ''}{assignment.status} on the "
                "platform, automatically after its delay or by hand"
            ),
            "--fix records it in the ledger",
            safe=True,
        )


def unrecorded_decisions(snapshot: Snapshot) -> Iterator[tuple[Assignment, PaymentKind, bool]]:
    """Yield each decided assignment that the ledger does not hold.

    Yields:
        The assignment, the kind that its line in the ledger would have, and whether the participant
        has such a line for another assignment.
    """
    known = {(payment.participant_id, payment.kind) for payment in snapshot.payments}
    for assignment in snapshot.assignments:
        kind = REVIEW_DECISIONS.get(assignment.status)
        lines = snapshot.ledger.get(assignment.platform_id, [])
        if kind is not None and not any(line.kind == kind for line in lines):
            who = assignment.participant_id
            yield assignment, kind, who is not None and (who, kind) in known
            known.add((who, kind))


def bonuses_astray(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield bonuses that the platform lists twice, or that are in no line of the ledger."""
    for payment in snapshot.payments:
        if payment.kind == PaymentKind.BONUS and (times := snapshot.books.shown[payment.id]) > 1:
            yield Discrepancy(
                "paid_twice",
                _payee(snapshot, payment),
                f"the platform lists {_words(payment)} {times} times",
                "A payment cannot be undone; please report this as an error of Parallax",
            )
    for bonus, _ in unrecorded_bonuses(snapshot):
        yield Discrepancy(
            "bonus_elsewhere",
            snapshot.ref(snapshot.participant_of(bonus.assignment_id), bonus.assignment_id),
            f"a bonus of {in_words(bonus.amount_minor, snapshot.currency)} was paid by hand",
            "--fix records it in the ledger",
            safe=True,
        )


def unrecorded_bonuses(snapshot: Snapshot) -> Iterator[tuple[Bonus, PaymentItem]]:
    """Yield each unrecorded bonus paid by hand, with its item for the ledger."""
    return unrecorded(snapshot.books, snapshot.run_ref, snapshot.payments)


def recorded_not_made(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield payments that are done by the ledger and not by the platform."""
    status = {assignment.platform_id: assignment.status for assignment in snapshot.assignments}
    for payment in snapshot.payments:
        if payment.state != PaymentState.DONE or payment.called_at is None:
            continue  # A line done without a call was read from the platform itself.
        if payment.kind == PaymentKind.REJECTION and _was_undone(snapshot, payment):
            continue
        if payment.kind == PaymentKind.BONUS:
            made = snapshot.books.shown[payment.id] > 0
        else:
            # Submissions of compensation's own offers are not among the run's.
            said = status.get(payment.assignment or "")
            made = said is None or REVIEW_DECISIONS.get(said) == _review_decision(payment)
        if not made:
            yield Discrepancy(
                "recorded_not_made",
                _payee(snapshot, payment),
                f"the ledger has {_words(payment)} as done, but the platform does not",
                "Check the requester's own site; nothing was taken from the participant here",
            )


def _was_undone(snapshot: Snapshot, rejection: Payment) -> bool:
    lines = snapshot.ledger.get(rejection.assignment, [])
    return any(p.kind == PaymentKind.REWARD and p.state == PaymentState.DONE for p in lines)


def changed_rewards(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield offers whose reward on the platform differs from the posted one."""
    for hit in snapshot.hits:
        posted = snapshot.posted_rewards[hit.id]
        if (now := snapshot.platform_rewards.get(hit.id, posted)) != posted:
            yield Discrepancy(
                "reward_changed",
                hit.platform_id or hit.token[:12],
                (
                    f"pays {in_words(now, snapshot.currency)} on the platform, but was published "
                    f"with {in_words(posted, snapshot.currency)}"
                ),
                (
                    "Restore the amount on the platform's own site; or approve there, and --fix "
                    "records the payment in the ledger"
                ),
            )


def paid_in_part(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants whose partial payment the platform does not report."""
    for assignment in snapshot.assignments:
        in_part = assignment.status == AssignmentStatus.PARTIALLY_APPROVED
        if in_part and assignment.paid_minor is None:
            yield Discrepancy(
                "paid_in_part",
                snapshot.ref(assignment.participant_id, assignment.platform_id),
                "was paid part of the reward on the platform, which does not report how much",
                "Check the platform's own site; the sums here leave that part out",
            )


def sums_differ(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants whose totals differ between the ledger and the platform."""
    for statement in snapshot.statements:
        if not statement.agrees:
            yield Discrepancy(
                "sums_differ",
                statement.payee,
                (
                    f"got {in_words(statement.ledger_minor, statement.currency)} according to the "
                    f"ledger, but {in_words(statement.platform_minor or 0, statement.currency)} "
                    "according to the platform"
                ),
                (
                    "--fix records what the platform shows. If the difference remains, compare "
                    "the lines of parallax review with the requester's own site"
                ),
            )


def paid_too_little(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants paid less than the study's rule gives, as a bonus or a partial reward."""
    paid = {a.participant.ref for a in snapshot.accounts if a.paid_assignment is not None}
    for statement in snapshot.statements:
        if statement.is_short and statement.payee in paid:
            yield Discrepancy(
                "paid_too_little",
                statement.payee,
                (
                    f"is owed {in_words(statement.owed_minor or 0, statement.currency)} by the "
                    f"study's rule, but got {in_words(statement.ledger_minor, statement.currency)}"
                ),
                (
                    f"To pay the rule's bonus: parallax bonus {snapshot.run_ref}. To pay anything "
                    f"else: parallax bonus {snapshot.run_ref} --file FILE"
                ),
            )


def _review_decision(payment: Payment) -> PaymentKind:
    kind = PaymentKind(payment.kind)
    return PaymentKind.REWARD if kind is PaymentKind.COMPENSATION else kind


def _payee(snapshot: Snapshot, payment: Payment) -> str:
    return snapshot.ref(payment.participant_id, payment.assignment or payment.token[:12])


def _words(payment: Payment) -> str:
    if payment.kind == PaymentKind.REJECTION:
        return "a rejection"
    return f"a {payment.kind} of {in_words(payment.amount_minor, payment.currency)}"
