"""When a study's stopping rule stops simulated studies: with how many participants, at what cost.

Participants arrive in the order of their places, one of each list in turn. Each study is drawn as
for the power of a fixed number of participants, and the rule of ``experiment.stopping`` is applied
to the values of those who are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from math import ceil

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    STYLE,
    TEXT,
    hide_unlabelled_axes,
    new_figure,
)
from analysis.findings.comparison_words import words_of
from analysis.power.base import STOPPING, Outcome, PowerOptions, study_origin
from analysis.power.comparisons import Prepared, iterate_simulations, prepare
from analysis.power.simulated_comparisons import (
    code_answers,
    generator_of_study,
    lowest_value,
)
from analysis.statistics.resample import Floats
from analysis.tables.accuracy_table import Column, Table
from experiment.design.lists import BuiltLists
from experiment.stopping.questions import AskedComparison, list_asked_comparisons
from experiment.stopping.rule import Reason, look_at, take_blocks
from experiment.studies.stopping import Stopping
from experiment.studies.study import Study

ALL = "All comparisons"
# How many more places than the maximum are simulated, for participants who are excluded.
_SPARE = 1.3
# How many numbers of participants the table of a rule without planned looks shows.
_SHOWN = 6
_HEIGHT_INCHES = 2.6
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
    rule = study.stopping
    if rule is None:
        return outcome
    stops = simulate_stops(study, built, options)
    if stops.empty:
        return outcome
    looks = _list_looks(rule, study.design.n_lists)
    table = _make_table(study, stops, looks, options)
    sentences = [*outcome.sentences, *_describe(stops, rule, options)]
    figure = _draw_figure(outcome.table.frame, stops, rule)
    return replace(outcome, sentences=sentences, figure=figure, further=(*outcome.further, table))


def simulate_stops(study: Study, built: BuiltLists, options: PowerOptions) -> pd.DataFrame:
    """Return where the rule stops each simulated study, for each comparison and for all together.

    Returns:
        simulation, construction (the comparison's name, or ``ALL`` if there are several in the same
        studies), n_at_stop (kept participants), recruited (all who arrived by then), reason (empty
        if the reasons differ), truth.
    """
    rule = study.stopping
    assert rule is not None
    lists = {n: [e.item.item_id for e in entries] for n, entries in enumerate(built.lists)}
    items = {e.item.item_id: e.item for entries in built.lists for e in entries}
    asked = {one.name: one for one in list_asked_comparisons(study, [*items.values()], lists)}
    per_list = ceil(_SPARE * rule.maximum / study.design.n_lists)
    planned = [comparison.planned for comparison in asked.values()]
    prepared, _ = prepare(study, built, options, planned, per_list, len(planned))
    results = []
    for group in prepared:
        arrivals = {test.name: _list_arrivals(asked[test.name], group) for test in group.tested}
        for number in iterate_simulations(options):
            results += _stop_study(group, asked, arrivals, number, options.seed)
    return pd.DataFrame(results)


def _stop_study(
    group: Prepared,
    asked: Mapping[str, AskedComparison],
    arrivals: Mapping[str, Sequence[_Arrival]],
    number: int,
    seed: int,
) -> list[dict[str, object]]:
    """Return the stop of each comparison in one simulated study, and that of all of them."""
    base, coded = code_answers(group.rows, group.tested, group.model)
    drawn = group.model.draw(base, coded, generator_of_study(seed, group.tested, number))
    kept = group.keeps(drawn) if group.keeps else set(coded.person.tolist())
    values = drawn - lowest_value(group.model)
    rows = [
        {"simulation": number, "construction": test.name, "measure": group.measure,
         "truth": group.truths[test.name]}
        | _stop(asked[test.name], arrivals[test.name], values, kept)
        for test in group.tested
    ]  # fmt: skip
    if len(rows) > 1:
        last = max(rows, key=lambda row: float(str(row["n_at_stop"])))
        reasons = {str(row["reason"]) for row in rows}
        reason = reasons.pop() if len(reasons) == 1 else ""
        rows.append(last | {"construction": ALL, "reason": reason})
    return rows


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
        ),
        origin=(study_origin(study, options.seed),),
    )


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


def _draw_figure(fixed: pd.DataFrame, stops: pd.DataFrame, rule: Stopping) -> Figure:
    """Draw what a fixed number of participants and the rule show, and how long studies go on."""
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
        left, right = figure.subplots(1, 2)
        for (name, rows), (colour, _) in zip(
            stops.groupby("construction", sort=False), cycle(MODELS), strict=False
        ):
            numbers = range(rule.maximum + 1)
            shown = rows.loc[rows["reason"] == Reason.DIFFERENCE, "n_at_stop"].to_numpy()
            stopped = rows["n_at_stop"].to_numpy()
            label = str(name)
            by_then = [np.sum(shown <= n) / len(rows) for n in numbers]
            left.step(numbers, by_then, where="post", color=colour, label=label)
            going_on = [np.mean(stopped > n) for n in numbers]
            right.step(numbers, going_on, where="post", color=colour)
            right.axvline(stopped.mean(), color=colour, linewidth=0.7, linestyle=(0, (3, 3)))
            if {"construction", "kept", "power"} <= {*fixed}:
                of_name = fixed[fixed["construction"] == name]
                left.plot(of_name["kept"], of_name["power"], "o:", color=colour, markersize=3)
        left.plot([], [], "o:", color=TEXT, markersize=3, label="fixed number of participants")
        left.plot([], [], color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), label="mean stop")
        left.set_ylabel("share that shows the effect")
        right.set_ylabel("share that goes on")
        for axes in (left, right):
            axes.set_xlabel("kept participants")
            axes.set_ylim(-0.02, 1.02)
            axes.grid(axis="y", color=GUIDE, linewidth=0.5)
            hide_unlabelled_axes(axes)
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=4,
                      frameon=False)  # fmt: skip
    return figure
