"""The one place where amounts become major units, which Prolific takes for bonuses alone."""

from experiment.money import written


def csv_bonuses(submission_id: str, amount_minor: int, currency: str) -> str:
    """Return the line that sets up one bonus: 30 minor units of GBP are ``0.30``, never ``30``."""
    return f"{submission_id},{written(amount_minor, currency)}"
