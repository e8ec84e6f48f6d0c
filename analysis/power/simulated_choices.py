"""Power of choices: a design, answered many times by simulated participants.

A judgment of participant p on item i of construction c is right with probability

    P = lapse / 2 + (1 - lapse) * logistic(b_c + u_p + v_i),  u ~ N(0, sd_p), v ~ N(0, sd_i),

the logistic regression with crossed random effects of Baayen, Davidson & Bates (2008), Journal of
Memory and Language 59, 390-412, with lapses. ``b_c`` is chosen so that P averages to the accuracy
expected of construction c. A share of the participants guess in every trial; the study's own
exclusion rules decide which participants are kept. Intervals come from
``analysis.statistics.clustered``.

If each item's accuracy is given, for example by a language model's choices, the item's logit
replaces ``b_c + v_i``. Harder items then take longer: by the EZ-diffusion model (Wagenmakers, van
der Maas & Grasman 2007, Psychonomic Bulletin & Review 14, 3-22), the mean decision time at accuracy
logit L, relative to that at L = 0, is 2 tanh(L / 2) / L. Reaction times are log-normal with a
median proportional to this time; a typical item has the study's median.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from analysis.errors import AnalysisError
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.resample import numpy_generator
from experiment.design.counterbalancing import target_positions
from experiment.exclusion.rules import verdict
from experiment.records import PAIR, Judgment, ListEntry, Side
from experiment.responses.responders import RT_SPREAD
from experiment.seeds import generator
from experiment.studies.study import Rule

Floats = NDArray[np.float64]

OVERALL = "all judgments"
_EDGE_SHARE = 0.005
# Below this half logit, the decision time equals that at chance to six digits.
_FLAT = 1e-3
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(31)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions about participants.

    Attributes:
        sd_participants: The standard deviation between participants, in logits.
        sd_items: The standard deviation between items of one construction, in logits.
        lapse: The share of trials answered by guessing.
        guessing: The share of participants who guess in every trial.
    """

    sd_participants: float = 0.5
    sd_items: float = 0.5
    lapse: float = 0.02
    guessing: float = 0.1


