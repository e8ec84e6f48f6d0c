"""The bias in a row's accuracy if the row's own trials decide exclusion."""

from functools import partial

from scipy.optimize import brentq
from scipy.stats import binom

_TINY = 1e-9


def printed_accuracy(true: float, n_trials: int, most_errors: int, share: float = 1.0) -> float:
    """Return the accuracy expected in a row after excluding participants with too many errors.

    Errors on the deciding trials are binomial; participants with more than ``most_errors`` are
    excluded. The row's errors are the mean of the remaining ones, ``sum x P(x) / sum P(x)`` over x
    from 0 to ``most_errors``.

    Args:
        true: The true accuracy of all participants.
        n_trials: The number of deciding trials.
        most_errors: The maximum number of errors of kept participants.
        share: The share of the row's trials that decide; the others keep their true accuracy.
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
    """Return the true accuracy that gives the printed accuracy; None if there is none.

    Args:
        printed: The row's accuracy after exclusion.
        n_trials: The number of deciding trials.
        most_errors: The maximum number of errors of kept participants.
        share: The share of the row's trials that decide.
    """
    expected = partial(printed_accuracy, n_trials=n_trials, most_errors=most_errors, share=share)
    if printed >= 1:
        return 1.0
    if not expected(_TINY) <= printed:
        return None
    return float(brentq(lambda true: expected(true) - printed, _TINY, 1))
