"""Nobody is rejected for a reason that the platform would not take, or by data they withhold."""

from contextlib import nullcontext
from types import SimpleNamespace as Some

import pytest

from experiment.payment.payment import PaymentError
from tests.webapp.payments.by_hand import NOW, account
from webapp.payments import rewards
from webapp.recruiters.platform import RejectionTerms

LONG = "Nothing was answered."


@pytest.mark.parametrize(
    ("terms", "reason", "category", "restricted", "problem"),
    [
        (RejectionTerms(), LONG, "", None, ""),
        (RejectionTerms(len(LONG)), LONG, "", None, ""),
        (RejectionTerms(len(LONG) + 1), LONG, "", None, "21 characters"),
        (RejectionTerms(1, ("A", "B")), LONG, "B", None, ""),
        (RejectionTerms(1, ("A", "B")), LONG, "C", None, "not a category"),
        (RejectionTerms(1, ("A", "B")), LONG, "", None, "category is missing"),
        (RejectionTerms(), LONG, "A", None, "the platform has none"),
        (RejectionTerms(), LONG, "", NOW, "asked that their data not be used"),
    ],
)
def test_only_what_the_platform_and_the_person_allow_is_rejected(
    monkeypatch, terms, reason, category, restricted, problem
):
    monkeypatch.setattr(rewards, "reading", nullcontext)
    people = [account(restricted=NOW, id=2), account(restricted=restricted)]
    paying = Some(
        platform=Some(rejection_terms=terms), run=Some(id=1, ref="r"), load_accounts=lambda: people,
        sessions=Some(scalar=lambda _: None),
    )  # fmt: skip
    if problem:
        with pytest.raises(PaymentError, match=problem):
            rewards.prepare_rejection(paying, "ref1", reason, category)
        return
    [found] = rewards.prepare_rejection(paying, "ref1", reason, category)
    assert (found.item.kind, found.item.amount_minor, found.item.reason) == ("rejection", 0, LONG)
    assert (found.assignment, found.category) == ("WORK1", category)
