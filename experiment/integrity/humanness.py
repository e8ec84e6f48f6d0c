"""The score of a session's answers to items that people and programs answer differently.

For each item: whether the answer was the expected one, the published shares of people and of
programs who answer so, and their log ratio. For the session: the number of failed rated items, and
the published shares with as many failures or more. Nothing is fitted here, and only these answers
of the session are used.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from experiment.errors import StudyError
from experiment.studies.humanness import Count, ItemRate, Rates, read_rates
from experiment.studies.study import Study


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """The answer to one item of the block.

    Attributes:
        item: The item's id.
        passed: Whether the answer was the expected one.
        people: The published share of people who pass the item; None if unknown.
        programs: The published share of programs that pass the item; None if unknown.
        nats: The log ratio of programs to people who answer so; None if unknown.
    """

    item: str
    passed: bool
    people: float | None
    programs: float | None
    nats: float | None


@dataclass(frozen=True, slots=True)
class HumannessScore:
    """The scored answers of a session to the block.

    Attributes:
        answers: The answers, item by item.
        n_passed: How many items were answered as expected.
        n_rated: How many items have published rates.
        n_failed: How many of these were not answered as expected.
        nats: The sum of the log ratios, assuming independent answers; None without rates.
        people_as_low: The published share of people with this many failures or more; None if it is
            not published, or not every rated item was answered.
        programs_as_low: The same share of programs.
    """

    answers: tuple[ItemAnswer, ...]
    n_passed: int
    n_rated: int
    n_failed: int
    nats: float | None
    people_as_low: float | None
    programs_as_low: float | None


def load_rates(study: Study) -> Rates | None:
    """Return a study's published rates; None if the study names no file of rates.

    Raises:
        StudyError: The file is missing or invalid: see ``read_rates``.
    """
    block = study.humanness
    if block is None or not block.rates:
        return None
    location = study.folder / block.rates
    try:
        text = study.read(block.rates)
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(
            "the file of published rates is missing or cannot be read",
            where=str(location),
            expected="a file in the study's folder, in UTF-8",
        ) from error
    return read_rates(text, location)


def score_answers(passed: Mapping[str, bool], rates: Rates | None) -> HumannessScore:
    """Return the score of a session's answers to the block.

    Args:
        passed: Whether each item was answered as expected, by its id.
        rates: The published rates; None if the study has none.
    """
    by_item = {answer.item: answer for answer in rates.items} if rates else {}
    answers = [_score_item(item, right, by_item.get(item)) for item, right in passed.items()]
    rated = [answer for answer in answers if answer.nats is not None]
    n_failed = sum(not answer.passed for answer in rated)
    people_as_low = programs_as_low = None
    if rates and rates.failures and len(rated) == len(rates.items):
        people_as_low, programs_as_low = _find_shares_failing(rates, n_failed)
    return HumannessScore(
        answers=tuple(answers),
        n_passed=sum(passed.values()),
        n_rated=len(rated),
        n_failed=n_failed,
        nats=sum(answer.nats or 0.0 for answer in rated) if rated else None,
        people_as_low=people_as_low,
        programs_as_low=programs_as_low,
    )


def _score_item(item: str, passed: bool, rate: ItemRate | None) -> ItemAnswer:
    if rate is None:
        return ItemAnswer(item, passed, None, None, None)
    nats = _log_ratio(rate.people, rate.programs, passed)
    return ItemAnswer(
        item, passed, _compute_share(rate.people), _compute_share(rate.programs), nats
    )


def _find_shares_failing(rates: Rates, n_failed: int) -> tuple[float | None, float | None]:
    if n_failed == 0:
        return 1.0, 1.0
    failure = next((rate for rate in rates.failures if rate.at_least == n_failed), None)
    return (
        (_compute_share(failure.people), _compute_share(failure.programs))
        if failure
        else (None, None)
    )


def _compute_share(count: Count) -> float:
    return count[0] / count[1]


def _log_ratio(people: Count, programs: Count, passed: bool) -> float:
    """Return the log ratio of an answer, with half an observation added so that it stays finite."""

    def of(count: Count) -> float:
        k, n = count if passed else (count[1] - count[0], count[1])
        return (k + 0.5) / (n + 1)

    return math.log(of(programs) / of(people))
