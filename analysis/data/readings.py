"""Reading times of a run, by word or by region, with the columns of the judgments."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.data.inclusion import COLUMNS
from analysis.data.load import ExportedRun
from analysis.data.own_columns import make_items
from experiment.errors import ParallaxError
from experiment.records import Item, Kind
from experiment.responses.reading.alignment import find_misaligned
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from experiment.tables.schemas import ITEMS

_KEYS = ["participant", "position"]
_REGION_KEYS = [*_KEYS, "region"]
RELATIVE_REGION = "relative_region"
# The columns of words that a region does not have.
_WORD_COLUMNS = ("step", "text", "rt_ms", "log_rt", "n_recorded")
# The columns that a reading takes from its trial.
_TRIAL_COLUMNS = ("construction", "condition", "cell", "unit", "kind", "chose_good", *COLUMNS)


@dataclass(frozen=True, slots=True)
class Readings:
    """Reading times of the analysed trials.

    Attributes:
        frame: One row per word or region read, with its trial's columns, ``region`` (relative to
            the critical one where items name it), ``rt_ms``, ``log_rt`` and ``n_recorded``: how
            many words its region has, including those whose times are left out.
        left_out: How many reading times are left out, and by which rule, in sentences.
    """

    frame: pd.DataFrame
    left_out: tuple[str, ...]


def select_readings(run: ExportedRun, judgments: pd.DataFrame) -> Readings:
    """Return the readings of judgments, without the times that the study's rules remove.

    Args:
        run: A run of a study that is read step by step.
        judgments: The trials, with cell and unit.
    """
    assert run.readings is not None
    trials = judgments[[*_KEYS, *(name for name in _TRIAL_COLUMNS if name in judgments)]]
    trials = trials.assign(participant=trials["participant"].astype(str))
    readings = run.readings.assign(participant=run.readings["participant"].astype(str))
    frame = readings.drop(columns=["judge"]).merge(trials, "inner", on=_KEYS, validate="m:1")
    if RELATIVE_REGION in frame:
        relative = frame[RELATIVE_REGION].astype("Int64")
        frame = frame.assign(region=relative.fillna(frame["region"].astype("Int64")).astype(int))
    in_trial = frame.groupby(_REGION_KEYS, sort=False, observed=True)["step"].transform("size")
    # A trial may lack a word's row: the region has as many words as in any trial with its text.
    names = [*(("item_id", "version") if "item_id" in frame else _KEYS), "region"]
    text = [frame[name].astype(str) for name in names]
    frame = frame.assign(n_recorded=in_trial.groupby(text, sort=False).transform("max"))
    kept, left_out = _drop_extreme_times(frame, run.study)
    kept = kept.assign(log_rt=np.log(kept["rt_ms"].to_numpy(dtype=float)))
    kept, of_person = _drop_far_times(kept, run.study)
    return Readings(kept.reset_index(drop=True), (*left_out, *of_person))


def select_comparable_readings(run: ExportedRun, judgments: pd.DataFrame) -> Readings:
    """Return the readings of the constructions whose conditions correspond region by region.

    ``parallax study check`` refuses others; runs of earlier versions may have some.
    """
    readings = select_readings(run, judgments)
    if run.study.analysis.residual_on_length:
        adjusted = (*readings.left_out, _ADJUSTED)
        readings = Readings(_remove_length_effect(readings.frame), adjusted)
    present = set(readings.frame["construction"].astype(str).unique())
    faults = {name: text for name, text in _find_misaligned(run) if name in present}
    if not faults:
        return readings
    is_compared = ~readings.frame["construction"].astype(str).isin(list(faults))
    return replace(
        readings,
        frame=readings.frame[is_compared].reset_index(drop=True),
        left_out=(*readings.left_out, *faults.values()),
    )


def _find_misaligned(run: ExportedRun) -> Iterator[tuple[str, str]]:
    """Yield the constructions whose conditions do not correspond, each with a sentence."""
    by_type: dict[int, tuple[Read, list[Item]]] = {}
    if not set(ITEMS.column_names) <= set(run.items):
        return
    try:
        response = response_of(run.study, own_code=False)
        for item in make_items(run.items):
            type_ = response.of_item(item)
            if isinstance(type_, Read) and item.kind is Kind.TARGET:
                by_type.setdefault(id(type_), (type_, []))[1].append(item)
        for type_, items in by_type.values():
            for item, fault in find_misaligned(type_, items, type_.critical):
                yield (
                    item.construction,
                    f"Reading times of {item.construction} are not compared: {fault.problem}.",
                )
    except (ParallaxError, ValueError):
        # Another check reports items that cannot be read.
        return


def _drop_extreme_times(frame: pd.DataFrame, study: Study) -> tuple[pd.DataFrame, tuple[str, ...]]:
    plan = study.analysis
    times = frame["rt_ms"].astype(float)
    is_within_limits = (times >= max(plan.least_rt_ms, 1e-9)) & (times <= plan.most_rt_ms)
    if is_within_limits.all():
        return frame, ()
    return frame[is_within_limits], (
        f"{int((~is_within_limits).sum()):,} of {len(frame):,} reading times were left out: below "
        f"{plan.least_rt_ms:g} ms, above {plan.most_rt_ms:g} ms, or not measured (the study's "
        "rule, [analysis] least_rt_ms and most_rt_ms).",
    )


def _drop_far_times(frame: pd.DataFrame, study: Study) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the times whose logarithm is within a number of SDs of the participant's mean."""
    most_sds = study.analysis.most_sds
    if most_sds is None:
        return frame, ()
    logs = frame["log_rt"].groupby(frame["participant"])
    is_far = (frame["log_rt"] - logs.transform("mean")).abs() > most_sds * logs.transform("std")
    if not is_far.any():
        return frame, ()
    return frame[~is_far], (
        f"{int(is_far.sum()):,} of {len(frame):,} reading times were left out: their logarithms "
        f"lie more than {most_sds:g} standard deviations from the participant's mean (the study's "
        "rule, [analysis] most_sds).",
    )


