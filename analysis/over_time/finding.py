"""Models over time in the report: curves, when they pass chance and reach people, and the order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.join import check_same_items, hash_items
from analysis.data.load import Scores
from analysis.figures.drawing import Drawing
from analysis.findings.finding import Finding, FindingInputs, Findings, full_titles, titles_of
from analysis.over_time.crossing import (
    FEWEST_CHECKPOINTS,
    FEWEST_ITEMS,
    AccuracyCurve,
    Crossing,
    Fall,
    crossing_times,
    find_crossing,
    find_fall,
    resample_curves,
)
from analysis.over_time.figure import Panel, over_time_figure
from analysis.over_time.load import History
from analysis.over_time.order import FEWEST_CONSTRUCTIONS, kendall_with_interval, why_no_ages
from analysis.over_time.people import Group, tabulate_learners
from analysis.over_time.words import crossing_clause, crossing_in_words, tokens_in_words
from analysis.statistics.resample import Floats, codes, numpy_generator
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_PASSES, _PEOPLE = "chance", "people"
_FEWEST_JUDGMENTS = 3
# Checkpoints count as one if their tokens differ by less than this share.
_CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class _Model:
    """The trainings of one model, at the checkpoints that all of them have.

    Attributes:
        name: The model's name.
        labels: The trainings' names.
        tokens_seen: Shape ``(checkpoints,)``, from the first checkpoint after any token.
        correct: Shape ``(trainings, items, checkpoints)``, in the order of the judged items.
    """

    name: str
    labels: list[str]
    tokens_seen: NDArray[np.int64]
    correct: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Result:
    """One model's curve in one construction, and what it shows."""

    construction: str
    curves: AccuracyCurve
    fall: Fall | None
    passes: Crossing
    reaches: tuple[Crossing | None, ...]  # people, then each group of learners
    trainings: Floats  # (trainings, checkpoints)
    times: Floats  # (trainings,): when each passes chance
    drawn_times: Floats  # (trainings, draws)


def _analyse(inputs: FindingInputs) -> Findings:
    if not inputs.options.over_time:
        return Findings()
    judgments = inputs.data.judgments
    if "chose_good" not in judgments or judgments["chose_good"].isna().any():
        return Findings(
            left_out=(
                "Models over time are left out: their curves are compared with choices between "
                "versions, and this study asks for none.",
            )
        )
    items = judgments[["item_id", "construction", "frame"]].drop_duplicates("item_id")
    items = items.astype({"item_id": str, "construction": str}).reset_index(drop=True)
    models, left_out = _collect_models(inputs, items["item_id"].tolist())
    chosen, few = _choose_constructions(items)
    learners = [Group.of_learners(run, items["item_id"]) for run in inputs.options.learners]
    groups = [Group.of_run(inputs), *learners]
    results = {
        model.name: [_analyse_construction(inputs, model, items, name, groups) for name in chosen]
        for model in models
    }
    if not models or not chosen:
        return Findings(left_out=(*left_out, *few))
    few += why_no_ages(inputs.options.ages, chosen)
    tables, statistics = _tabulate(inputs, models, results, groups)
    drawing = Drawing(
        "over_time",
        "Models over time",
        "Accuracy on the judged items by the tokens seen, with 95% intervals over items and "
        "trainings; thin lines are single trainings. Horizontal: people's accuracy with its "
        "interval, the accuracy of people's majority (dotted), and chance."
        + (" Dashed: the accuracy of learners." if learners else ""),
        Section.OVER_TIME,
        partial(
            over_time_figure,
            _make_panels(inputs, models, results, groups),
            chance=inputs.context.origin.chance,
            simulated=inputs.run.facts.simulated,
        ),
    )
    titles = titles_of(inputs.context.study)
    summary = tuple(_summarise(m, results[m.name][0], inputs.margin, titles) for m in models)
    return Findings(tables, statistics, (*left_out, *few), drawings=(drawing,), summary=summary)