@dataclass(frozen=True, slots=True)
class Design:
    """The study's lists, as arrays.

    Attributes:
        lists: The entries of each list.
        constructions: The names of the constructions.
        item: For each list, shape ``(trials,)``: the item's number in the study.
        construction: For each list, shape ``(trials,)``: the construction's number.
        item_ids: The items' ids, by their number.
    """

    lists: Sequence[Sequence[ListEntry]]
    constructions: list[str]
    item: list[NDArray[np.intp]]
    construction: list[NDArray[np.intp]]
    item_ids: list[str]

    @property
    def n_items(self) -> int:
        """The total number of items in the lists."""
        return len(self.item_ids)


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected accuracies and reaction times of participants.

    Attributes:
        constructions: The accuracy of each construction.
        items: The logit of each item, if known; otherwise logits are drawn at random.
        median_rt_ms: The median reaction time to a typical item, if items are known.
    """

    constructions: Sequence[float]
    items: Floats | None = None
    median_rt_ms: float = 0.0


def design_of(lists: Sequence[Sequence[ListEntry]]) -> Design:
    """Convert built lists to arrays."""
    items = {
        item_id: number
        for number, item_id in enumerate(
            dict.fromkeys(entry.item.item_id for entries in lists for entry in entries)
        )
    }
    names = list(dict.fromkeys(entry.item.construction for entries in lists for entry in entries))
    return Design(
        lists=lists,
        constructions=names,
        item=[np.array([items[entry.item.item_id] for entry in entries]) for entries in lists],
        construction=[
            np.array([names.index(entry.item.construction) for entry in entries])
            for entries in lists
        ],
        item_ids=list(items),
    )


def expect_from_items(
    design: Design, p_good: Mapping[str, float], people: Assumptions, rt_ms: float
) -> Expected:
    """Return expectations for participants who find items as hard as the given probabilities.

    Args:
        design: The lists.
        p_good: The probability of the expected option, by the item's id.
        people: The assumptions about participants; ``sd_items`` is not used.
        rt_ms: The median reaction time to a typical item.

    Raises:
        AnalysisError: An item has no probability, or lapses make a probability unreachable.
    """
    if missing := [item_id for item_id in design.item_ids if item_id not in p_good]:
        raise AnalysisError(
            f"{len(missing)} of the study's {design.n_items} items have no probability, such as "
            f'"{missing[0]}"',
            expected="the probability of the expected option for every item of the lists",
            remedy="Take more sessions: as many as the study has lists cover every item",
        )
    # Clip probabilities of 0 and 1, which have no logit and are unrealistic.
    probabilities = [p_good[item_id] for item_id in design.item_ids]
    share = np.clip(probabilities, people.lapse / 2 + _EDGE_SHARE, 1 - _EDGE_SHARE)
    share = np.minimum(share, 1 - people.lapse / 2 - _EDGE_SHARE)
    by_participant = replace(people, sd_items=0.0)
    distinct_shares, index = np.unique(share, return_inverse=True)
    logits = np.array([intercept(float(accuracy), by_participant) for accuracy in distinct_shares])[
        index
    ]
    item, construction = np.concatenate(design.item), np.concatenate(design.construction)
    n = len(design.constructions)
    sums = np.bincount(construction, share[item], n)
    return Expected(list(sums / np.bincount(construction, minlength=n)), logits, rt_ms)


def relative_decision_time(logit: Floats) -> Floats:
    """Return the mean decision time at logits of accuracy, relative to that at chance."""
    half = np.abs(logit) / 2
    relative: Floats = np.where(half < _FLAT, 1.0, np.tanh(half) / np.maximum(half, _FLAT))
    return relative


def intercept(accuracy: float, people: Assumptions) -> float:
    """Return the logit at which the mean probability of a right answer equals the accuracy.

    The average over both random effects is a Gauss-Hermite sum over their summed variance.

    Raises:
        AnalysisError: Lapses make the accuracy unreachable.
    """
    spread = np.hypot(people.sd_participants, people.sd_items)
    weights = _WEIGHTS / _WEIGHTS.sum()

    def excess(logit: float) -> float:
        attentive = float(weights @ expit(logit + spread * _NODES))
        return people.lapse / 2 + (1 - people.lapse) * attentive - accuracy

    if not excess(-30) < 0 < excess(30):
        # Perfect accuracy has no logit; use the highest accuracy that lapses allow.
        return 30.0 if excess(30) <= 0 else _refuse_accuracy(accuracy, people)
    return float(brentq(excess, -30, 30))


def _refuse_accuracy(accuracy: float, people: Assumptions) -> float:
    raise AnalysisError(
        f"an accuracy of {accuracy:.2f} cannot be reached with a lapse rate of {people.lapse:.2f}",
        expected=f"an accuracy above {people.lapse / 2:.2f}",
    )


def simulate(
    design: Design,
    expected: Expected,
    people: Assumptions,
    rules: Sequence[Rule],
    sizes: Sequence[int],
    simulations: Iterable[int],
    *,
    difference: float,
    seed: int,
) -> pd.DataFrame:
    """Return the result of each simulated study: one row per study, size and construction.

    Smaller sizes use the first participants of each list of the same simulated study.

    Args:
        design: The lists.
        expected: The expected accuracies.
        people: The assumptions about participants.
        rules: The study's exclusion rules.
        sizes: Participants per list.
        simulations: The numbers of the simulated studies.
        difference: The distance between the true accuracy and the value to distinguish from it.
        seed: The random seed.

    Returns:
        ``simulation``, ``per_list``, ``construction`` (or ``OVERALL``), ``kept``, ``accuracy``,
        ``half_width`` and ``detected``: whether the interval excludes accuracy - difference.
    """
    items = expected.items
    base = (
        np.zeros(0)
        if items is not None
        else _item_intercepts(design, expected.constructions, people)
    )
    places = [
        [_place_of(entries, seed, list_, place) for place in range(max(sizes))]
        for list_, entries in enumerate(design.lists)
    ]
    results = []
    for number in simulations:
        rng = numpy_generator(seed, "power", number)
        item_logits = (
            base + rng.normal(0, people.sd_items, design.n_items) if items is None else items
        )
        judgments = _simulate_judgments(
            design, item_logits, expected.median_rt_ms, people, rules, places, rng
        )
        for size in sizes:
            of_size = judgments[judgments["place"] < size]
            rows = _compute_intervals(of_size, design, expected.constructions, difference)
            results.append(rows.assign(simulation=number, per_list=size))
    return pd.concat(results, ignore_index=True)


def _item_intercepts(design: Design, accuracy: Sequence[float], people: Assumptions) -> Floats:
    """Return the intercept of each item's construction."""
    of_construction = np.array([intercept(share, people) for share in accuracy])
    bases = np.zeros(design.n_items)
    bases[np.concatenate(design.item)] = of_construction[np.concatenate(design.construction)]
    return bases