_ADJUSTED = (
    "Compared reading times are residual on length: what is left of each participant's linear "
    "regression of the logarithm of a time on its number of characters, at the mean number "
    "([analysis] residual_on_length)."
)


def _remove_length_effect(frame: pd.DataFrame) -> pd.DataFrame:
    """Return times adjusted to the mean length, by each participant's regression on characters.

    Ferreira, F. & Clifton, C. (1986). The independence of syntactic processing. Journal of Memory
    and Language, 25(3), 348-368; here of logarithms, so that differences stay in per cent.
    """
    length = frame["text"].astype(str).str.len().astype(float)
    people, logs = frame["participant"], frame["log_rt"]
    x, y = (values - values.groupby(people).transform("mean") for values in (length, logs))
    products, squares = ((x * other).groupby(people).transform("sum") for other in (y, x))
    slopes = (products / squares.where(squares > 0)).fillna(0.0)
    adjusted = logs - slopes * (length - length.mean())
    return frame.assign(log_rt=adjusted, rt_ms=np.exp(adjusted))


def sum_by_region(frame: pd.DataFrame) -> pd.DataFrame:
    """Sum reading times by region.

    A region has no time, and no row, if a word of it was left out or, in a Maze, chosen wrongly.

    Args:
        frame: The words' times, from ``select_readings``, without those to leave out.
    """
    other_columns = [str(name) for name in frame if name not in (*_REGION_KEYS, *_WORD_COLUMNS)]
    grouped = frame.groupby(_REGION_KEYS, sort=False, observed=True)
    is_complete = grouped["step"].transform("size") == frame["n_recorded"]
    complete = frame[is_complete]
    regions = complete.groupby(_REGION_KEYS, sort=False, observed=True)
    times = pd.DataFrame(regions["rt_ms"].agg(rt_ms="sum", n_words="size"))
    times = times.assign(text=_join_words(complete["text"], regions.ngroup(), len(times)))
    times = pd.concat([times, regions[other_columns].first()], axis=1).reset_index()
    return times.assign(log_rt=np.log(times["rt_ms"].astype(float)))


def _join_words(words: pd.Series, region: pd.Series, n_regions: int) -> list[str]:
    """Return the text of each region, from the words and the number of each word's region."""
    texts: list[list[str]] = [[] for _ in range(n_regions)]
    for number, word in zip(region, words.astype(str), strict=True):
        texts[number].append(word)
    return [" ".join(words_of_region) for words_of_region in texts]


def keep_right_words(regions: pd.DataFrame) -> pd.DataFrame:
    """Return readings whose word was chosen correctly at first, if the task has a choice."""
    return regions[regions["correct"].astype(bool)] if "correct" in regions else regions
