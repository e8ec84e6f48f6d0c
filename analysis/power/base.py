"""The inputs and results of ``parallax power``, for every type of response, and its figure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.drawing import (
    GUIDE,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    TEXT,
    hide_unlabelled_axes,
    new_figure,
)
from analysis.power.simulated_choices import OVERALL, Assumptions
from analysis.tables.accuracy_table import Column, Table
from experiment.responses.registry import response_of
from experiment.responses.responders import RT_SPREAD
from experiment.studies.study import Study
from experiment.version import code_version

NAME, STOPPING = "power", "stopping"
# The target power of a study.
ENOUGH_POWER = 0.8
# The time for consent, instructions and questionnaire, in minutes.
OTHER_PAGES_MIN = 3.0


@dataclass(frozen=True, slots=True)
class PowerOptions:
    """The options of the command.

    Attributes:
        people: The assumptions about participants.
        sizes: Participants per list, in rising order.
        simulations: The number of simulated studies.
        seed: The random seed.
        difference: The difference to detect, or None for the type's default.
        width: The comparisons half-width, or None for the difference.
        sd_effects: Standard deviations of cell-specific participant and frame effects, in logits.
        means: The table of expected means, or None.
        scale: The scale to plan for, if there are several, or None for all.
        accuracy: The expected accuracy of every construction, or None for the published ones.
        like: The folder of a model's session that provides the items' probabilities, or None.
        slowdown_percent: The difference of reading times to detect, or None.
        log_sds: Five standard deviations of log reading times, separated by commas; may be empty.
        cost: The cost of a participant, or None.
        cloze: Mean and standard deviation of cloze probabilities, separated by a comma; may be
            empty.
        languages: In how many languages (or at how many sites) the study runs.
        sd_languages: The standard deviation of the effect between them, as a share of the effect.
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
    cloze: str = ""
    languages: int = 1
    sd_languages: float = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a study, or for one of its scales.

    Attributes:
        table: Power by the number of participants.
        sentences: The required number of participants.
        figure: The figure, or None.
        scale: The scale, if several are planned.
        closing: The text printed below all results.
        further: Tables besides the first, such as that of the stopping rule.
    """

    table: Table
    sentences: Sequence[str]
    figure: Figure | None = None
    scale: str = ""
    closing: str = ""
    further: tuple[Table, ...] = ()


# The columns of each number of participants.
SIZE_COLUMNS = (
    Column("label", "per list", "text"),
    Column("participants", "recruited", "count"),
    Column("kept", "kept", "count"),
)


def power_table(
    study: Study,
    options: PowerOptions,
    frame: pd.DataFrame,
    columns: Sequence[Column],
    *,
    notes: Sequence[str],
    origin: Sequence[str],
    found_in: str = "",
) -> Table:
    """Return the table of power by the number of participants.

    Args:
        study: The study.
        options: The options of the command.
        frame: A row for each size, with ``participants``.
        columns: The columns; those of kept participants are followed by the cost, if it is known.
        notes: What the numbers mean.
        origin: The simulated model, the study and the seed.
        found_in: Where the differences are looked for, for the caption.
    """
    if options.cost is not None and SIZE_COLUMNS[-1] in columns:
        frame = frame.assign(cost=frame["participants"] * options.cost)
        columns = (*columns, Column("cost", "cost", "number"))
    return Table(
        name=NAME,
        title="Power",
        caption=f"What {study.name} would find{found_in}, over {options.simulations} simulated "
        "studies.",
        frame=frame,
        columns=tuple(columns),
        notes=tuple(notes),
        origin=tuple(origin),
    )


def median_rt_ms(study: Study) -> float:
    """Return the median time of a trial: the study's own, or else that of its type of response."""
    return study.simulation.median_rt_ms or response_of(study).typical_rt_ms


def compute_session_minutes(study: Study) -> float:
    """Return the expected session length: above the median, since reaction times are log-normal."""
    mean_ms = median_rt_ms(study) * exp(RT_SPREAD**2 / 2)
    return study.design.trials_per_list * mean_ms / 60_000 + OTHER_PAGES_MIN


