"""Checks of money: the ledger against the payments that the platform reports."""

from collections.abc import Iterator

from experiment.money import in_words
from experiment.payment.payment import PaymentItem, PaymentKind, PaymentState
from webapp.database.models import Assignment, Payment
from webapp.payments.platform_payments import is_paid_by_hand
from webapp.payments.reconciliation.snapshot import Discrepancy, PaymentSnapshot, find_unrecorded
from webapp.recruiters.platform import Bonus
from webapp.recruiters.statuses import PAID_STATUSES, AssignmentStatus

REVIEW_DECISIONS: dict[str, PaymentKind] = {
    AssignmentStatus.APPROVED: PaymentKind.REWARD,
    AssignmentStatus.PARTIALLY_APPROVED: PaymentKind.REWARD,
    AssignmentStatus.SCREENED_OUT: PaymentKind.SCREEN_OUT,
    AssignmentStatus.REJECTED: PaymentKind.REJECTION,
}
_UNSETTLED_WORDS = {
    PaymentState.INTENDED: "was decided, but not started",
    PaymentState.CALLING: "was started by a process that no longer runs",
    PaymentState.ORDERED: "was ordered by a process that no longer runs",
    PaymentState.UNKNOWN: "was started, but the platform did not answer",
    PaymentState.REFUSED: "was refused by the platform",
}
_REMEDY_CHECK_PLATFORM = (
    "--fix asks the platform whether it was paid. If the platform's own site does not show "
    "the payment after a day: parallax settle {run} {id} --not-paid"
)
_REMEDY_UNDO_REJECTION = (
    "Undo the rejection with: parallax approve {run} --only {who} --undo-rejection"
)
_REMEDY_DECIDE_AGAIN = (
    "The rejection did not happen. Pay the reward with: parallax approve {run} --only {who}, "
    "or reject again in a way that the platform accepts"
)
_REMEDY_CHOOSE_BONUS = (
    "If the bonus that was paid by hand is this one: parallax settle {run} {id} --paid. To pay "
    "this one too, repeat its command with --additional"
)
_JUST_STARTED = "was started a moment ago, perhaps by a process that is still working on it"


