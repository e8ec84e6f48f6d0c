"""The people behind the numbers: agreement, distributions, sides, speed, learning."""

import pandas as pd

from analysis.findings.findings import PEOPLE_SECTION, SUPPLEMENT, Context, Findings
from analysis.side_by_side import Column, Table
from analysis.statistics.agreement import agreement
from analysis.statistics.people import (
    distributions,
    learning,
    learning_effect,
    participants,
    sides,
    speed_accuracy,
    speed_across_people,
    ways_of_answering,
)
from analysis.statistics.preferences import preferences
from analysis.statistics.resample import numpy_generator

_MEASURES = {
    "accuracy": "Accuracy",
    "rt_median_ms": "Median reaction time (ms)",
    "share_first": "Share of first options chosen",
}
_SIDES = {
    "share_first": "First option chosen",
    "accuracy_first": "Right where the expected option stood first",
    "accuracy_second": "Right where it stood second",
    "difference": "Difference",
}
_LABEL = Column("label", "", "text")
_SPEED = (
    _LABEL,
    Column("accuracy", "Accuracy", "estimate"),
    Column("rt_median_ms", "Median time (ms)", "count"),
    Column("n_judgments", "Judgments", "count"),
)


def people_findings(judgments: pd.DataFrame, context: Context) -> Findings:
    """Return agreement among people and, where participants are known, what they are like.

    Args:
        judgments: One row per judgment, as ``analysis.join.judgments`` gives them.
        context: The study and where the numbers come from.
    """
    seed, resamples = context.seed, context.resamples
    agreed = agreement(preferences(judgments), numpy_generator(seed, "agreement"), resamples)
    tables, statistics = [_agreement_table(agreed, context)], {"agreement": agreed}
    if judgments["participant"].notna().any():
        found = _participants(judgments, context)
        tables += found.tables
        statistics |= found.statistics
    return Findings(tuple(tables), statistics)


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
            "Alpha is low where nearly everybody is right everywhere, for then little differs "
            "between items; read it beside the share of unanimous items. Intervals: 95%, "
            "bootstrap over items.",
        ),
        PEOPLE_SECTION,
    )


def _participants(judgments: pd.DataFrame, context: Context) -> Findings:
    seed, resamples = context.seed, context.resamples
    of_people = participants(judgments)
    frames = {
        "participants": of_people,
        "distributions": distributions(of_people),
        "sides": sides(judgments, numpy_generator(seed, "sides shown"), resamples),
        "learning": learning(judgments, numpy_generator(seed, "learning"), resamples),
        "speed_accuracy": speed_accuracy(judgments, numpy_generator(seed, "speed"), resamples),
        "ways": ways_of_answering(judgments, numpy_generator(seed, "ways"), resamples),
    }
    effect = learning_effect(judgments, numpy_generator(seed, "learning effect"), resamples)
    across = speed_across_people(of_people, numpy_generator(seed, "speed across"), resamples)
    tables = [
        _distribution_table(frames["distributions"], context),
        _sides_table(frames["sides"], context),
        _learning_table(frames["learning"], effect, context),
    ]
    if len(frames["speed_accuracy"]):
        tables.append(_speed_table(frames["speed_accuracy"], across, context))
    if len(frames["ways"]):
        tables.append(_ways_table(frames["ways"], context))
    return Findings(tuple(tables), {name: frame for name, frame in frames.items() if len(frame)})


def _distribution_table(found: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "distributions",
        "Participants",
        "How participants differ.",
        found.assign(label=found["measure"].map(_MEASURES)),
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
        PEOPLE_SECTION,
        bootstrapped=False,
    )


def _sides_table(found: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "sides",
        "Sides",
        "Whether people lean to one side, and whether it costs accuracy.",
        found.assign(label=found["measure"].map(_SIDES)),
        (
            _LABEL,
            Column("estimate", "Share", "estimate"),
            Column("n_judgments", "Judgments", "count"),
        ),
        ("First: the upper or left option, and its key. Intervals: 95%, crossed bootstrap.",),
        PEOPLE_SECTION,
    )


def _learning_table(
    found: pd.DataFrame, effect: tuple[float, float, float], context: Context
) -> Table:
    labels = [
        f"Trials {first} to {last}"
        for first, last in zip(found["first"], found["last"], strict=True)
    ]
    return context.table(
        "learning",
        "Learning over trials",
        "Accuracy and speed over the session.",
        found.assign(label=labels),
        _SPEED,
        (
            "Second half of the session minus first, accuracy: {:+.3f} [{:+.3f}, {:+.3f}]; 95%, "
            "crossed bootstrap.".format(*effect),
        ),
        PEOPLE_SECTION,
    )


def _speed_table(found: pd.DataFrame, across: dict[str, float], context: Context) -> Table:
    return context.table(
        "speed_accuracy",
        "Speed and accuracy",
        "Accuracy in fifths of each participant's own reaction times.",
        found.assign(label=[f"Fifth {number}" for number in found["quintile"]]),
        _SPEED,
        (
            "Over participants, Spearman's correlation of median reaction time and accuracy: "
            f"{across['spearman']:+.2f} [{across['spearman_low']:+.2f}, "
            f"{across['spearman_high']:+.2f}].",
        ),
        PEOPLE_SECTION,
    )


def _ways_table(found: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "ways_of_answering",
        "Ways of answering",
        "Accuracy and speed by how the choice was made.",
        found.assign(label=found["input_method"].astype(str)),
        _SPEED,
        ("Participants chose their way themselves: no effect of the way can be read off.",),
        SUPPLEMENT,
    )
