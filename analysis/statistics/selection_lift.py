"""What a row's accuracy gains where its own trials decide who is kept."""

from functools import partial

from scipy.optimize import brentq
from scipy.stats import binom

_TINY = 1e-9


def printed_accuracy(true: float, n_trials: int, most_errors: int, share: float = 1.0) -> float:
    """Return the accuracy expected in a row after excluding people who err too often.

    Errors on the trials that decide are binomial; who has more than ``most_errors`` leaves. The
    mean of the errors that are left, ``sum x P(x) / sum P(x)`` over x of 0 to ``most_errors``,
    is what the row prints.

    Args:
        true: Everybody's true accuracy.
        n_trials: How many trials decide.
        most_errors: The most errors of those who are kept.
        share: Which part of the row's trials decides; the others keep their true accuracy.
    """
    if true <= 0:
        return share * (n_trials - most_errors) / n_trials
    errors = range(min(most_errors, n_trials) + 1)
    weights = [float(binom.pmf(x, n_trials, 1 - true)) for x in errors]
    if not sum(weights):
        return printed_accuracy(0, n_trials, most_errors, share)
    wrong = sum(x * weight for x, weight in zip(errors, weights, strict=True)) / sum(weights)
    return (1 - share) * true + share * (1 - wrong / n_trials)


def true_accuracy(
    printed: float, n_trials: int, most_errors: int, share: float = 1.0
) -> float | None:
    """Return the true accuracy that a printed one would come from; None where none would.

    Args:
        printed: The row's accuracy after exclusion.
        n_trials: How many trials decide.
        most_errors: The most errors of those who are kept.
        share: Which part of the row's trials decides.
    """
    expected = partial(printed_accuracy, n_trials=n_trials, most_errors=most_errors, share=share)
    if printed >= 1:
        return 1.0
    if not expected(_TINY) <= printed:
        return None
    return float(brentq(lambda true: expected(true) - printed, _TINY, 1))