def session_note(study: Study) -> str:
    """Return the expected session length in a sentence."""
    return (
        f"A session takes about {compute_session_minutes(study):.0f} minutes, of which "
        f"{OTHER_PAGES_MIN:.0f} for consent, instructions and questionnaire."
    )


def study_origin(study: Study, seed: int) -> str:
    """Return the study, seed and code version that a table comes from."""
    version = study.study.version
    return f"Study {study.name}, version {version}; seed {seed}; code {code_version()}."


def enough_participants(rows: pd.DataFrame, power: str, n_lists: int) -> str:
    """Return in words how many participants, of the sizes tried, give a power of .80.

    Args:
        rows: A summary's rows of one comparison, a row for each size.
        power: The column that holds the power.
        n_lists: How many lists the study has.
    """
    sizes = rows.loc[rows[power] >= ENOUGH_POWER, "per_list"]
    if sizes.empty:
        return "more participants than were simulated for a power of .80"
    size = int(sizes.min())
    return f"{size * n_lists} participants ({size} per list) for a power of .80"


_HEIGHT_INCHES = 2.6


# What a summary says of each size: the column of the results, and how it is averaged.
_SUMMARY_COLUMNS = {
    "truth": ("truth", "first"),
    "kept": ("kept", "mean"),
    "half_width": ("half_width", "mean"),
    "power": ("detected", "mean"),
    "simulations": ("simulation", "nunique"),
}


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Return average results over simulated studies, for each size and construction.

    Studies with too few answers for an interval count as not detecting.

    Args:
        results: The results of ``simulate``, of choices or of comparisons.

    Returns:
        construction, per_list; kept and half_width (means),
        power (the share of studies that detected the difference), truth and simulations, as far
        as the results have them.
    """
    keys = ["construction", "per_list"]
    columns = {name: of for name, of in _SUMMARY_COLUMNS.items() if of[0] in results}
    return results.groupby(keys, sort=False).agg(**columns).reset_index()


def sizes_needed(
    summary_rows: pd.DataFrame, fits: Callable[[pd.DataFrame], "pd.Series[bool]"]
) -> pd.DataFrame:
    """Return the smallest sufficient number of participants per list for each construction.

    Args:
        summary_rows: A summary.
        fits: Selects the rows of the summary that are sufficient.

    Returns:
        construction, per_list; missing if no tried size is sufficient.
    """
    sufficient_rows = summary_rows[fits(summary_rows)].groupby("construction")["per_list"].min()
    names = summary_rows["construction"].unique()
    return sufficient_rows.reindex(names).astype("Int64").reset_index()


def power_figure(
    summary_rows: pd.DataFrame,
    *,
    label: str,
    wanted_width: float,
    single: str = "each construction",
) -> Figure:
    """Draw interval half-widths and power: a thin line per construction, a bold line overall.

    Args:
        summary_rows: A summary of ``analysis.power.simulated_choices``.
        label: What the power is for.
        wanted_width: The target half-width; drawn as a dashed line.
        single: The label of the thin lines.
    """
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
        left, right = figure.subplots(1, 2)
        _draw_lines(left, summary_rows, "half_width", wanted_width, single)
        left.set_ylabel("half the width of the 95% interval")
        left.set_ylim(bottom=0)
        _draw_lines(right, summary_rows, "power", 0.8, single)
        right.set_ylabel(label)
        right.set_ylim(-0.02, 1.02)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2,
                      frameon=False)  # fmt: skip
    return figure


def _draw_lines(
    axes: Axes, summary_rows: pd.DataFrame, value: str, target: float, single: str
) -> None:
    axes.axhline(target, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)))
    for name, rows in summary_rows.groupby("construction", sort=False):
        overall = name == OVERALL
        axes.plot(
            rows["per_list"],
            rows[value],
            "o-",
            color=PEOPLE if overall else "#999999",
            linewidth=1.8 if overall else 0.7,
            markersize=3.5 if overall else 0,
            zorder=3 if overall else 2,
            label=OVERALL if overall else single,
        )
        single = single if overall else "_nolegend_"
    axes.set_xlabel("participants per list, before exclusions")
    axes.grid(axis="y", color=GUIDE, linewidth=0.5)
    hide_unlabelled_axes(axes)
