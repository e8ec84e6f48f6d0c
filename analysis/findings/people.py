"""Participants' behaviour: agreement, distributions, sides, speed and learning."""

from collections.abc import Iterator, Mapping
from functools import partial

import pandas as pd

from analysis.data.join import Joined
from analysis.figures.drawing import Drawing
from analysis.figures.people import participants_figure, session_figure
from analysis.findings.finding import Context, Finding, Findings
from analysis.statistics.agreement import agreement
from analysis.statistics.correlation import FEWEST_ITEMS
from analysis.statistics.people import (
    distributions,
    learning,
    learning_effect,
    participants,
    speed_accuracy,
    speed_across_people,
    summarise_side_bias,
    ways_of_answering,
)
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

_MEASURES = {
    "accuracy": "Accuracy",
    "rt_median_ms": "Median reaction time (ms)",
    "share_first": "Share of first options chosen",
}
_SIDES = {
    "share_first": "First option chosen",
    "accuracy_first": "Accuracy, expected option first",
    "accuracy_second": "Accuracy, expected option second",
    "difference": "Difference",
}
_LABEL = Column("label", "", "text")
_SPEED = (
    _LABEL,
    Column("accuracy", "Accuracy", "estimate"),
    Column("rt_median_ms", "Median time (ms)", "count"),
    Column("n_judgments", "Judgments", "count"),
)


def people_findings(data: Joined, context: Context) -> Findings:
    """Return agreement among participants and, if participants are known, their behaviour.

    Args:
        data: The judgments.
        context: The study and the origin of the numbers.
    """
    judgments = data.judgments
    agreement_table = agreement(judgments)
    table, statistics = _agreement_table(agreement_table, context), {"agreement": agreement_table}
    if judgments["participant"].isna().all():
        return Findings((table,), statistics)
    behaviour = _summarise_participants(judgments, context)
    statistics |= behaviour.statistics
    return Findings(
        (table, *behaviour.tables),
        statistics,
        drawings=tuple(_make_drawings(behaviour.statistics, context)),
    )


def _make_drawings(frames: Mapping[str, pd.DataFrame], context: Context) -> Iterator[Drawing]:
    simulated = context.origin.simulated
    if "participants" in frames:
        yield Drawing(
            "participants",
            "Participants' accuracy",
            "The distribution of accuracy over the participants kept.",
            Section.PEOPLE,
            partial(participants_figure, frames["participants"], simulated=simulated),
        )
    if "learning" in frames and "speed_accuracy" in frames:
        times = frames["learning"], frames["speed_accuracy"]
        yield Drawing(
            "session",
            "Course of a session",
            "Accuracy by blocks of trials (left) and by fifths of reaction times within each "
            "participant (right), with 95% intervals.",
            Section.PEOPLE,
            partial(session_figure, *times, simulated=simulated),
        )


