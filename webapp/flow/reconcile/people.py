"""Checks of people: who did the work, who says so, and who holds a place."""

from collections.abc import Iterator

from experiment.payment import PaymentKind, dollars
from webapp.flow.owed import Account
from webapp.flow.reconcile.finding import Finding
from webapp.flow.reconcile.snapshot import Snapshot
from webapp.models import Assignment


def finished_not_submitted(seen: Snapshot) -> Iterator[Finding]:
    """Yield who did the work and cannot be paid: the platform has no submission of theirs."""
    for account in seen.accounts:
        offered = account.payment(PaymentKind.COMPENSATION) is not None
        if account.finished and account.assignment is None and not offered:
            ref = account.participant.ref
            yield Finding(
                "finished_not_submitted",
                ref,
                "finished here, and submitted nothing there",
                f"Wait until their time is over. Then: parallax compensate {seen.run_ref} {ref}",
            )


def never_paid(seen: Snapshot) -> Iterator[Finding]:
    """Yield who finished, submitted, and is in no line of the ledger."""
    for account, assignment in _to_be_paid(seen):
        if seen.ledger.get(assignment.platform_id):
            continue
        if account.payment(PaymentKind.COMPENSATION) is None:
            yield Finding(
                "never_paid",
                account.participant.ref,
                "finished, submitted, and was not paid",
                f"parallax approve {seen.run_ref}",
            )
        else:
            yield Finding(
                "compensated_and_submitted",
                account.participant.ref,
                "submitted after all, and was offered compensation before",
                f"To pay the reward as well or not: {_judge(seen, assignment)}",
            )


def receipt_of_another(seen: Snapshot) -> Iterator[Finding]:
    """Yield unpaid submissions whose receipt is not the one that their participant was given."""
    for account, assignment in _to_be_paid(seen):
        if seen.receipts[assignment.platform_id] != account.participant.ref:
            yield Finding(
                "receipt_of_another",
                account.participant.ref,
                "the submitted receipt is missing, forged or another participant's",
                "Our page did not send that form; yet they finished, so the reward is theirs",
            )


def submitted_without_work(seen: Snapshot) -> Iterator[Finding]:
    """Yield submissions that await a judgment, and are not the first of somebody who finished."""
    firsts = {a.assignment.id: a for a in seen.accounts if a.assignment is not None}
    for assignment in seen.assignments:
        first = firsts.get(assignment.id)
        judged = assignment.status != "submitted" or seen.ledger.get(assignment.platform_id)
        if judged or (first is not None and first.finished):
            continue
        if assignment.participant_id is None:
            problem, detail = "submitted_by_nobody", "submitted by a worker who never took part"
        elif first is None:
            problem, detail = "submitted_twice", "a second submission of the same participant"
        else:
            problem, detail = "submitted_unfinished", "submitted, and has not finished here"
        yield Finding(
            problem,
            seen.ref(assignment.participant_id, assignment.platform_id),
            detail,
            _judge(seen, assignment),
        )


def stuck_places(seen: Snapshot) -> Iterator[Finding]:
    """Yield who holds a place and fell silent."""
    for ref in seen.silent:
        yield Finding(
            "stuck_place",
            ref,
            "holds a place, and was not heard of for longer than the study allows",
            "--fix frees the place",
            safe=True,
        )


def unposted_offers(seen: Snapshot) -> Iterator[Finding]:
    """Yield offers of which nobody knows whether the platform has them."""
    payees = {payment.token: payment.participant_id for payment in seen.payments}
    for hit in seen.hits:
        if hit.platform_id is None:
            safe = hit.token in payees
            yield Finding(
                "unposted_offer",
                seen.ref(payees.get(hit.token), hit.token[:12]),
                f"an offer of {hit.purpose} with {hit.places} places was never confirmed",
                "--fix posts it if it is not there" if safe else f"parallax publish {seen.run_ref}",
                safe=safe,
            )


def compensation_not_taken(seen: Snapshot) -> Iterator[Finding]:
    """Yield who was offered compensation, and did not take it up in time."""
    over = {hit.token for hit in seen.hits if hit.expires_at and hit.expires_at <= seen.at}
    for payment in seen.payments:
        if payment.token in over and payment.assignment is None:
            ref = seen.ref(payment.participant_id, payment.token[:12])
            yield Finding(
                "compensation_not_taken",
                ref,
                f"compensation of {dollars(payment.amount_cents)} was offered, and not taken up",
                "Write to them; the same parallax compensate offers it for another 30 days",
            )


def _judge(seen: Snapshot, assignment: Assignment) -> str:
    id_ = assignment.platform_id
    return (
        f"parallax approve {seen.run_ref} --only {id_}, or parallax"
        f" reject {seen.run_ref} {id_} --reason TEXT"
    )


def _to_be_paid(seen: Snapshot) -> Iterator[tuple[Account, Assignment]]:
    for account in seen.accounts:
        assignment = account.assignment
        if account.finished and assignment is not None and assignment.status == "submitted":
            yield account, assignment
