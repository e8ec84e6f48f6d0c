"""Compare accuracies of participants and models, or of models, on the same items.

A difference of accuracies has an interval even where a judge is always right. It is made of the
two accuracies' own Wilson intervals, which are longer on the appropriate side, and of the
correlation of the two estimates, which share items. Newcombe, R. G. (1998). Improved confidence
intervals for the difference between binomial proportions based on paired data. Statistics in
Medicine, 17(22), 2635-2650. Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about
effect measures. Statistics in Medicine, 27(10), 1693-1702. A p value is the level at which the
interval's end touches the tested value, so that p value and interval never contradict each other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from analysis.data.categorical import decode_texts, find_codes
from analysis.data.declared import clustering_column
from analysis.data.inclusion import COLUMNS
from analysis.statistics.clustered import Clustered, clustered_intervals, student_quantile, wilson
from analysis.statistics.drawn_frames import Drawn, find_drawn, frame_products
from analysis.statistics.resample import LEVEL, Floats, codes
from analysis.statistics.withheld import UNITS, too_few_units

# The default margin within which two accuracies count as equal.
MARGIN = 0.1
Codes = NDArray[np.intp]
_DistanceBeyond = Callable[[Floats], Floats]
_HALVINGS = 40
# The smallest margin is the study's margin divided by this number.
LEAST_MARGIN_SHARE = 5
# An interval of more standard errors than this includes every possible difference.
_MOST_STANDARD_ERRORS = 100.0


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two accuracies for each group, of shape ``(groups,)``.

    Attributes:
        first: The first accuracy.
        second: The second.
        n_first: The number of independent judgments with the same information about the first.
        n_second: The same number for the second.
        correlation: The correlation of the two estimates.
        freedom: Degrees of freedom.
    """

    first: Floats
    second: Floats
    n_first: Floats
    n_second: Floats
    correlation: Floats
    freedom: Floats

    @property
    def difference(self) -> Floats:
        """The first accuracy minus the second."""
        return self.first - self.second

    def interval(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return the ends of the difference's interval, of 95% by default."""
        z = student_quantile(self.freedom, level)
        return self._compute_low_end(z), self._compute_high_end(z)

    def _compute_low_end(self, z: Floats) -> Floats:
        """Return the lower end of the interval at ``z`` standard errors, for each group."""
        first_low, _ = wilson(self.first, self.n_first, z)
        _, second_high = wilson(self.second, self.n_second, z)
        return self.difference - self._compute_distance(
            self.first - first_low, second_high - self.second
        )

    def _compute_high_end(self, z: Floats) -> Floats:
        """Return the upper end."""
        _, first_high = wilson(self.first, self.n_first, z)
        second_low, _ = wilson(self.second, self.n_second, z)
        return self.difference + self._compute_distance(
            first_high - self.first, self.second - second_low
        )

    def _compute_distance(self, first: Floats, second: Floats) -> Floats:
        squared = first**2 - 2 * self.correlation * first * second + second**2
        distance: Floats = np.sqrt(np.maximum(squared, 0))
        return distance

    def p_above(self, values: Floats) -> Floats:
        """Return the one-sided p for the difference being at most each value.

        Args:
            values: Shape ``(values, groups)``, as what is returned.
        """
        return self._compute_p(
            lambda z: self._compute_low_end(z) - values, self.difference - values
        )

    def p_below(self, values: Floats) -> Floats:
        """Return the one-sided p for the difference being at least each value (see ``p_above``)."""
        return self._compute_p(
            lambda z: values - self._compute_high_end(z), values - self.difference
        )

    def _compute_p(self, beyond: _DistanceBeyond, distance: Floats) -> Floats:
        """Return Student's p of the widest interval that excludes the value.

        If the estimate is on the other side of the value, p is at least one half and reported as
        .5.
        """
        low, high = np.zeros_like(distance), np.full_like(distance, _MOST_STANDARD_ERRORS)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            outside = beyond(middle) > 0
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        p = np.where(distance > 0, student.sf(low, self.freedom), 0.5)
        p_values: Floats = np.where(self.freedom > 0, p, np.nan)
        return p_values


def people_against_models(
    judgments: pd.DataFrame,
    decisions: Mapping[str, pd.DataFrame],
    by: Sequence[str],
    margin: float = MARGIN,
    *,
    level: float = LEVEL,
) -> pd.DataFrame:
    """Return participants' accuracy minus each model's, over all items and in each group.

    Both are averages over the same judgments: a model's decision is weighted by the number of
    judgments of its item. Human accuracy varies over participants and items, a model's over items
    only; item effects common to both cancel. Effects are marginal, on the scale of probabilities,
    not conditional on a participant or item.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``. If participants are
            unknown, judgments cluster by item only.
        decisions: Each model's decisions; they cover every judged item.
        by: The grouping columns.
        margin: Smaller differences count as no difference.
        level: The level of the intervals.

    Returns:
        judge, the grouping columns (empty: all items), people, model, difference, low, high (95%),
        p (two-sided test of no difference), margin (``margin_near_the_end``), p_equivalence (of a
        difference of at least this margin: two one-sided tests, Schuirmann (1987)), p_holm and
        p_fdr (``p`` adjusted for the groups of one model: Holm (1979), Benjamini and Hochberg
        (1995)), n_items, n_judgments, n_participants (0 if unknown), n_frames. With too few
        participants or frames (``withheld``) there is neither interval nor p.
    """
    person, item = (codes(judgments[name])[0] for name in ("participant", "item_id"))
    unit = codes(judgments[clustering_column(judgments)])[0]
    people_right = judgments["chose_good"].to_numpy(dtype=float)
    grouped = judgments.groupby(list(by), sort=False, observed=True)
    numbers = grouped.ngroup().to_numpy().astype(np.intp)
    parts = [
        (pd.DataFrame({name: [""] for name in by}), np.zeros_like(numbers)),
        (decode_texts(grouped.size().reset_index()[list(by)]), numbers),
    ]
    sizes = [
        _count_sizes(group, item)
        | {
            "n_participants": judgments.groupby(group)["participant"].nunique().to_numpy(),
            "n_frames": _count_distinct(group, unit).astype(np.intp),
        }
        for _, group in parts
    ]
    frames, drawn = [], find_drawn(judgments)
    for model, frame in decisions.items():
        index = find_codes(judgments["item_id"], pd.Index(frame["item_id"].tolist()))
        model_right = frame["correct"].to_numpy(dtype=float)[index]
        for (keys, group), group_sizes in zip(parts, sizes, strict=True):
            pair = _people_and_model((people_right, model_right), person, unit, group, drawn)
            rows = _test_rows(pair, margin, level).assign(**group_sizes)
            too_few = too_few_units(rows["n_participants"], rows["n_frames"])
            rows.loc[too_few, ["low", "high", "p", "p_equivalence"]] = np.nan
            renamed = rows.rename(columns={"first": "people", "second": "model"})
            frames.append(pd.concat([keys, add_adjusted_p(renamed)], axis=1).assign(judge=model))
    return pd.concat(frames, ignore_index=True)


def margin_near_the_end(better: Floats, margin: float) -> Floats:
    """Return the margin for accuracies of which the better one has the given value.

    Near 1, a constant margin would treat two or seven times as many errors as equal. There the
    margin is at most the better judge's error rate, so that the other judge makes fewer than twice
    as many errors; it is at least a fifth of the study's declared margin.

    Args:
        better: Shape ``(groups,)``: the higher of the two accuracies.
        margin: The study's margin.
    """
    margins: Floats = np.clip(1 - better, margin / LEAST_MARGIN_SHARE, margin)
    return margins


def _people_and_model(
    right: tuple[Floats, Floats], person: Codes, item: Codes, group: Codes, drawn: Drawn | None
) -> _Pair:
    people_right, model_right = right
    people = clustered_intervals(people_right, person, item, group, drawn=drawn)
    # A model is one judge: only items vary, weighted by their number of judgments.
    model = clustered_intervals(model_right, np.zeros_like(person), item, group, drawn=drawn)
    n_people = _count_distinct(group, person)
    n_items = _count_distinct(group, item)
    fewer = np.where(n_people > 1, np.minimum(n_people, n_items), n_items)
    return _Pair(
        people.accuracy,
        model.accuracy,
        _effective_size(people, fewer),
        _effective_size(model, n_items),
        _correlate_estimates(people_right, model_right, people, model, item, group, drawn),
        fewer - 1,
    )


def _effective_size(intervals: Clustered, clusters: Floats) -> Floats:
    """Return the effective number of judgments; the number of clusters if all judgments agree."""
    varies = intervals.standard_error > 0
    effective: Floats = np.where(varies, intervals.n_effective, clusters)
    return effective


def _correlate_estimates(
    first_right: Floats,
    second_right: Floats,
    first: Clustered,
    second: Clustered,
    item: Codes,
    group: Codes,
    drawn: Drawn | None,
) -> Floats:
    """Return the correlation of the estimates of two accuracies, caused by shared items."""
    weight = np.ones(len(group)) if drawn is None else drawn.weight
    share = weight / np.bincount(group, weight)[group]
    influences = [
        share * (chosen - accuracy.accuracy[group])
        for chosen, accuracy in ((first_right, first), (second_right, second))
    ]
    pairs, place = np.unique(group * (item.max() + 1) + item, return_inverse=True)
    of_item = [np.bincount(place, influence) for influence in influences]
    of_group = pairs // (item.max() + 1)
    size = np.bincount(of_group).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = np.bincount(of_group, of_item[0] * of_item[1]) * size / (size - 1)
        if drawn is not None:
            covariance, _ = frame_products(influences[0], influences[1], item, group, drawn)
        raw = covariance / (first.standard_error * second.standard_error)
    # If one accuracy is 0 or 1, its error is zero or a rounding error, and no divisor.
    correlation: Floats = np.clip(np.nan_to_num(raw, posinf=0.0, neginf=0.0), -1.0, 1.0)
    return correlation


def _count_distinct(group: Codes, unit: Codes) -> Floats:
    """Return the number of distinct units in each group."""
    pairs = np.unique(group * (unit.max() + 1) + unit)
    n_distinct: Floats = np.bincount(pairs // (unit.max() + 1)).astype(float)
    return n_distinct


def _count_sizes(group: Codes, item: Codes) -> dict[str, Codes]:
    return {
        "n_items": _count_distinct(group, item).astype(np.intp),
        "n_judgments": np.bincount(group),
    }


def _test_rows(pair: _Pair, margin: float, level: float = LEVEL) -> pd.DataFrame:
    low, high = pair.interval(level)
    capped_margin = margin_near_the_end(np.maximum(pair.first, pair.second), margin)
    nothing = np.zeros_like(capped_margin)
    above, above_lower = pair.p_above(np.stack([nothing, -capped_margin]))
    below, below_upper = pair.p_below(np.stack([nothing, capped_margin]))
    return pd.DataFrame(
        {
            "first": pair.first,
            "second": pair.second,
            "difference": pair.difference,
            "low": low,
            "high": high,
            "p": 2 * np.minimum(above, below),
            "margin": capped_margin,
            "p_equivalence": np.maximum(above_lower, below_upper),
        }
    )


def add_adjusted_p(rows: pd.DataFrame) -> pd.DataFrame:
    """Add p_holm and p_fdr, the p values adjusted for each other; NaN stays NaN."""
    p = rows["p"].to_numpy(dtype=float)
    is_known = ~np.isnan(p)
    columns = {"p_holm": np.full(len(p), np.nan), "p_fdr": np.full(len(p), np.nan)}
    if is_known.any():
        columns["p_holm"][is_known] = _adjust_by_holm(p[is_known])
        columns["p_fdr"][is_known] = false_discovery_control(p[is_known])
    return rows.assign(**columns)


def _adjust_by_holm(p: Floats) -> Floats:
    """Return Holm's adjusted p values.

    statsmodels' ``multipletests`` gives the same result but runs the garbage collector at each
    call, which takes 90% of the comparison's time.
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted_p = np.empty(len(p))
    adjusted_p[order] = np.minimum(stepped, 1.0)
    return adjusted_p


def models_against_models(
    decisions: Mapping[str, pd.DataFrame],
    by: str,
    margin: float = MARGIN,
    *,
    clustered: bool = False,
    level: float = LEVEL,
) -> pd.DataFrame:
    """Return each pair of models compared on the items that both decided.

    Args:
        decisions: Each model's decisions. If they have the column ``frame``, items of one frame are
            not treated as independent.
        by: The grouping column.
        margin: Smaller differences count as no difference.
        clustered: Whether groups are a sample, so that the interval over all items treats groups,
            not items, as independent; intervals of a single group are over its items.
        level: The level of the intervals.

    Returns:
        first_model, second_model, the grouping column (empty: all items), first, second (their
        accuracies, items alike), difference, low, high (95%, paired over items), p (two-sided, of
        no difference, consistent with the interval), margin and p_equivalence (as of
        ``people_against_models``), p_holm and p_fdr (adjusted for the groups of one pair),
        only_first and only_second (items on which only one is right), n_items. There is neither
        interval nor p if several items come from too few frames (or groups, if ``clustered``).
    """
    frames = []
    for first, second in combinations(decisions, 2):
        unit = clustering_column(decisions[first])
        drawn = decisions[first].columns.intersection([*COLUMNS])
        columns = list(dict.fromkeys(("item_id", unit, by, "correct", *drawn)))
        of_second = decisions[second][["item_id", "correct"]]
        paired_decisions = decisions[first][columns].merge(
            of_second, "inner", on="item_id", suffixes=("", "_second")
        )
        if paired_decisions.empty:
            continue
        units = codes(paired_decisions[unit])[0]
        groups, n_groups = codes(paired_decisions[by])
        of_all = groups if clustered and n_groups > 1 else units
        for part, item in (
            (paired_decisions.assign(**{by: ""}), of_all),
            (paired_decisions, units),
        ):
            rows = _compare_two_models(part, by, margin, item, level)
            n_units = _count_distinct(codes(part[by])[0], item)
            too_few = (n_units < UNITS) & (n_units < rows["n_items"])
            rows.loc[too_few, ["low", "high", "p", "p_equivalence"]] = np.nan
            rows = add_adjusted_p(rows)
            frames.append(rows.assign(first_model=first, second_model=second))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _compare_two_models(
    decided: pd.DataFrame, by: str, margin: float, item: Codes, level: float
) -> pd.DataFrame:
    """Compare two models in each group; items with the same code in ``item`` are dependent."""
    group, _ = codes(decided[by])
    first_right, second_right = (
        decided[name].to_numpy(dtype=float) for name in ("correct", "correct_second")
    )
    nobody, drawn = np.zeros(len(decided), np.intp), find_drawn(decided)
    first, second = (
        clustered_intervals(chosen, nobody, item, group, drawn=drawn)
        for chosen in (first_right, second_right)
    )
    n_items, n_clusters = np.bincount(group).astype(float), _count_distinct(group, item)
    pair = _Pair(
        first.accuracy,
        second.accuracy,
        _effective_size(first, n_clusters),
        _effective_size(second, n_clusters),
        _correlate_estimates(first_right, second_right, first, second, item, group, drawn),
        n_clusters - 1,
    )
    only_first, only_second = (
        np.bincount(group, alone).astype(np.intp)
        for alone in (first_right * (1 - second_right), second_right * (1 - first_right))
    )
    names = decided[by].astype(str).drop_duplicates().to_numpy()
    return _test_rows(pair, margin, level).assign(
        **{by: names, "only_first": only_first, "only_second": only_second},
        n_items=n_items.astype(np.intp),
    )