def _agreement_table(agreed: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "agreement",
        "Agreement among people",
        "Krippendorff's alpha and the entropy of people's choices on an item.",
        context.by_construction(agreed),
        (
            _LABEL,
            Column("alpha", "Alpha", "estimate"),
            Column("entropy_bits", "Entropy (bits)", "number"),
            Column("share_unanimous", "Unanimous items", "number"),
            Column("n_items", "Items", "count"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "Alpha is low if nearly all choices are right, because items then hardly differ; "
            "compare it with the share of unanimous items. Intervals: 95%, jackknife over "
            "participants and frames, conservative.",
        ),
        Section.PEOPLE,
    )


def _summarise_participants(judgments: pd.DataFrame, context: Context) -> Findings:
    # Imported judgments may lack the sides of the options: then all good options are first.
    sided = judgments["good_side"].nunique() > 1
    of_people = participants(judgments)
    if not sided:
        of_people["share_first"] = float("nan")
    frames = {
        "participants": of_people,
        "distributions": distributions(of_people).query("n > 0"),
        "sides": summarise_side_bias(judgments) if sided else pd.DataFrame(),
        "learning": learning(judgments),
        "speed_accuracy": speed_accuracy(judgments),
        "ways": ways_of_answering(judgments),
    }
    effect = learning_effect(judgments)
    across = speed_across_people(of_people)
    tables = [
        _distribution_table(frames["distributions"], context),
        *([_sides_table(frames["sides"], context)] if sided else []),
        _learning_table(frames["learning"], effect, context),
    ]
    if len(frames["speed_accuracy"]):
        tables.append(_speed_table(frames["speed_accuracy"], across, context))
    if len(frames["ways"]):
        tables.append(_ways_table(frames["ways"], context))
    return Findings(tuple(tables), {name: frame for name, frame in frames.items() if len(frame)})


def _distribution_table(rows: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "distributions",
        "Participants",
        "How participants differ.",
        rows.assign(label=rows["measure"].map(_MEASURES)),
        (
            _LABEL,
            *(
                Column(name, title, "number")
                for name, title in (
                    ("mean", "Mean"),
                    ("sd", "SD"),
                    ("min", "Least"),
                    ("q25", "25%"),
                    ("median", "Median"),
                    ("q75", "75%"),
                    ("max", "Greatest"),
                )
            ),
            Column("n", "Participants", "count"),
        ),
        (),
        Section.PEOPLE,
    )


def _sides_table(rows: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "sides",
        "Sides",
        "Whether people prefer one side, and whether this affects accuracy.",
        rows.assign(label=rows["measure"].map(_SIDES)),
        (
            _LABEL,
            Column("estimate", "Share", "estimate"),
            Column("n_judgments", "Judgments", "count"),
        ),
        ("First: the upper or left option, and its key. Intervals: 95%, two-way clustered.",),
        Section.PEOPLE,
    )


def _learning_table(rows: pd.DataFrame, effect: pd.DataFrame, context: Context) -> Table:
    labels = [
        f"Trials {first} to {last}" for first, last in zip(rows["first"], rows["last"], strict=True)
    ]
    return context.table(
        "learning",
        "Learning over trials",
        "Accuracy and speed over the session.",
        rows.assign(label=labels),
        _SPEED,
        (_learning_note(effect),),
        Section.PEOPLE,
    )


def _learning_note(effect: pd.DataFrame) -> str:
    [difference] = effect.to_dict("records")
    comparison = "Second half of the session minus first, accuracy"
    if pd.isna(difference["difference"]):
        return f"{comparison}: cannot be estimated, because one half has no judgments."
    if pd.isna(difference["low"]):
        return f"{comparison}: {difference['difference']:+z.3f}; too few judgments for an interval."
    return (
        f"{comparison}: {difference['difference']:+z.3f} [{difference['low']:+z.3f}, "
        f"{difference['high']:+z.3f}]; 95%, two-way clustered."
    )


def _speed_note(across: pd.DataFrame) -> str:
    [row] = across.to_dict("records")
    comparison = "Over participants, Spearman's correlation of median reaction time and accuracy"
    if pd.isna(row["spearman"]):
        return (
            f"{comparison}: cannot be estimated, because there are fewer than {FEWEST_ITEMS} "
            "participants, or all are equally fast or equally accurate."
        )
    if pd.isna(row["spearman_low"]):
        return f"{comparison}: {row['spearman']:+z.2f}; too few judgments for an interval."
    return (
        f"{comparison}: {row['spearman']:+z.2f} [{row['spearman_low']:+z.2f}, "
        f"{row['spearman_high']:+z.2f}]."
    )


def _speed_table(rows: pd.DataFrame, across: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "speed_accuracy",
        "Speed and accuracy",
        "Accuracy in fifths of each participant's own reaction times.",
        rows.assign(label=[f"Fifth {number}" for number in rows["quintile"]]),
        _SPEED,
        (_speed_note(across),),
        Section.PEOPLE,
    )


def _ways_table(rows: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "ways_of_answering",
        "Input methods",
        "Accuracy and speed by how participants answered: key, pointer or touch.",
        rows.assign(label=rows["input_method"].astype(str)),
        _SPEED,
        ("Participants chose the input method, so the differences need not be its effects.",),
        Section.SUPPLEMENT,
    )


PEOPLE = Finding(
    "people", Section.PEOPLE, lambda inputs: people_findings(inputs.judged, inputs.context)
)
