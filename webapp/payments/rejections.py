"""What a platform requires of a rejection, checked before anything is recorded."""

from experiment.payment.payment import PaymentError
from webapp.recruiters.platform import Platform


def refuse_rejection(platform: Platform, reason: str, category: str) -> None:
    """Let pass only a rejection that the platform would take.

    Raises:
        PaymentError: The reason is too short, or the category is missing or none of its own.
    """
    terms = platform.rejection_terms
    if len(reason) < terms.least_characters:
        raise PaymentError(
            f"the reason has {len(reason)} characters",
            where="--reason",
            expected=f"at least {terms.least_characters} on this platform",
        )
    if terms.categories and category not in terms.categories:
        raise PaymentError(
            f'"{category}" is not a category of the platform'
            if category
            else "a category is missing",
            where="--category",
            expected=f"one of: {', '.join(terms.categories)}",
        )
    if category and not terms.categories:
        raise PaymentError("no category, because the platform has none", where="--category")
