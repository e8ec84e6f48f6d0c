"""How many participants find which of two models is nearer to people, with separating items."""

from collections.abc import Iterator
from math import ceil
from statistics import fmean

from scipy.stats import norm

from analysis.power.base import ENOUGH_POWER, PowerOptions
from experiment.design.lists import BuiltLists
from experiment.design.separating import are_choices
from experiment.studies.study import Study

# How much more often people agree with the nearer model, where the models differ.
_USUAL_DIFFERENCE = 0.1
_LEVEL = 0.95


def describe_separating(study: Study, built: BuiltLists, options: PowerOptions) -> Iterator[str]:
    """Yield the participants that find the nearer model; nothing if frames were drawn alike.

    Answers count as independent, and those on which models agree tell nothing.
    """
    items = (entry.item for entries in built.lists for entry in entries)
    if not built.inclusion or not are_choices(study, items):
        return
    shown, at_random = count_differing_trials(built)
    difference = options.difference or _USUAL_DIFFERENCE
    z = norm.ppf((1 + _LEVEL) / 2) + norm.ppf(ENOUGH_POWER)
    answers = z**2 * (1 - difference**2) / difference**2
    n_shown, n_random = (
        f"{ceil(answers / trials):,} participants" if trials else "no number of participants"
        for trials in (shown, at_random)
    )
    yield (
        f"Items that separate models: on average {shown:.1f} trials of a session are ones on which "
        f"two of the models differ ({at_random:.1f} if frames were drawn at random). If people "
        f"choose there what one of them chooses in {(1 + difference) / 2:.1%} of independent "
        f"answers, {n_shown} show that it is nearer with a power of .80 ({n_random} at random)."
    )


def count_differing_trials(built: BuiltLists) -> tuple[float, float]:
    """Return the trials of a session on which two models differ: as drawn, and drawn at random."""
    rows = {(row.template, row.frame): row for row in built.inclusion}
    alternatives: dict[tuple[str, int | None], list[float]] = {}
    for row in built.inclusion:
        alternatives.setdefault((row.template, row.pair), []).append(row.difference)
    shown, at_random = [], []
    for entries in built.lists:
        items = [(entry.item.template, entry.item.frame) for entry in entries]
        drawn = [rows[item] for item in items if item in rows]
        shown.append(sum(row.difference for row in drawn))
        at_random.append(sum(fmean(alternatives[row.template, row.pair]) for row in drawn))
    return fmean(shown), fmean(at_random)
