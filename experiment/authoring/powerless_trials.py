"""Why no answers to the trials that an exclusion rule counts are beyond its bound."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from experiment.authoring.findings import Examined
from experiment.design.counterbalancing import arrangements
from experiment.design.lists import ListEntry
from experiment.errors import ParallaxError
from experiment.exclusion.max_errors import MaxErrorRate, MaxErrors
from experiment.exclusion.outlier import FEWEST, Outlier
from experiment.exclusion.rating_gap import OfScale, RatingGap
from experiment.exclusion.rules import needs
from experiment.exclusion.selection import Selection
from experiment.exclusion.sides import SameSide
from experiment.exclusion.times import TooLate
from experiment.responses.base import Arrangement, Judged, ResponseType
from experiment.responses.rating.scales import Scales
from experiment.responses.registry import response_of


class Powerless(NamedTuple):
    """Why a rule can exclude nobody.

    Attributes:
        reason: Why, after "the rule can never exclude anyone: ".
        key: The key of study.toml that it is about.
        expected: What would exclude somebody; empty where no value of the key would.
    """

    reason: str
    key: str
    expected: str = ""


class _Trial(NamedTuple):
    """A selected trial as the first participant of its list has it, answered without a fault."""

    entry: ListEntry
    response: ResponseType
    shown: Arrangement
    judged: Judged


def of_trials(examined: Examined, rule: Selection) -> Iterator[Powerless]:
    """Yield why no answers to the trials that a rule counts are beyond its bound."""
    try:
        response = response_of(examined.study)
        lists = list(_selected(examined, rule, response))
    except ParallaxError:
        # What cannot be shown is named by the checks of the items.
        return
    if not any(lists) or needs(rule) not in {None, *response.gives}:
        return
    if isinstance(rule, OfScale) and rule.scale is not None:
        lists = [[one for one in each if rule.scale in dict(one.judged.ratings)] for each in lists]
        if not any(lists):
            yield Powerless(f'none of the {rule.trials} has the scale "{rule.scale}"', "scale",
                            "the scale of a task that it counts")  # fmt: skip
            return
    if isinstance(rule, TooLate) and not _counted(lists, lambda one: one.response.deadline_ms):
        yield Powerless("it counts answers after the deadline, and there is none", "rule",
                        "deadline_ms below [trial.parameters]")  # fmt: skip
    if isinstance(rule, RatingGap):
        yield from _no_gap(rule, lists)
    if isinstance(rule, MaxErrors | MaxErrorRate) or (
        isinstance(rule, Outlier) and rule.measure == "accuracy"
    ):
        yield from _errors(rule, _counted(lists, lambda one: one.judged.chose_good is not None))
    if isinstance(rule, SameSide):
        yield from _sides(
            rule, _counted(lists, lambda one: one.judged.answer or one.judged.chosen_side)
        )
    if isinstance(rule, Outlier):
        yield from _outlier(rule, examined)


def _selected(
    examined: Examined, rule: Selection, response: ResponseType
) -> Iterator[list[_Trial]]:
    built = examined.built
    for number, entries in enumerate(built.lists if built else ()):
        assert built is not None
        shown = arrangements(entries, response, seed=built.seed, list_=number, place=0)
        found = []
        for entry, one in zip(entries, shown, strict=True):
            item = entry.item
            if rule.selects(item.construction, item.condition, entry.kind, item.extra):
                judged = response.judged(one, response.faultless(one))
                found.append(_Trial(entry, response.of_item(item), one, judged))
        yield found


def _counted(lists: list[list[_Trial]], counts: Callable[[_Trial], object]) -> int:
    """Return the most trials of a list that count."""
    return max(sum(bool(counts(one)) for one in trials) for trials in lists)


def _errors(rule: Selection, most: int) -> Iterator[Powerless]:
    if not most:
        yield Powerless(f"no answer to the {rule.trials} is right or wrong", "rule",
                        "trials that have an expected answer")  # fmt: skip
    elif isinstance(rule, MaxErrors) and rule.max_errors >= most:
        yield Powerless(f"it allows {rule.max_errors} errors on {most} trials", "rule",
                        f"max_errors below {most}")  # fmt: skip


def _sides(rule: SameSide, most: int) -> Iterator[Powerless]:
    if not most:
        yield Powerless(f"no answer to the {rule.trials} has a side or a point", "rule")
    elif rule.max_run is not None and rule.max_run >= most:
        yield Powerless(f"it allows {rule.max_run} in a row of {most} trials", "rule",
                        f"max_run below {most}")  # fmt: skip


def _no_gap(rule: RatingGap, lists: list[list[_Trial]]) -> Iterator[Powerless]:
    trials = [one for each in lists for one in each]
    if not any(one.entry.item.alternative for one in trials):
        yield Powerless(
            "its sentences have no other version to lie above", "rule",
            "trials of items with two versions, or another rule, such as one of times or sides",
        )  # fmt: skip
        return
    # Of tasks with scales of their own, any may have the gap.
    points = max(_points(rule, one) for one in trials)
    if max(map(len, lists)) == 1:
        yield Powerless("it compares two versions, but counts one trial of a session", "rule",
                        "two trials or more")  # fmt: skip
    elif rule.min_gap <= 1 - points:
        yield Powerless(
            f"no gap on {points} points is below {rule.min_gap:g}", "rule", "min_gap above 0"
        )


def _points(rule: RatingGap, trial: _Trial) -> int:
    """Return the points of the scale that counts; of several, of the one with the fewest."""
    if isinstance(trial.response, Scales):
        scales = trial.response.scales
        return min(one.points for name, one in scales.items() if rule.scale in (None, name))
    return trial.shown.points or trial.response.n_answers


def _outlier(rule: Outlier, examined: Examined) -> Iterator[Powerless]:
    design = examined.study.design
    n = design.lists * design.participants_per_list
    # The largest distance from the mean that one of n values can have (Shiffler 1988).
    farthest = (n - 1) / math.sqrt(n)
    if n < FEWEST:
        yield Powerless(f"it compares {FEWEST} participants or more, and the study has {n}", "rule")
    elif rule.method == "sd" and rule.cutoff >= farthest:
        yield Powerless(
            f"among {n} participants none can be {rule.cutoff:g} standard deviations away", "rule",
            f'cutoff below {farthest:.2f}, or method = "mad"',
        )  # fmt: skip
