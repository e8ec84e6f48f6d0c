"""The inputs and results of ``parallax power``, for every type of response."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from analysis.power.simulated_choices import Assumptions
from analysis.tables.accuracy_table import Table
from experiment.design.lists import BuiltLists
from experiment.responses.responders import RT_SPREAD
from experiment.studies.study import Study
from experiment.version import code_version

NAME = "power"
# The target power of a study.
ENOUGH = 0.8
# The time for consent, instructions and questionnaire, in minutes.
AROUND_MIN = 3.0
# The default if the study declares no typical reaction time.
TYPICAL_RT_MS = 3500.0


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command.

    Attributes:
        people: The assumptions about participants.
        sizes: Participants per list, in rising order.
        simulations: The number of simulated studies.
        seed: The random seed.
        difference: The difference to detect, or None for the type's default.
        width: The wanted half-width, or None for the difference.
        sd_effects: Standard deviations of cell-specific participant and frame effects, in logits.
        means: The table of expected means, or None.
        scale: The scale to plan for, if there are several, or None for all.
        accuracy: The expected accuracy of every construction, or None for the published ones.
        like: The folder of a model's session that provides the items' probabilities, or None.
        slowdown_percent: The difference of reading times to detect, or None.
        log_sds: Five standard deviations of log reading times, separated by commas; may be empty.
        cost: The cost of a participant, or None.
    """

    people: Assumptions
    sizes: tuple[int, ...]
    simulations: int
    seed: int
    difference: float | None
    width: float | None
    sd_effects: float
    means: Path | None
    scale: str | None
    accuracy: float | None
    like: Path | None
    slowdown_percent: float | None
    log_sds: str
    cost: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a study, or for one of its scales.

    Attributes:
        table: Power by the number of participants.
        sentences: The required number of participants.
        figure: The figure, or None.
        scale: The scale, if several are planned.
        closing: The text printed below all results.
    """

    table: Table
    sentences: Sequence[str]
    figure: Figure | None = None
    scale: str = ""
    closing: str = ""


# A power function for a response type, from a study, its lists and the options.
Power = Callable[[Study, BuiltLists, Asked], Iterator[Outcome]]


def session_note(study: Study) -> str:
    """Return the expected session length: above the median, since reaction times are log-normal."""
    mean_ms = (study.simulation.median_rt_ms or TYPICAL_RT_MS) * exp(RT_SPREAD**2 / 2)
    minutes = study.design.trials_per_list * mean_ms / 60_000 + AROUND_MIN
    return (
        f"A session takes about {minutes:.0f} minutes, of which {AROUND_MIN:.0f} for "
        "consent, instructions and questionnaire."
    )


def study_origin(study: Study, seed: int, means: str = "") -> str:
    """Return the study, seed and code version that a table comes from."""
    return (
        f"{means}Study {study.name}, version {study.study.version}; seed {seed}; "
        f"code {code_version()}."
    )


def enough_participants(rows: pd.DataFrame, power: str, n_lists: int) -> str:
    """Return the number of participants for a power of .80, among the sizes tried, in words.

    Args:
        rows: A summary's rows of one comparison, a row for each size.
        power: The column that holds the power.
        n_lists: How many lists the study has.
    """
    sizes = rows.loc[rows[power] >= ENOUGH, "per_list"]
    if sizes.empty:
        return "more participants than were tried"
    return f"{int(sizes.min()) * n_lists} participants ({int(sizes.min())} per list)"
