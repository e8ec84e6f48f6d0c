"""Checks of money: the ledger beside what the platform says was paid."""

from collections.abc import Iterator

from experiment.payment import Due, PaymentKind, PaymentState, dollars
from webapp.flow.pay import mark
from webapp.flow.reconcile.finding import Finding
from webapp.flow.reconcile.snapshot import Snapshot
from webapp.models import Assignment, Payment
from webapp.recruiters.platform import Bonus

JUDGED = {"approved": PaymentKind.REWARD, "rejected": PaymentKind.REJECTION}
_UNSETTLED = {
    PaymentState.INTENDED: "was decided, and not begun",
    PaymentState.CALLING: "was begun by a process that is gone",
    PaymentState.UNKNOWN: "was begun, and the platform did not answer",
    PaymentState.REFUSED: "was refused by the platform",
}
_IN_HAND = "was begun a moment ago, perhaps by a process that is still at it"


def unsettled(seen: Snapshot) -> Iterator[Finding]:
    """Yield what was decided and not carried out, or nobody knows whether it was."""
    for payment in seen.payments:
        detail = _UNSETTLED.get(PaymentState(payment.state))
        # Compensation that nobody has taken up yet waits for the worker, not for us.
        if detail is None or payment.assignment is None:
            continue
        in_hand = payment.id in seen.in_hand
        yield Finding(
            f"payment_{payment.state}",
            _payee(seen, payment),
            f"{_words(payment)} {_IN_HAND if in_hand else detail}"
            f"{payment.answer and f': {payment.answer}'}",
            "Look again in five minutes"
            if in_hand
            else "--fix asks the platform whether it was done, and does it if it was not",
            safe=not in_hand,
        )


def judged_elsewhere(seen: Snapshot) -> Iterator[Finding]:
    """Yield what the platform calls approved or rejected and no line of the ledger tells of."""
    for assignment, _, again in unrecorded_judgments(seen):
        yield Finding(
            "paid_twice" if again and assignment.status == "approved" else "judged_elsewhere",
            seen.ref(assignment.participant_id, assignment.platform_id),
            f"{'a second submission was ' if again else ''}{assignment.status} on the platform,"
            " after its delay or by hand",
            "--fix writes it into the ledger",
            safe=True,
        )


def unrecorded_judgments(seen: Snapshot) -> Iterator[tuple[Assignment, PaymentKind, bool]]:
    """Yield each judged assignment that the ledger does not tell of.

    Yields:
        The assignment, the kind that its line in the ledger would have, and whether the
        participant has such a line for another assignment.
    """
    known = {(payment.participant_id, payment.kind) for payment in seen.payments}
    for assignment in seen.assignments:
        kind = JUDGED.get(assignment.status)
        lines = seen.ledger.get(assignment.platform_id, [])
        if kind is not None and not any(line.kind == kind for line in lines):
            who = assignment.participant_id
            yield assignment, kind, who is not None and (who, kind) in known
            known.add((who, kind))


def bonuses_astray(seen: Snapshot) -> Iterator[Finding]:
    """Yield bonuses that the platform lists twice, or that are in no line of the ledger."""
    for payment in seen.payments:
        if payment.kind == PaymentKind.BONUS and (times := seen.marks[mark(payment)]) > 1:
            yield Finding(
                "paid_twice",
                _payee(seen, payment),
                f"the platform lists {_words(payment)} {times} times",
                "What is paid cannot be taken back; please report it as an error of Parallax",
            )
    for bonus in unrecorded_bonuses(seen):
        yield Finding(
            "bonus_elsewhere",
            seen.ref(seen.participant_of(bonus.assignment_id), bonus.assignment_id),
            f"a bonus of {dollars(bonus.amount_cents)} was paid by hand",
            "--fix writes it into the ledger",
            safe=True,
        )


def unrecorded_bonuses(seen: Snapshot) -> Iterator[Bonus]:
    """Yield each bonus that was not paid by Parallax and that the ledger does not tell of."""
    tokens = {payment.token for payment in seen.payments}
    for bonus in seen.bonuses_elsewhere:
        if bonus_elsewhere(bonus).token(seen.run_ref) not in tokens:
            yield bonus


def bonus_elsewhere(bonus: Bonus) -> Due:
    """Return how a bonus that was paid by hand stands in the ledger."""
    serial = f"elsewhere\x1f{bonus.granted_at.isoformat()}\x1f{bonus.reason}"
    return Due(bonus.assignment_id, PaymentKind.BONUS, bonus.amount_cents, bonus.reason, serial)


def recorded_not_made(seen: Snapshot) -> Iterator[Finding]:
    """Yield what the ledger calls done and the platform does not."""
    status = {assignment.platform_id: assignment.status for assignment in seen.assignments}
    for payment in seen.payments:
        if payment.state != PaymentState.DONE or payment.called_at is None:
            continue  # What was called done without a call was read from the platform itself.
        if payment.kind == PaymentKind.BONUS:
            made = seen.marks[mark(payment)] > 0
        else:
            # Submissions of compensation's own offers are not among the run's.
            said = status.get(payment.assignment or "")
            made = said is None or JUDGED.get(said) == _judgment(payment)
        if not made:
            yield Finding(
                "recorded_not_made",
                _payee(seen, payment),
                f"the ledger calls {_words(payment)} done, and the platform does not",
                "Look at the requester's own site; nothing was taken from the participant here",
            )


def _judgment(payment: Payment) -> PaymentKind:
    rejected = payment.kind == PaymentKind.REJECTION
    return PaymentKind.REJECTION if rejected else PaymentKind.REWARD


def _payee(seen: Snapshot, payment: Payment) -> str:
    return seen.ref(payment.participant_id, payment.assignment or payment.token[:12])


def _words(payment: Payment) -> str:
    if payment.kind == PaymentKind.REJECTION:
        return "a rejection"
    return f"a {payment.kind} of {dollars(payment.amount_cents)}"
