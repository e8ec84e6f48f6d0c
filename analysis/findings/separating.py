"""Frames that were drawn where models differ: how many, and which model is nearer to people."""

import pandas as pd

from analysis.data.inclusion import load_inclusion
from analysis.findings.finding import CONSTRUCTION, Finding, FindingInputs, Findings
from analysis.statistics.accuracy import people_accuracy
from analysis.statistics.nearness import nearer_to_people
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
