"""What ``parallax power`` is asked for, and what it answers, for every type of response."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from analysis.power.simulated_choices import Assumptions
from analysis.tables.accuracy_table import Table
from experiment.design.lists import BuiltLists
from experiment.simulation.responders import RT_SPREAD
from experiment.studies.study import Study
from experiment.version import code_version

NAME = "power"
# The power that a study should have.
ENOUGH = 0.8
# Consent, instructions and questionnaire, in minutes.
AROUND_MIN = 3.0
# Where the study names no typical reaction time.
TYPICAL_RT_MS = 3500.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command was asked for; see its options.

    Attributes:
        people: What is assumed of the participants.
        sizes: Participants per list, in rising order.
        simulations: How many studies.
        seed: The seed of every draw.
        difference: The difference to detect, or None for that of the type.
        width: The wanted half-width, or None for the difference.
        sd_effects: How much participants, and frames, differ in each cell besides, in logits.
        means: The table of expected means, or None.
        scale: Which of several scales, or None for each.
        accuracy: The expected accuracy of every construction, or None for the published ones.
        like: The folder of a model's session whose probabilities items take, or None.
        slowdown_percent: The difference of reading times to detect, or None.
        log_sds: Five standard deviations of log reading times, divided by commas; may be empty.
        cost: What a participant costs, or None.
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
    """What was found for a study, or for one of its scales.

    Attributes:
        table: Power by the number of participants.
        sentences: How many participants are enough.
        figure: The figure; None where there is none.
        scale: Of several scales that are planned, the one that this is about.
        closing: What stands below all of them.
    """

    table: Table
    sentences: Sequence[str]
    figure: Figure | None = None
    scale: str = ""
    closing: str = ""


# How a type of response is planned for: from a study, its lists and what was asked.
Power = Callable[[Study, BuiltLists, Asked], Iterator[Outcome]]


def session_note(study: Study) -> str:
    """Return how long a session takes; reaction times are log-normal, so above the median."""
    mean_ms = (study.simulation.median_rt_ms or TYPICAL_RT_MS) * exp(RT_SPREAD**2 / 2)
    minutes = study.design.trials_per_list * mean_ms / 60_000 + AROUND_MIN
    return (
        f"A session takes about {minutes:.0f} minutes, of which {AROUND_MIN:.0f} for "
        "consent, instructions and questionnaire."
    )


def study_origin(study: Study, seed: int, means: str = "") -> str:
    """Return which study, seed and code a table comes from."""
    return (
        f"{means}Study {study.name}, version {study.study.version}; seed {seed}; "
        f"code {code_version()}."
    )


def enough_participants(rows: pd.DataFrame, power: str, n_lists: int) -> str:
    """Return in words how many participants give a power of .80, of the sizes that were tried.

    Args:
        rows: A summary's rows of one comparison, a row for each size.
        power: The column that holds the power.
        n_lists: How many lists the study has.
    """
    sizes = rows.loc[rows[power] >= ENOUGH, "per_list"]
    if sizes.empty:
        return "more participants than were tried"
    return f"{int(sizes.min()) * n_lists} participants ({int(sizes.min())} per list)"
