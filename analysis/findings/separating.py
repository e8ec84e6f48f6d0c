"""Frames that were drawn where models differ: how many, and which model is nearer to people."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.data.categorical import find_codes
from analysis.data.declared import clustering_column
from analysis.data.inclusion import load_inclusion
from analysis.findings.finding import CONSTRUCTION, Finding, FindingInputs, Findings
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.clustered import student_interval, two_way_variance
from analysis.statistics.drawn_frames import find_drawn
from analysis.statistics.resample import codes
from analysis.statistics.withheld import too_few_units
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.tables.schemas import AGREE, DIFFER

NAME = "drawn_frames"
_WORDS = {AGREE: "the models agree", DIFFER: "the models differ"}
_WEIGHTED = (
    "{} are weighted by the inverse of each frame's probability of being drawn, so that they are "
    "those of all frames that could be drawn; all other statistics (such as agreement, "
    "correlations, slopes and mixed models) describe the frames that were shown."
)
_OF_CHOICES = "Accuracies, means, and differences between conditions and between people and models"
_OF_OTHERS = "Means, shares, and differences between conditions"


def _run(inputs: FindingInputs) -> Findings:
    frames = load_inclusion(inputs.run)
    if frames.empty:
        return Findings()
    models = " and ".join(str(frames["models"].iloc[0]).split("; "))
    strata = _count_strata(frames, inputs)
    drawn, total = int(strata["n_drawn"].sum()), int(strata["n_frames"].sum())
    if decides := inputs.context.origin.asked.decides:
        differing = strata[strata["stratum"] == DIFFER]
        chosen = (
            f"those on which {models} differ more often than others "
            f"({int(differing['n_drawn'].sum())} of {int(differing['n_frames'].sum())})"
        )
    else:
        chosen = f"more often those for which the scores of {models} differ more"
    summary = (
        f"The items were chosen: {drawn} of {total} frames were drawn, {chosen}. "
        + _WEIGHTED.format(_OF_CHOICES if decides else _OF_OTHERS),
    )
    tables, statistics = [_strata_table(strata, models, inputs)], {NAME: strata}
    judged = inputs.judged
    if decides and len(judged.decisions) > 1:
        nearer = nearer_to_people(judged.judgments, judged.decisions)
        tables.append(_nearer_table(nearer, inputs))
        statistics["nearer_to_people"] = nearer
    return Findings(tuple(tables), statistics, summary=summary)


def _count_strata(frames: pd.DataFrame, inputs: FindingInputs) -> pd.DataFrame:
    """Return the frames of each construction and stratum, and people's accuracy on them."""
    run = inputs.run
    constructions = dict(zip(run.items["template"], run.items["construction"], strict=True))
    frames = frames.assign(construction=frames["template"].map(constructions))
    keys = [*CONSTRUCTION, "stratum"]
    shown = pd.MultiIndex.from_frame(run.items[["template", "frame"]].astype(str))
    is_drawn = pd.MultiIndex.from_frame(frames[["template", "frame"]]).isin(shown)
    grouped = frames.assign(is_drawn=is_drawn).groupby(keys, sort=False)["is_drawn"]
    rows = grouped.agg(n_frames="size", n_drawn="sum").reset_index()
    if not inputs.context.origin.asked.decides:
        return rows
    strata_of = frames.set_index(["template", "frame"])["stratum"]
    of_items = pd.Series(
        strata_of.reindex(shown).to_numpy(), index=run.items["item_id"].astype(str)
    )
    judgments = inputs.data.judgments
    judgments = judgments.assign(stratum=judgments["item_id"].astype(str).map(of_items))
    judgments = judgments[judgments["stratum"].notna()]
    accuracy = people_accuracy(judgments, keys)[[*keys, "accuracy", "low", "high", "n_judgments"]]
    return rows.merge(accuracy.astype({"construction": str}), "left", on=keys)


def _strata_table(strata: pd.DataFrame, models: str, inputs: FindingInputs) -> Table:
    rows = inputs.context.by_construction(strata)
    has_accuracy = "accuracy" in rows
    return inputs.context.table(
        NAME,
        "Frames drawn",
        f"Frames were drawn by how much {models} differ on them.",
        rows.assign(group=rows["label"], label=rows["stratum"].map(_WORDS)),
        (
            Column("label", "", "text"),
            Column("n_frames", "All frames", "count"),
            Column("n_drawn", "Drawn", "count"),
            *([Column("accuracy", "People", "estimate")] if has_accuracy else []),
        ),
        (_WEIGHTED.format(_OF_CHOICES),) if has_accuracy else (),
        Section.PARTICIPANTS,
    )


def _nearer_table(nearer: pd.DataFrame, inputs: FindingInputs) -> Table:
    return inputs.context.table(
        "nearer_to_people",
        "Which model is nearer to people",
        "How often people choose what each of two models chooses.",
        nearer.assign(label=nearer["first_model"] + " and " + nearer["second_model"]),
        (
            Column("label", "", "text"),
            Column("first", "First"),
            Column("second", "Second"),
            Column("difference", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("n_differing", "Judgments where they differ", "count"),
        ),
        ("Intervals: 95%, participants and frames clustered; weighted like accuracies.",),
        Section.AGREEMENT,
    )


SEPARATING = Finding("separating", Section.PARTICIPANTS, _run)


def nearer_to_people(
    judgments: pd.DataFrame, decisions: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return how much more often people agree with one model than with another.

    Judgments on which the models agree contribute 0. The variance is the two-way clustered one.

    Args:
        judgments: One row per judgment, from ``analysis.data.join.judgments``.
        decisions: Each model's decisions; they cover every judged item.

    Returns:
        For each pair of models: first_model, second_model, first and second (the shares of
        judgments that agree with each), difference, low, high (95%), p (of no difference),
        n_judgments, n_differing (judgments of items on which the models differ), n_participants,
        n_frames. Without enough participants or frames there is neither interval nor p.
    """
    unit = codes(judgments[clustering_column(judgments)])[0]
    person, drawn = codes(judgments["participant"])[0], find_drawn(judgments)
    chosen = judgments["chose_good"].to_numpy(dtype=bool)
    weight = np.ones(len(judgments)) if drawn is None else drawn.weight
    share = weight / weight.sum()
    agreement = {}
    for model, frame in decisions.items():
        index = find_codes(judgments["item_id"], pd.Index(frame["item_id"].tolist()))
        agreement[model] = (frame["correct"].to_numpy(dtype=bool)[index] == chosen).astype(float)
    n_people, n_frames = judgments["participant"].nunique(), unit.max() + 1
    too_few = bool(too_few_units(n_people, n_frames))
    rows = []
    for first, second in combinations(agreement, 2):
        differences = agreement[first] - agreement[second]
        mean = float(share @ differences)
        variance = two_way_variance(
            share * (differences - mean), person, unit, np.zeros_like(unit), drawn=drawn
        )
        total = float("nan") if too_few else float(variance.total[0])
        rows.append(
            {
                "first_model": first,
                "second_model": second,
                "first": float(share @ agreement[first]),
                "second": float(share @ agreement[second]),
                "difference": mean,
                **student_interval(mean, total, float(variance.freedom[0])),
                "n_judgments": len(judgments),
                "n_differing": int(np.count_nonzero(differences)),
                "n_participants": n_people,
                "n_frames": n_frames,
            }
        )
    return pd.DataFrame(rows)