def _collect_models(inputs: FindingInputs, judged: Sequence[str]) -> tuple[list[_Model], list[str]]:
    families: dict[str, list[History]] = {}
    for history in inputs.options.over_time:
        scored = Scores(history.path, history.facts, history.items)
        check_same_items(inputs.run, scored, judged, lambda: hash_items(inputs.run))
        families.setdefault(history.facts.family, []).append(history)
    models, left_out = [], []
    for name, histories in families.items():
        tokens, places = _align_checkpoints([h.tokens_seen for h in histories])
        if len(tokens) < FEWEST_CHECKPOINTS:
            left_out.append(
                f"The curve of {name} is left out: it has {len(tokens)} checkpoints after any "
                "token"
                + (" that all its trainings share" if len(histories) > 1 else "")
                + f", and when it passes a level needs at least {FEWEST_CHECKPOINTS}."
            )
            continue
        correct = [
            h.correct[np.ix_(pd.Index(h.items["item_id"]).get_indexer(judged), place)]
            for h, place in zip(histories, places, strict=True)
        ]
        models.append(_Model(name, [h.facts.model for h in histories], tokens, np.stack(correct)))
    return models, left_out


def _align_checkpoints(
    seen: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], list[NDArray[np.intp]]]:
    """Return the tokens of the checkpoints that all trainings have, and their indices in each.

    Trainings on other orders of one text differ by some tokens at the end of an epoch.
    """
    first = seen[0][seen[0] > 0]
    places = [np.abs(np.log(np.maximum(s, 0.5)) - np.log(first)[:, None]).argmin(1) for s in seen]
    near = [np.abs(s[place] / first - 1) < _CLOSE for s, place in zip(seen, places, strict=True)]
    shared = np.logical_and.reduce(near)
    return first[shared], [place[shared] for place in places]


