"""How many people a norm of typed answers needs: its intervals, and its reliability.

The cloze probability of a word is binomial, so the expected width of its interval is a sum over the
possible numbers of people, and nothing is simulated. With true cloze probabilities of mean m and
standard deviation d over texts, the expected correlation of two norms of n people each is

    n / (n + s),  s = m (1 - m) / d^2 - 1,

the share of the variance between texts in that of the observed shares (Keats & Lord 1962,
Psychometrika 27, 59-72: the beta-binomial model, in which s is the sum of the two parameters).
"""

from collections import Counter
from dataclasses import dataclass
from math import ceil

import click
import numpy as np
import pandas as pd
from scipy.stats import binom, norm

from analysis.power.base import SIZE_COLUMNS, Outcome, PowerOptions, session_note, study_origin
from analysis.statistics.clustered import wilson
from analysis.statistics.resample import LEVEL
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists
from experiment.records import Kind
from experiment.responses.registry import response_of
from experiment.studies.study import Study

NORM = "norm"
# Mean and standard deviation over the 1,726 texts of de Varda, Marelli & Amenta (2024) of the cloze
# probability of the next word.
DEFAULT_CLOZE = "0.17,0.22"
TYPED = "typed"
_MIDDLE, _RARE = 0.5, 0.1
_USUAL_WIDTH, _RELIABLE = 0.1, 0.9
_MOST_PEOPLE, _ROUNDING = 10_000, 1e-9


@dataclass(frozen=True, slots=True)
class ClozeSpread:
    """The cloze probabilities that are expected of a study's texts.

    Attributes:
        mean: Their mean over texts.
        sd: Their standard deviation over texts.
    """

    mean: float
    sd: float

    @classmethod
    def parse(cls, text: str) -> "ClozeSpread":
        """Return the spread written as two numbers.

        Raises:
            click.BadParameter: The text is not two numbers that shares can have.
        """
        try:
            mean, sd = map(float, (text or DEFAULT_CLOZE).split(","))
        except ValueError:
            mean = sd = float("nan")
        # Only shares that are all 0 or 1 have the variance m (1 - m).
        if not (0 < mean < 1 and 0 < sd < (mean * (1 - mean)) ** 0.5):
            raise click.BadParameter(
                f'"{text}" is not a mean and a standard deviation of cloze probabilities, such as '
                f"{DEFAULT_CLOZE}: a mean between 0 and 1, and a standard deviation that shares "
                "with this mean can have",
                param_hint="--cloze",
            )
        return cls(mean, sd)

    @property
    def within(self) -> float:
        """The variance of one answer within texts, relative to that between texts."""
        return self.mean * (1 - self.mean) / self.sd**2 - 1

    def reliability(self, n: float) -> float:
        """Return the expected correlation over texts of two norms of n people each."""
        return n / (n + self.within)

    def people_for(self, reliability: float) -> int:
        """Return the fewest people for each text that give a reliability."""
        # Rounding must not add a person.
        return ceil(self.within * reliability / (1 - reliability) - _ROUNDING)


def expected_half_width(share: float, n: int) -> float:
    """Return the expected half-width of Wilson's interval of a share of n people's answers."""
    counts = np.arange(n + 1)
    z = np.full(n + 1, norm.ppf((1 + LEVEL) / 2))
    low, high = wilson(counts / n, np.full(n + 1, float(n)), z)
    return float(binom.pmf(counts, n, share) @ (high - low) / 2)


def people_for_width(share: float, width: float) -> int | None:
    """Return the fewest people whose interval is expected to be narrow enough; None if too many."""
    low, high = 0, _MOST_PEOPLE
    if expected_half_width(share, high) > width:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        is_narrow = expected_half_width(share, middle) <= width
        low, high = (low, middle) if is_narrow else (middle, high)
    return high


def plan_norm(study: Study, built: BuiltLists, options: PowerOptions) -> Outcome | None:
    """Return how many people a norm needs; None if no target is typed.

    Raises:
        click.BadParameter: The expected cloze probabilities are not two numbers.
    """
    response = response_of(study)
    lists_of_text = Counter(
        entry.item.item_id
        for entries in built.lists
        for entry in entries
        if entry.kind is Kind.TARGET and response.of_item(entry.item).name == TYPED
    )
    if not lists_of_text:
        return None
    spread = ClozeSpread.parse(options.cloze)
    n_lists = min(lists_of_text.values())
    rows = []
    for per_list in options.sizes:
        n = per_list * n_lists
        rows.append(
            {
                "label": str(per_list),
                "participants": per_list * len(built.lists),
                "n": n,
                "middle": expected_half_width(_MIDDLE, n),
                "rare": expected_half_width(_RARE, n),
                "halves": spread.reliability(n / 2),
                "whole": spread.reliability(n),
            }
        )
    table = _make_table(study, pd.DataFrame(rows).assign(group=""), options, spread)
    return Outcome(table, _describe(spread, options, n_lists, len(built.lists)))


def _make_table(
    study: Study, frame: pd.DataFrame, options: PowerOptions, spread: ClozeSpread
) -> Table:
    columns: tuple[Column, ...] = (
        *SIZE_COLUMNS[:2],
        Column("n", "for each text", "count"),
        Column("middle", f"at {_MIDDLE:g}", "number", "half the interval"),
        Column("rare", f"at {_RARE:g} or {1 - _RARE:g}", "number", "half the interval"),
        Column("halves", "two halves", "number", "correlation"),
        Column("whole", "two norms", "number", "correlation"),
    )
    if options.cost is not None:
        frame = frame.assign(cost=frame["participants"] * options.cost)
        columns = (*columns, Column("cost", "cost", "number"))
    return Table(
        name=NORM,
        title="People for a norm",
        caption="The expected half-width of 95% intervals of cloze probabilities, and the expected "
        "correlation over texts of two norms, of half as many and of as many people.",
        frame=frame,
        columns=columns,
        notes=(
            "Intervals: Wilson's, of a word that was chosen in advance. Correlations: n / (n + "
            f"{spread.within:.2f}), for cloze probabilities of one word for each text with a mean "
            f"of {spread.mean:g} and a standard deviation of {spread.sd:g} over texts (--cloze). "
            "Excluded participants are not subtracted.",
            session_note(study),
        ),
        origin=(study_origin(study, options.seed),),
    )


def _describe(
    spread: ClozeSpread, options: PowerOptions, n_lists: int, all_lists: int
) -> list[str]:
    width = options.width or _USUAL_WIDTH
    needed = people_for_width(_MIDDLE, width)
    return [
        f"For an interval of at most +/- {width:g} at a cloze probability of {_MIDDLE:g}: "
        + (
            f"more than {_MOST_PEOPLE:,} people for each text."
            if needed is None
            else _count_people(needed, n_lists, all_lists)
        ),
        f"For a reliability of {_RELIABLE:.2f} (the correlation of two norms): "
        + _count_people(spread.people_for(_RELIABLE), n_lists, all_lists),
    ]


def _count_people(n: int, n_lists: int, all_lists: int) -> str:
    per_list = ceil(n / n_lists)
    return f"{n} people for each text, {per_list * all_lists} participants ({per_list} per list)."
