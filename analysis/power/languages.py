"""Power of the mean effect of a study in several languages, as `parallax pool` tests it.

The simulation of one language gives the error of its own estimate for each number of participants.
Languages' true effects are drawn around the expected one, and their estimates around these.
"""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
from scipy.stats import norm

from analysis.findings.comparison_words import ALPHA, words_of
from analysis.power.base import ENOUGH_POWER, SIZE_COLUMNS, PowerOptions, power_table
from analysis.statistics.partial_pooling import average_effect
from analysis.statistics.resample import Floats, numpy_generator
from analysis.tables.accuracy_table import Column, Table
from experiment.studies.study import Study

LANGUAGES = "languages"


def pooled_power(
    power: pd.DataFrame, options: PowerOptions, n_lists: int, n_primary: int
) -> pd.DataFrame:
    """Return what a study in several languages shows, for each comparison and size.

    Args:
        power: A summary of one language: construction, measure, per_list, truth, half_width (at the
            level that the correction leaves) and kept.
        options: The options of the command.
        n_lists: The lists of each language.
        n_primary: How many comparisons are corrected for each other.

    Returns:
        The columns of the summary, with participants and kept of all languages, power and
        half_width (the mean one) of the mean effect, own (the share of languages whose own interval
        excludes 0 on the expected side).
    """
    quantile = float(norm.ppf(1 - ALPHA / n_primary / 2))
    rows = []
    for row in power.to_dict("records"):
        error, truth = row["half_width"] / quantile, row["truth"]
        rng = numpy_generator(options.seed, "languages", str(row["construction"]), row["per_list"])
        shape = (options.simulations, options.languages)
        spread = options.sd_languages * abs(truth)
        estimates = truth + spread * rng.standard_normal(shape) + error * rng.standard_normal(shape)
        if truth < 0:
            estimates = -estimates
        pooled = [_pool(of_study, error, n_primary) for of_study in estimates]
        rows.append(
            row
            | {
                "participants": row["per_list"] * n_lists * options.languages,
                "kept": row["kept"] * options.languages,
                "power": sum(low > 0 for low, _ in pooled) / options.simulations,
                "half_width": sum(half for _, half in pooled) / options.simulations,
                "own": float((estimates > row["half_width"]).mean()),
            }
        )
    return pd.DataFrame(rows)


def _pool(estimates: Floats, error: float, n_primary: int) -> tuple[float, float]:
    """Return the lower end of the mean effect's interval, and half of its width."""
    average = average_effect(estimates, 0 * estimates + error, 1 - ALPHA / n_primary)
    return average.low, average.mean - average.low


def make_languages_table(study: Study, pooled: pd.DataFrame, options: PowerOptions) -> Table:
    """Return the table of what the study shows in all languages together."""
    columns = (
        *SIZE_COLUMNS,
        Column("half_width", "half the interval", "number"),
        Column("power", "power", "number"),
        Column("own", "languages by themselves", "number"),
    )
    frame = pooled.assign(
        group=[
            f"{name}: {words_of(measure).with_unit(truth)} on average, SD "
            f"{words_of(measure).amount(options.sd_languages * abs(truth), signed=False)}"
            for name, measure, truth in zip(
                pooled["construction"], pooled["measure"], pooled["truth"], strict=True
            )
        ],
        label=pooled["per_list"].astype(str),
        kept=pooled["kept"].round(),
        half_width=[
            words_of(measure).scale(half)
            for measure, half in zip(pooled["measure"], pooled["half_width"], strict=True)
        ],
    )
    table = power_table(
        study,
        options,
        frame,
        columns,
        notes=(
            "Power: the share of simulated studies whose mean effect over the languages has an "
            "interval above 0 (or below, for an expected negative effect), as `parallax pool` "
            "computes it. Languages by themselves: the share of languages whose own interval shows "
            "the effect. Participants and cost are those of all languages.",
        ),
        origin=(),
        found_in=f" in {options.languages} languages with lists like these",
    )
    return replace(table, name=LANGUAGES, title="Power in several languages")


def describe_languages(pooled: pd.DataFrame, options: PowerOptions) -> Iterator[str]:
    """Yield how many participants each comparison's mean effect needs."""
    for name, rows in pooled.groupby("construction", sort=False):
        enough = rows[rows["power"] >= ENOUGH_POWER]
        if enough.empty:
            yield (
                f"{name}, the mean of {options.languages} languages: more participants than were "
                "simulated for a power of .80."
            )
            continue
        row = enough.iloc[0]
        cost = (
            ""
            if options.cost is None
            else f", at a cost of {row['participants'] * options.cost:,.2f}"
        )
        yield (
            f"{name}, the mean of {options.languages} languages: {row['participants']:,} "
            f"participants ({row['per_list']} per list in each language) for a power of "
            f".80{cost}."
        )
