"""Who takes part in a simulated run, how accurate they are and how long they take."""

import math
import random
from collections.abc import Callable, Iterable, Mapping

from experiment.errors import StudyError
from experiment.seeds import generator
from experiment.simulation.responders import RESPONDERS
from experiment.studies.published import Published

RT_SPREAD = 0.5


def assign_responders(
    mix: Mapping[str, float], number_of_participants: int, seed: int
) -> list[str]:
    """Return the responder of each participant: the mix's exact shares in a random order.

    Shares that are no whole number of participants are rounded by the largest remainder.

    Raises:
        StudyError: The shares are negative or do not sum to 1.
        UnknownNameError: The mix names an unknown responder.
    """
    _check_mix(mix)
    exact = {name: share * number_of_participants for name, share in mix.items()}
    numbers = {name: math.floor(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: numbers[name] - exact[name])
    for name in by_remainder[: number_of_participants - sum(numbers.values())]:
        numbers[name] += 1
    roles = [name for name, number in numbers.items() for _ in range(number)]
    generator(seed, "cast").shuffle(roles)
    return roles


def _check_mix(mix: Mapping[str, float]) -> None:
    for name in mix:
        RESPONDERS.load(name)
    if any(not share >= 0 for share in mix.values()) or not math.isclose(sum(mix.values()), 1):
        shares = ", ".join(f"{name} = {share}" for name, share in mix.items())
        raise StudyError(
            f"the shares of the simulated participants are {shares}",
            where="simulation.mix",
            expected="shares of 0 or more that sum to 1",
        )


def reaction_time_ms(rng: random.Random, median_ms: float) -> float:
    """Return a reaction time in milliseconds from a log-normal distribution.

    ``ln rt ~ Normal(ln median_ms, RT_SPREAD)``: right-skewed and positive, as response times
    are (van der Linden 2006, "A lognormal model for response times on test items", Journal of
    Educational and Behavioral Statistics 31, 181-204). The spread is chosen, not estimated.
    """
    return rng.lognormvariate(math.log(median_ms), RT_SPREAD)


def accuracy_of(published: Iterable[Published]) -> Callable[[str, str], float]:
    """Return a function from (construction, condition) to the published accuracy of people.

    If no accuracy is published for the condition, the construction's is used. The function raises a
    StudyError for a construction of which nothing is published.

    Args:
        published: The study's published results. Rows of other judges are passed over; the
            first of several rows on one cell counts.
    """
    accuracies: dict[tuple[str, str], float] = {}
    for row in published:
        if row.judge == "people":
            accuracies.setdefault((row.construction, row.condition), row.accuracy)

    def look_up(construction: str, condition: str) -> float:
        for cell in ((construction, condition), (construction, "")):
            if cell in accuracies:
                return accuracies[cell]
        raise StudyError(
            f'no accuracy of people is published for the construction "{construction}"',
            where="published.csv",
            expected='a row with the judge "people" for each construction',
            remedy="Add one; simulated participants answer with that accuracy",
        )

    return look_up
