"""What it means that nothing differs."""

import pytest

from webapp.payments.reconciliation.statement import Statement, describe_agreement


@pytest.mark.parametrize(
    ("owed", "got", "said"),
    [
        ((20, 20), (20, 20), "Run r is clean"),
        ((20, 20), (20, 0), "$0.20 for 1 is still to be paid (parallax review r)."),
        ((20, None), (20, 20), "1 wait for parallax exclude or unblind r."),
        ((25, None), (20, 20), "$0.05 for 1 is still to be paid (parallax review r) and 1 wait"),
    ],
)
def test_a_run_is_clean_only_where_everybody_has_what_they_are_owed(owed, got, said):
    found = [
        Statement(f"p{number}", owes, paid, "USD", paid)
        for number, (owes, paid) in enumerate(zip(owed, got, strict=True))
    ]
    text = describe_agreement("r", found)
    assert said in text
    assert ("is clean" in text) == ("not everyone" not in text)