def _simulate_judgments(
    design: Design,
    items: Floats,
    median_rt_ms: float,
    people: Assumptions,
    rules: Sequence[Rule],
    places: Sequence[Sequence["_Place"]],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the judgments of the participants whom the rules keep."""
    per_list = len(places[0])
    slower = relative_decision_time(items)
    typical = float(np.median(slower))
    blocks = []
    for list_, (item, construction) in enumerate(
        zip(design.item, design.construction, strict=True)
    ):
        participant_effects = rng.normal(0, people.sd_participants, (per_list, 1))
        attentive = expit(items[item] + participant_effects)
        probability = people.lapse / 2 + (1 - people.lapse) * attentive
        probability[rng.random(per_list) < people.guessing] = 0.5
        right = rng.random(probability.shape) < probability
        times = _draw_times(median_rt_ms * slower[item] / typical, per_list, rng)
        is_kept = [
            verdict(rules, _session_judgments(design.lists[list_], row, own_times, own_screen)).kept
            for row, own_times, own_screen in zip(right, times, places[list_], strict=True)
        ]
        index = np.flatnonzero(is_kept)
        blocks.append(
            pd.DataFrame(
                {
                    "place": np.repeat(index, len(item)),
                    "participant": np.repeat(index + list_ * per_list, len(item)),
                    "item": np.tile(item, len(index)),
                    "construction": np.tile(construction, len(index)),
                    "right": right[index].ravel().astype(float),
                }
            )
        )
    return pd.concat(blocks, ignore_index=True)


def _draw_times(median_ms: Floats, n: int, rng: np.random.Generator) -> list[list[float | None]]:
    """Return the reaction times of ``n`` participants by trial; None without a known median."""
    if not median_ms.any():
        return [[None] * len(median_ms)] * n
    drawn = median_ms * np.exp(RT_SPREAD * rng.standard_normal((n, len(median_ms))))
    return [list(row) for row in drawn]


@dataclass(frozen=True, slots=True)
class _Place:
    """The trials of one place (participant slot): entry positions, and sides of good options."""

    positions: Sequence[int]
    good_sides: Sequence[Side]


def _place_of(entries: Sequence[ListEntry], seed: int, list_: int, place: int) -> _Place:
    constructions = [entry.item.construction for entry in entries]
    # Any order works: the supported rules only require that sides vary.
    positions = generator(seed, "power", list_, place).sample(range(len(entries)), len(entries))
    return _Place(positions, target_positions(constructions, seed, list_, place))


def _session_judgments(
    entries: Sequence[ListEntry],
    right: NDArray[np.bool_],
    times: Sequence[float | None],
    place: _Place,
) -> list[Judgment]:
    return [
        Judgment(
            position=position + 1,
            item_id=entry.item.item_id,
            kind=entry.kind,
            construction=entry.item.construction,
            chose_good=bool(chose_good),
            chosen_side=side if chose_good else PAIR[side is Side.FIRST],
            rt_ms=rt_ms,
            condition=entry.item.condition,
            extra=entry.item.extra,
        )
        for entry, chose_good, rt_ms, position, side in zip(
            entries, right, times, place.positions, place.good_sides, strict=True
        )
    ]


def _compute_intervals(
    judgments: pd.DataFrame, design: Design, accuracy: Sequence[float], difference: float
) -> pd.DataFrame:
    n = len(design.constructions)
    present = np.unique(judgments["construction"])
    index = np.searchsorted(present, judgments["construction"])
    # Every judgment counts once for its construction and once for the whole study.
    group = np.concatenate([index, np.full(len(judgments), len(present))]).astype(np.intp)
    right, person, item = (
        np.tile(judgments[name].to_numpy(), 2) for name in ("right", "participant", "item")
    )
    if judgments.empty:
        return pd.DataFrame(columns=["construction", "kept", "accuracy", "half_width", "detected"])
    intervals = clustered_intervals(right, person, item, group)
    share = np.bincount(np.concatenate(design.construction), minlength=n)
    truth = np.array(accuracy)
    true = np.append(truth[present], float(share @ truth / share.sum()))
    return pd.DataFrame(
        {
            "construction": [*(design.constructions[number] for number in present), OVERALL],
            "kept": judgments["participant"].nunique(),
            "accuracy": intervals.accuracy,
            "half_width": (intervals.high - intervals.low) / 2,
            "detected": (intervals.low > true - difference) | (intervals.high < true - difference),
        }
    )