def check_unsettled(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield decided payments that were not made, or whose outcome is unknown."""
    for payment in snapshot.payments:
        detail = _UNSETTLED_WORDS.get(PaymentState(payment.state))
        # Compensation that nobody has accepted yet waits for the worker, not for us.
        if detail is None or payment.assignment is None or _was_overruled(snapshot, payment):
            continue
        is_claimed = payment.id in snapshot.claimed
        yield Discrepancy(
            f"payment_{payment.state}",
            _get_payee(snapshot, payment),
            f"{_describe_payment(payment)} {_JUST_STARTED if is_claimed else detail}"
            f"{payment.answer and f': {payment.answer}'}",
            _suggest_remedy(snapshot, payment),
            safe=not (
                is_claimed
                or _needs_undo(snapshot, payment)
                or is_refused_rejection(payment)
                or _was_refused_for_manual_bonus(snapshot, payment)
            ),
        )


def _suggest_remedy(snapshot: PaymentSnapshot, payment: Payment) -> str:
    if payment.id in snapshot.claimed:
        return "Run parallax reconcile again in five minutes"
    if _was_refused_for_manual_bonus(snapshot, payment):
        return _REMEDY_CHOOSE_BONUS.format(run=snapshot.run_ref, id=payment.id)
    if payment.ordered_at is not None:
        return _REMEDY_CHECK_PLATFORM.format(run=snapshot.run_ref, id=payment.id)
    if _needs_undo(snapshot, payment):
        return _REMEDY_UNDO_REJECTION.format(run=snapshot.run_ref, who=payment.assignment)
    if is_refused_rejection(payment):
        return _REMEDY_DECIDE_AGAIN.format(run=snapshot.run_ref, who=payment.assignment)
    return "--fix asks the platform whether it was paid, and pays if it was not"


def _needs_undo(snapshot: PaymentSnapshot, payment: Payment) -> bool:
    """Return whether this pays a submission that is now rejected, which needs an explicit undo."""
    is_rejected = _find_status(snapshot, payment) == AssignmentStatus.REJECTED
    return payment.kind == PaymentKind.REWARD and is_rejected


def _was_refused_for_manual_bonus(snapshot: PaymentSnapshot, payment: Payment) -> bool:
    """Return whether this bonus was refused because another one was paid by hand."""
    lines = snapshot.ledger.get(payment.assignment, [])
    is_refused = payment.state == PaymentState.REFUSED and payment.kind != PaymentKind.REJECTION
    return is_refused and payment.ordered_at is None and any(map(is_paid_by_hand, lines))


def is_refused_rejection(payment: Payment) -> bool:
    """Return whether a refused rejection waits for a user's decision: it is never retried."""
    return payment.kind == PaymentKind.REJECTION and payment.state == PaymentState.REFUSED


def _was_overruled(snapshot: PaymentSnapshot, payment: Payment) -> bool:
    """Return whether this rejects a submission that the platform has paid in the end."""
    return is_refused_rejection(payment) and _find_status(snapshot, payment) in PAID_STATUSES


def _find_status(snapshot: PaymentSnapshot, payment: Payment) -> str | None:
    status_by_id = {
        assignment.platform_id: assignment.status for assignment in snapshot.assignments
    }
    return status_by_id.get(payment.assignment or "")


def check_outside_decisions(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield assignments approved or rejected on the platform but not in the ledger."""
    for assignment, _, is_second in find_unrecorded_decisions(snapshot):
        yield Discrepancy(
            "paid_twice"
            if is_second and assignment.status in PAID_STATUSES
            else "reviewed_elsewhere",
            snapshot.ref(assignment.participant_id, assignment.platform_id),
            (
                f"{'a second submission was ' if is_second else ''}{assignment.status} on the "
                "platform, automatically after its delay or by hand"
            ),
            "--fix records it in the ledger",
            safe=True,
        )


def find_unrecorded_decisions(
    snapshot: PaymentSnapshot,
) -> Iterator[tuple[Assignment, PaymentKind, bool]]:
    """Yield each assignment that the platform shows as decided and the ledger lacks.

    Yields:
        The assignment, the kind of the missing ledger line, and whether the participant has a line
        of that kind for another assignment.
    """
    recorded = {(payment.participant_id, payment.kind) for payment in snapshot.payments}
    for assignment in snapshot.assignments:
        kind = REVIEW_DECISIONS.get(assignment.status)
        lines = snapshot.ledger.get(assignment.platform_id, [])
        if kind is not None and not any(line.kind == kind for line in lines):
            participant_id = assignment.participant_id
            yield (
                assignment,
                kind,
                participant_id is not None and (participant_id, kind) in recorded,
            )
            recorded.add((participant_id, kind))


def check_unexpected_bonuses(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield bonuses that the platform lists twice, or that are in no line of the ledger."""
    for payment in snapshot.payments:
        if (
            payment.kind == PaymentKind.BONUS
            and (times := snapshot.bonuses.n_shown[payment.id]) > 1
        ):
            yield Discrepancy(
                "paid_twice",
                _get_payee(snapshot, payment),
                f"the platform lists {_describe_payment(payment)} {times} times",
                "A payment cannot be undone; please report this as a bug in Parallax",
            )
    for bonus, _ in find_unrecorded_bonuses(snapshot):
        yield Discrepancy(
            "bonus_elsewhere",
            snapshot.ref(snapshot.participant_of(bonus.assignment_id), bonus.assignment_id),
            f"a bonus of {in_words(bonus.amount_minor, snapshot.currency)} was paid by hand",
            "--fix records it in the ledger",
            safe=True,
        )


def find_unrecorded_bonuses(snapshot: PaymentSnapshot) -> Iterator[tuple[Bonus, PaymentItem]]:
    """Yield each unrecorded bonus paid by hand, with its item for the ledger."""
    return find_unrecorded(snapshot.bonuses, snapshot.run_ref, snapshot.payments)


def check_recorded_not_made(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield payments that are done in the ledger but not on the platform."""
    status = {assignment.platform_id: assignment.status for assignment in snapshot.assignments}
    for payment in snapshot.payments:
        if payment.state != PaymentState.DONE or payment.called_at is None:
            continue  # A line done without a call was read from the platform itself.
        if payment.kind == PaymentKind.REJECTION and _is_rejection_undone(snapshot, payment):
            continue
        if payment.kind == PaymentKind.BONUS:
            is_made = snapshot.bonuses.n_shown[payment.id] > 0
        else:
            # Submissions of compensation's own offers are not among the run's.
            reported_status = status.get(payment.assignment or "")
            is_made = reported_status is None or REVIEW_DECISIONS.get(
                reported_status
            ) == _get_decision_kind(payment)
        if not is_made:
            yield Discrepancy(
                "recorded_not_made",
                _get_payee(snapshot, payment),
                f"the ledger has {_describe_payment(payment)} as done, but the platform does not",
                "Check the platform's own site; Parallax took nothing from the participant",
            )


def _is_rejection_undone(snapshot: PaymentSnapshot, rejection: Payment) -> bool:
    lines = snapshot.ledger.get(rejection.assignment, [])
    return any(p.kind == PaymentKind.REWARD and p.state == PaymentState.DONE for p in lines)


def check_changed_rewards(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield offers whose reward on the platform differs from the posted one."""
    for hit in snapshot.hits:
        posted = snapshot.posted_rewards[hit.id]
        if (present := snapshot.platform_rewards.get(hit.id, posted)) != posted:
            yield Discrepancy(
                "reward_changed",
                hit.platform_id or hit.token[:12],
                (
                    f"pays {in_words(present, snapshot.currency)} on the platform, but was "
                    "published "
                    f"with {in_words(posted, snapshot.currency)}"
                ),
                (
                    "Restore the amount on the platform's own site; or approve there, and --fix "
                    "records the payment in the ledger"
                ),
            )


def check_partial_payments(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield participants whose partial payment the platform does not report."""
    for assignment in snapshot.assignments:
        is_partial = assignment.status == AssignmentStatus.PARTIALLY_APPROVED
        if is_partial and assignment.paid_minor is None:
            yield Discrepancy(
                "paid_in_part",
                snapshot.ref(assignment.participant_id, assignment.platform_id),
                "was paid part of the reward on the platform, which does not report how much",
                "Check the platform's own site; the totals here exclude that amount",
            )


def check_totals(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
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


def check_underpayments(snapshot: PaymentSnapshot) -> Iterator[Discrepancy]:
    """Yield participants paid less than the study's rule gives, as a bonus or a partial reward."""
    paid_refs = {a.participant.ref for a in snapshot.accounts if a.paid_assignment is not None}
    for statement in snapshot.statements:
        if statement.is_short and statement.payee in paid_refs:
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


def _get_decision_kind(payment: Payment) -> PaymentKind:
    kind = PaymentKind(payment.kind)
    return PaymentKind.REWARD if kind is PaymentKind.COMPENSATION else kind


def _get_payee(snapshot: PaymentSnapshot, payment: Payment) -> str:
    return snapshot.ref(payment.participant_id, payment.assignment or payment.token[:12])


def _describe_payment(payment: Payment) -> str:
    if payment.kind == PaymentKind.REJECTION:
        return "a rejection"
    return f"a {payment.kind} of {in_words(payment.amount_minor, payment.currency)}"