def _choose_constructions(items: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return "" for all items, the constructions with enough items, and why others are left out."""
    counts = items.groupby("construction", sort=False)["frame"].nunique()
    enough = counts[counts >= FEWEST_ITEMS].index.tolist()
    few = sorted(set(counts.index) - set(enough))
    reason = (
        f"Curves over time are left out for {', '.join(few)}: fewer than {FEWEST_ITEMS} frames or "
        "items were judged."
    )
    several = [""] if len(counts) > 1 and items["frame"].nunique() >= FEWEST_ITEMS else []
    return [*several, *enough], [reason] if few else []


def _analyse_construction(
    inputs: FindingInputs,
    model: _Model,
    items: pd.DataFrame,
    construction: str,
    groups: Sequence[Group],
) -> _Result:
    is_in = (items["construction"] == construction).to_numpy() | (construction == "")
    unit, _ = codes(items.loc[is_in, "frame"])
    log_tokens, n_draws = np.log(model.tokens_seen), inputs.context.resamples
    correct = model.correct[:, is_in]

    def resample(trainings: NDArray[np.bool_]) -> AccuracyCurve:
        # One seed for all trainings and models: they are compared on the same resampled items.
        rng = numpy_generator(inputs.context.seed, "models over time", construction)
        return resample_curves(trainings, unit, log_tokens, rng, n_draws)

    curves, single = resample(correct), [resample(training[None]) for training in correct]
    fall = find_fall(curves)
    chance = inputs.context.origin.chance + inputs.margin
    passes = find_crossing(curves, chance, np.full(n_draws, chance), fall)
    item_ids = items.loc[is_in, "item_id"]
    return _Result(
        construction,
        curves,
        fall,
        passes,
        tuple(group.find_reached(inputs, item_ids, curves, fall) for group in groups),
        correct.mean(axis=1),
        np.array([crossing_times(c.accuracy[None], np.array([chance]), log_tokens)[0]
                  for c in single]),
        np.array([crossing_times(c.drawn, np.full(n_draws, chance), log_tokens) for c in single]),
    )  # fmt: skip


def _make_panels(
    inputs: FindingInputs,
    models: Sequence[_Model],
    results: Mapping[str, Sequence[_Result]],
    groups: Sequence[Group],
) -> list[Panel]:
    named = pd.DataFrame({"construction": [r.construction for r in results[models[0].name]]})
    labelled = inputs.context.by_construction(named)
    titles = dict(zip(labelled["construction"], full_titles(labelled), strict=True))
    judgments = inputs.data.judgments
    panels = []
    for number, result in enumerate(results[models[0].name]):
        name = result.construction
        chosen = judgments if not name else judgments[judgments["construction"] == name]
        described = {group.name: group.describe(name) for group in groups}
        people = described.pop("")
        assert people is not None
        by_item = chosen.groupby("item_id", observed=True)["chose_good"]
        enough = len(chosen) >= _FEWEST_JUDGMENTS * by_item.ngroups
        share = by_item.mean().to_numpy(float)
        panels.append(
            Panel(
                titles.get(name, name),
                (float(people["accuracy"]), float(people["low"]), float(people["high"])),
                float(((share > 0.5) + 0.5 * (share == 0.5)).mean()) if enough else np.nan,
                {m.name: _curve_rows(m, results[m.name][number]) for m in models},
                {
                    m.name: list(results[m.name][number].trainings)
                    for m in models
                    if len(m.labels) > 1
                },
                {
                    learners: float(row["accuracy"])
                    for learners, row in described.items()
                    if row is not None
                },
            )
        )
    return panels


def _curve_rows(model: _Model, result: _Result) -> pd.DataFrame:
    low, high = result.curves.interval()
    return pd.DataFrame(
        {
            "model": model.name,
            "construction": result.construction,
            "tokens_seen": model.tokens_seen,
            "accuracy": result.curves.accuracy,
            "low": low,
            "high": high,
        }
    )


def _tabulate(
    inputs: FindingInputs,
    models: Sequence[_Model],
    results: Mapping[str, Sequence[_Result]],
    groups: Sequence[Group],
) -> tuple[tuple[Table, ...], dict[str, pd.DataFrame]]:
    crossings = pd.DataFrame(
        [_row(m, result, groups) for m in models for result in results[m.name]]
    )
    labelled = inputs.context.by_construction(crossings)
    table = inputs.context.table(
        "over_time",
        "When models pass chance and reach people",
        "Tokens seen when a model's accuracy passes chance by "
        f"{inputs.margin:.2f}, and when it reaches people's accuracy on the same items.",
        labelled.assign(group=labelled["model"]).sort_values("group", kind="stable"),
        (
            Column("label", "", "text"),
            Column("passes", "Passes chance", "text"),
            *(
                Column(group.column, f"Reaches {group.name or 'people'}", "text")
                for group in groups
            ),
            Column("last_accuracy", "At the end"),
            Column("shape", "Falls", "text"),
        ),
        (
            "Brackets are 95% intervals over items, people and trainings. What is not reached by "
            "the last checkpoint is censored there, and an interval without an end reaches beyond "
            "it. After a fall from which the accuracy recovers (a U-shape), the time is that after "
            "it; falls are tested jointly over all pairs of checkpoints.",
        ),
        Section.OVER_TIME,
    )
    curves = pd.concat([_curve_rows(m, r) for m in models for r in results[m.name]])
    statistics = {"over_time": curves.reset_index(drop=True), "crossings": crossings}
    tables: tuple[Table, ...] = (table,)
    if groups[1:]:
        names = [result.construction for result in results[models[0].name]]
        learners, statistics["learners"] = tabulate_learners(inputs, groups[1:], names)
        tables += (learners,)
    order = pd.DataFrame(_compare_orders(inputs.options.ages, models, results))
    if order.empty:
        return tables, statistics
    order_table = inputs.context.table(
        "acquisition_order",
        "Order of acquisition",
        "Kendall's tau-b of the order in which two trainings pass chance in the constructions"
        + (", and with the table of ages." if inputs.options.ages else "."),
        order.assign(label=order["first"] + " and " + order["second"]),
        (
            Column("label", "", "text"),
            Column("tau", "tau", "estimate"),
            Column("n_constructions", "Constructions", "count"),
        ),
        ("The interval is over items. Constructions that neither learns are tied.",),
        Section.OVER_TIME,
    )
    return (*tables, order_table), statistics | {"acquisition_order": order}


def _row(model: _Model, result: _Result, groups: Sequence[Group]) -> dict[str, object]:
    tokens, fall = model.tokens_seen, result.fall
    reached = dict(zip(groups, result.reaches, strict=True))
    crossings = {_PASSES: result.passes} | {
        group.name or _PEOPLE: crossing for group, crossing in reached.items() if crossing
    }
    numbers = {
        f"{name}_{part}": float(np.exp(getattr(crossing, end)))
        for name, crossing in crossings.items()
        for part, end in (("tokens", "at"), ("low", "low"), ("high", "high"))
    }
    accuracy = result.curves.accuracy
    shape = (
        ""
        if fall is None
        else (
            f"{'U-shape: ' if fall.recovers else ''}{accuracy[fall.start]:.2f} after "
            f"{tokens_in_words(tokens[fall.start])}, {accuracy[fall.end]:.2f} after "
            f"{tokens_in_words(tokens[fall.end])}"
        )
    )
    return {
        "model": model.name,
        "construction": result.construction,
        "n_trainings": len(model.labels),
        **numbers,
        "passes": crossing_in_words(result.passes, tokens),
        **{
            group.column: crossing_in_words(crossing, tokens) if crossing else ""
            for group, crossing in reached.items()
        },
        "last_accuracy": float(accuracy[-1]),
        "shape": shape,
    }


def _summarise(model: _Model, result: _Result, margin: float, titles: Mapping[str, str]) -> str:
    name = result.construction
    place = titles.get(name, name) or "judged items"
    by = f"chance by {margin:.2f}"
    passes = crossing_clause(result.passes, model.tokens_seen, f"exceeds {by}", f"exceed {by}")
    people = "people's accuracy"
    [crossing, *_] = result.reaches
    assert crossing is not None
    reaches = crossing_clause(crossing, model.tokens_seen, f"reaches {people}", f"reach {people}")
    return f"{model.name} over time ({place}): it {passes}, and {reaches}."


def _compare_orders(
    ages: Mapping[str, float], models: Sequence[_Model], results: Mapping[str, Sequence[_Result]]
) -> Iterator[dict[str, object]]:
    """Yield Kendall's tau-b of each two trainings, and of each training with the ages."""
    names = [result.construction for result in results[models[0].name] if result.construction]
    orders = [
        (
            label,
            np.array([r.times[n] for r in results[m.name] if r.construction]),
            np.array([r.drawn_times[n] for r in results[m.name] if r.construction]).T,
        )
        for m in models
        for n, label in enumerate(m.labels)
    ]
    if len(names) < FEWEST_CONSTRUCTIONS:
        return
    for (first, times, drawn), (second, other, other_drawn) in combinations(orders, 2):
        tau, low, high = kendall_with_interval(times, other, drawn, other_drawn)
        yield {"first": first, "second": second, "tau": tau, "low": low, "high": high,
               "n_constructions": len(names)}  # fmt: skip
    known = np.array([name in ages for name in names])
    if known.sum() < FEWEST_CONSTRUCTIONS:
        return
    age = np.array([ages[name] for name in names if name in ages])
    for label, times, drawn in orders:
        fixed = np.tile(age, (len(drawn), 1))
        tau, low, high = kendall_with_interval(times[known], age, drawn[:, known], fixed)
        yield {"first": label, "second": "ages", "tau": tau, "low": low, "high": high,
               "n_constructions": int(known.sum())}  # fmt: skip


OVER_TIME = Finding("over_time", Section.OVER_TIME, _analyse)
