"""Checks of participants: their work, submissions and places."""

from collections.abc import Iterator

from experiment.money import in_words
from experiment.payment.payment import PaymentKind, PaymentState
from webapp.database.models import Assignment
from webapp.payments.accounts import PayeeAccount
from webapp.payments.reconciliation.snapshot import Discrepancy, Snapshot


def finished_not_submitted(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who did the work and cannot be paid, for want of a submission."""
    for account in snapshot.accounts:
        offered = account.payment(PaymentKind.COMPENSATION) is not None
        if account.finished and account.assignment is None and not offered:
            ref = account.participant.ref
            yield Discrepancy(
                "finished_not_submitted",
                ref,
                "finished here, but submitted nothing on the platform",
                "Wait until their time is over. Then:"
                f" parallax compensate {snapshot.run_ref} {ref}",
            )


def never_paid(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who finished and submitted but are not in the ledger."""
    for account, assignment in _to_be_paid(snapshot):
        if snapshot.ledger.get(assignment.platform_id):
            continue
        if account.payment(PaymentKind.COMPENSATION) is None:
            yield Discrepancy(
                "never_paid",
                account.participant.ref,
                "finished and submitted, but was not paid",
                f"parallax approve {snapshot.run_ref}",
            )
        else:
            yield Discrepancy(
                "compensated_and_submitted",
                account.participant.ref,
                "was offered compensation, and submitted afterwards",
                f"Decide whether to pay the reward as well: {_decide(snapshot, assignment)}",
            )


def receipt_of_another(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield unpaid submissions whose receipt is not the one that their participant was given."""
    for account, assignment in _to_be_paid(snapshot):
        ref = account.participant.ref
        if snapshot.receipts.get(assignment.platform_id, ref) != ref:
            yield Discrepancy(
                "receipt_of_another",
                ref,
                "the submitted receipt is missing, forged or another participant's",
                (
                    "The form did not come from our page. The participant did finish, so the "
                    "reward is due"
                ),
            )


def submitted_without_work(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield undecided submissions that are not the first of a participant who finished."""
    firsts = {a.assignment.id: a for a in snapshot.accounts if a.assignment is not None}
    for assignment in snapshot.assignments:
        first = firsts.get(assignment.id)
        decided = assignment.status != "submitted" or snapshot.ledger.get(assignment.platform_id)
        if decided or (first is not None and first.finished):
            continue
        if assignment.participant_id is None:
            problem, detail = "submitted_by_nobody", "submitted by a worker who never took part"
        elif first is None:
            problem, detail = "submitted_twice", "is a second submission of the same participant"
        else:
            problem, detail = (
                "submitted_unfinished",
                "submitted on the platform, but has not finished here",
            )
        yield Discrepancy(
            problem,
            snapshot.ref(assignment.participant_id, assignment.platform_id),
            detail,
            _decide(snapshot, assignment),
        )


def stuck_places(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield participants who hold a place (participant slot) and fell silent."""
    for ref in snapshot.silent:
        yield Discrepancy(
            "stuck_place",
            ref,
            "holds a place, but has been silent for longer than the study allows",
            "--fix frees the place",
            safe=True,
        )


def wrong_counts(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield the stored counts of places, participants and responses that differ from the rows."""
    for subject in snapshot.miscounted:
        yield Discrepancy(
            "wrong_count",
            snapshot.run_ref,
            f"the stored count of {subject} differs from the rows in the database",
            "--fix counts the rows again",
            safe=True,
        )


def unposted_offers(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield offers of which it is unknown whether the platform has them."""
    payees = {payment.token: payment.participant_id for payment in snapshot.payments}
    withdrawn = {p.token for p in snapshot.payments if p.state == PaymentState.WITHDRAWN}
    for hit in snapshot.hits:
        if hit.posted_at is None and hit.token not in withdrawn:
            safe = hit.token in payees
            yield Discrepancy(
                "unposted_offer",
                snapshot.ref(payees.get(hit.token), hit.token[:12]),
                f"an offer of {hit.purpose} with {hit.places} places was never confirmed",
                "--fix posts the offer if the platform does not have it"
                if safe
                else f"parallax publish {snapshot.run_ref}",
                safe=safe,
            )


def compensation_not_taken(snapshot: Snapshot) -> Iterator[Discrepancy]:
    """Yield workers who did not accept offered compensation in time."""
    over = {hit.token for hit in snapshot.hits if hit.expires_at and hit.expires_at <= snapshot.at}
    for payment in snapshot.payments:
        withdrawn = payment.state == PaymentState.WITHDRAWN
        if payment.token in over and payment.assignment is None and not withdrawn:
            ref = snapshot.ref(payment.participant_id, payment.token[:12])
            yield Discrepancy(
                "compensation_not_taken",
                ref,
                (
                    f"compensation of {in_words(payment.amount_minor, payment.currency)} was "
                    "offered, but not accepted"
                ),
                (
                    "Write to the participant; running the same parallax compensate again offers "
                    "it for another 30 days"
                ),
            )


def _decide(snapshot: Snapshot, assignment: Assignment) -> str:
    id_ = assignment.platform_id
    return (
        f"parallax approve {snapshot.run_ref} --only {id_}, or parallax"
        f" reject {snapshot.run_ref} {id_} --reason TEXT"
    )


def _to_be_paid(snapshot: Snapshot) -> Iterator[tuple[PayeeAccount, Assignment]]:
    for account in snapshot.accounts:
        assignment = account.assignment
        if account.finished and assignment is not None and assignment.status == "submitted":
            yield account, assignment
