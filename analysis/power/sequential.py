"""When a study's stopping rule stops simulated studies: with how many participants, at what cost.

Participants arrive in the order of their places, one of each list in turn. Each study is drawn as
for the power of a fixed number of participants, and the rule of ``experiment.stopping`` is applied
to the values of those who are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pandas as pd

from analysis.data.scales import find_scales, make_study_of_scale
from analysis.errors import AnalysisError
from analysis.findings.comparison_words import words_of
from analysis.power.base import (
    STOPPING,
    Outcome,
    PowerOptions,
    session_note,
    study_origin,
)
from analysis.power.comparisons import (
    COVERED,
    UNSUPPORTED,
    Prepared,
    iterate_simulations,
    prepare,
)
from analysis.power.simulated_comparisons import (
    code_answers,
    generator_of_study,
    lowest_value,
)
from analysis.power.stopping_figure import ALL, draw_stops
from analysis.statistics.resample import Floats
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists
from experiment.stopping.questions import AskedComparison, list_asked_comparisons
from experiment.stopping.rule import Reason, look_at, take_blocks
from experiment.studies.stopping import Stopping
from experiment.studies.study import Study

# How many more places than the maximum are simulated, for participants who are excluded.
_SPARE = 1.3
# How many numbers of participants the table of a rule without planned looks shows.
_SHOWN = 6
_INDEPENDENT_NOTES = (
    "Comparisons of different measures or scales are simulated independently of each other.",
)
# Where the middle 80% of studies stop.
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class _Arrival:
    """How a participant's value follows from the answers.

    Attributes:
        rows: Where the participant's answers are among all.
        coefficients: How much each adds to the value.
        constant: What is subtracted.
        group: The participant's group in a block.
        number: The participant.
    """

    rows: Sequence[int]
    coefficients: Floats
    constant: float
    group: object
    number: int


def add_stopping(
    study: Study, built: BuiltLists, options: PowerOptions, outcome: Outcome
) -> Outcome:
    """Return a study's outcome with what its stopping rule does; unchanged without a rule.

    Raises:
        ParallaxError: The rule cannot be applied to a comparison.
    """
    if study.stopping is None:
        return outcome
    stopped = power_of_stopping(study, built, options, outcome.table.frame)
    return replace(
        outcome,
        sentences=[*outcome.sentences, *stopped.sentences],
        figure=stopped.figure,
        further=(*outcome.further, stopped.table),
    )


def power_of_stopping(
    study: Study, built: BuiltLists, options: PowerOptions, fixed: pd.DataFrame
) -> Outcome:
    """Return what a study's stopping rule does, with its table alone.

    Args:
        study: The study, which has a rule.
        built: Its lists.
        options: The options of the command.
        fixed: The power of fixed numbers of participants, for the figure: construction (the
            comparison's name), kept, power; may be empty.

    Raises:
        ParallaxError: The rule cannot be applied to a comparison.
    """
    rule = study.stopping
    assert rule is not None
    stops = simulate_stops(study, built, options)
    looks = _list_looks(rule, study.design.n_lists)
    return Outcome(
        _make_table(study, stops, looks, options),
        list(_describe(stops, rule, options)),
        draw_stops(fixed, stops, study, options),
    )


def simulate_stops(study: Study, built: BuiltLists, options: PowerOptions) -> pd.DataFrame:
    """Return where the rule stops each simulated study, for each comparison and for all together.

    Returns:
        simulation, construction (the comparison's name, or ``ALL`` if there are several), n_at_stop
        (kept participants), recruited (all who arrived by then), reason (empty if the reasons
        differ), measure, on_scale (empty unless there are several), truth.
    """
    rule = study.stopping
    assert rule is not None
    lists = {n: [e.item.item_id for e in entries] for n, entries in enumerate(built.lists)}
    items = {e.item.item_id: e.item for entries in built.lists for e in entries}
    asked = {one.name: one for one in list_asked_comparisons(study, [*items.values()], lists)}
    per_list = ceil(_SPARE * rule.maximum / study.design.n_lists)
    results = []
    for part, on_scale in _split_by_scale(study, [*asked.values()]):
        planned = [comparison.planned for comparison in on_scale]
        prepared, unplanned = prepare(part, built, options, planned, per_list, len(asked))
        if unplanned:
            raise AnalysisError(
                "Parallax cannot simulate the stopping rule: it waits for "
                f"{', '.join(unplanned)}, whose answers cannot be simulated",
                where=str(study.folder),
                expected=f"{COVERED}; {UNSUPPORTED}",
                remedy="Simulate a rule that waits for other comparisons",
            )
        for group in (_name_by_scale(group, on_scale) for group in prepared):
            arrivals = {test.name: _list_arrivals(asked[test.name], group) for test in group.tested}
            for number in iterate_simulations(options):
                results += _stop_study(group, asked, arrivals, number, options.seed)
    return _add_all(pd.DataFrame(results))


def _split_by_scale(
    study: Study, asked: Sequence[AskedComparison]
) -> Iterator[tuple[Study, list[AskedComparison]]]:
    """Yield the study with each scale alone, and the comparisons on it; else the study itself."""
    several = find_scales(study)
    if several is None:
        yield study, [*asked]
        return
    for name in several.named_scales:
        part = make_study_of_scale(study, several, name)
        yield part, [comparison for comparison in asked if comparison.scale == name]


def _name_by_scale(group: Prepared, asked: Sequence[AskedComparison]) -> Prepared:
    """Return comparisons by their names with the scale; each scale has draws of its own."""
    names = {comparison.planned.declaration.name: comparison.name for comparison in asked}
    return replace(
        group,
        tested=[replace(test, name=names[test.name]) for test in group.tested],
        truths={names[name]: truth for name, truth in group.truths.items()},
    )


def _add_all(stops: pd.DataFrame) -> pd.DataFrame:
    """Add where the last of several comparisons stops, which is where the study does."""
    if stops["construction"].nunique() < 2:
        return stops
    last = stops.loc[stops.groupby("simulation")["n_at_stop"].idxmax()]
    reasons = stops.groupby("simulation")["reason"]
    shared = reasons.first().where(reasons.nunique() == 1, "")
    of_all = last.assign(construction=ALL, reason=last["simulation"].map(shared))
    return pd.concat([stops, of_all], ignore_index=True)


def _stop_study(
    group: Prepared,
    asked: Mapping[str, AskedComparison],
    arrivals: Mapping[str, Sequence[_Arrival]],
    number: int,
    seed: int,
) -> list[dict[str, object]]:
    """Return the stop of each comparison in one simulated study."""
    base, coded = code_answers(group.rows, group.tested, group.model)
    drawn = group.model.draw(base, coded, generator_of_study(seed, group.tested, number))
    kept = group.keeps(drawn) if group.keeps else set(coded.person.tolist())
    values = drawn - lowest_value(group.model)
    return [
        {"simulation": number, "construction": test.name, "measure": group.measure,
         "on_scale": asked[test.name].scale, "truth": group.truths[test.name]}
        | _stop(asked[test.name], arrivals[test.name], values, kept)
        for test in group.tested
    ]  # fmt: skip


def _stop(
    comparison: AskedComparison, arrivals: Sequence[_Arrival], answers: Floats, kept: set[int]
) -> dict[str, object]:
    """Return where the rule stops, why, and how many participants have arrived by then."""
    question, size = comparison.question, comparison.values.n_groups
    participants: list[tuple[object, float | None, bool]] = []
    for arrival in arrivals:
        value = float(arrival.coefficients @ answers[arrival.rows]) - arrival.constant
        value = question.bounds.limit(value) if question.bounds else value
        participants.append((arrival.group, value if arrival.number in kept else None, False))
    blocks = take_blocks(participants, size)
    look = look_at(question, blocks[: question.rule.maximum // size])
    share_kept = sum(value is not None for _, value, _ in participants) / len(participants)
    return {
        "n_at_stop": look.n_at_stop,
        "recruited": look.n_at_stop / share_kept if share_kept else 0.0,
        "reason": str(look.reason or Reason.MAXIMUM),
    }


def _list_arrivals(comparison: AskedComparison, group: Prepared) -> list[_Arrival]:
    """Return the participants of the compared lists in the order of their arrival."""
    arrivals, values = [], comparison.values
    rows = group.rows.reset_index(drop=True)
    people = rows[["place", "list", "participant"]].drop_duplicates().sort_values(["place", "list"])
    places = rows.groupby("participant").indices
    for place, list_, person in people.astype(int).itertuples(index=False, name=None):
        if (block_group := values.group_of(list_, place)) is None:
            continue
        own = [int(place) for place in places[person]]
        answers = [
            {"item_id": item_id, "version": version}
            for item_id, version in zip(rows["item_id"][own], rows["version"][own], strict=True)
        ]
        arrivals.append(
            _Arrival(
                own,
                np.array(values.coefficients(list_, answers), dtype=float),
                values.constant(list_),
                block_group,
                person,
            )
        )
    return arrivals


def _list_looks(rule: Stopping, n_lists: int) -> list[int]:
    """Return the numbers of participants that the table shows: the looks, or evenly spaced ones."""
    if rule.looks:
        return [*rule.looks, rule.maximum]
    spaced = (round(rule.maximum * k / _SHOWN / n_lists) * n_lists for k in range(1, _SHOWN + 1))
    return sorted({max(n_lists, rule.minimum, n) for n in (*spaced, rule.maximum)})


def _make_table(
    study: Study, stops: pd.DataFrame, looks: Sequence[int], options: PowerOptions
) -> Table:
    rows = []
    for name, of_name in stops.groupby("construction", sort=False):
        n, is_difference = of_name["n_at_stop"], of_name["reason"] == Reason.DIFFERENCE
        for look in looks:
            stopped = n <= look
            taken = np.minimum(n, look) * of_name["recruited"] / n
            row = {
                "group": _name_effect(str(name), of_name),
                "label": str(look),
                "construction": name,
                "stopped": stopped.mean(),
                "difference": (stopped & is_difference).mean(),
                "recruited": taken.mean(),
            }
            rows.append(row)
    frame = pd.DataFrame(rows)
    columns = [
        Column("label", "kept", "text"),
        Column("stopped", "stopped by then", "number"),
        Column("difference", "with a difference", "number"),
        Column("recruited", "recruited, on average", "number"),
    ]
    if options.cost is not None:
        frame["cost"] = frame["recruited"] * options.cost
        columns.append(Column("cost", "cost, on average", "number"))
    assert study.stopping is not None
    return Table(
        name=STOPPING,
        title="The stopping rule",
        caption=f"When {study.name} stops ({study.stopping.words}), over {options.simulations} "
        "simulated studies.",
        frame=frame,
        columns=tuple(columns),
        notes=(
            "Stopped by then: the share of simulated studies that the rule stops with so many kept "
            "participants or fewer, and those among them that stop because of a difference.",
            *(_INDEPENDENT_NOTES if _are_apart(stops) else ()),
            session_note(study),
        ),
        origin=(study_origin(study, options.seed),),
    )


def _are_apart(stops: pd.DataFrame) -> bool:
    """Return whether the comparisons are of several measures or scales."""
    one = stops[stops["construction"] != ALL]
    return one["measure"].nunique() > 1 or one["on_scale"].nunique() > 1


def _name_effect(name: str, rows: pd.DataFrame) -> str:
    if name == ALL:
        return name
    first = rows.iloc[0]
    return f"{name}: {words_of(first['measure']).with_unit(first['truth'])}"


def _describe(stops: pd.DataFrame, rule: Stopping, options: PowerOptions) -> Iterator[str]:
    """Yield the expected, usual and largest number of participants, and the cost."""
    for name, rows in stops.groupby("construction", sort=False):
        n = rows["n_at_stop"]
        low, high = n.quantile([_LOW, _HIGH])
        shown = (rows["reason"] == Reason.DIFFERENCE).mean()
        cost = ""
        if options.cost is not None:
            spent = rows["recruited"] * options.cost
            cost = f", {spent.mean():,.2f} (at most {spent.max():,.2f})"
        yield (
            f"{name}, with the stopping rule: {n.mean():.0f} kept participants on average{cost}, "
            f"{low:.0f} to {high:.0f} in four of five studies, {rule.maximum} at most; "
            f"{shown:.2f} of studies stop with a difference."
        )
