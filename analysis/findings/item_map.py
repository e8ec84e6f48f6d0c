"""Items, people and models on one scale: a map, and the items that nobody or everybody solves."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import logit
from scipy.stats import norm

from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    Drawing,
    hide_unlabelled_axes,
    new_figure,
    warn_of_programs,
)
from analysis.findings.differences import split_tied_models
from analysis.findings.finding import Finding, FindingInputs, Findings, Need
from analysis.findings.item_discrimination import compare_discriminations
from analysis.statistics.item_map import ItemMap, fit_item_map
from analysis.statistics.mixed_model_rows import SINGULAR
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

NAME = "item_map"
# The average person's accuracy above which everybody knows an item.
_KNOWN = 0.95
_LEVEL = 0.05
# Fitting takes time cubic in the number of people and items.
_MOST_EFFECTS = 2000
_HEIGHT_INCHES = 3.2
_BINS = 20
NOBODY, EVERYBODY, MISFIT = "nobody understands", "everybody knows", "does not fit"


def _run(inputs: FindingInputs) -> Findings:
    judgments, (decisions, tied) = (
        inputs.judged.judgments,
        split_tied_models(inputs.judged.decisions),
    )
    people, items = judgments["participant"].nunique(), judgments["item_id"].nunique()
    if people < 2 or items < 2 or judgments["chose_good"].nunique() < 2:
        return _leave_out("it needs several participants and items, some of them wrong")
    if people + items > _MOST_EFFECTS:
        return _leave_out(
            f"{people:,} participants and {items:,} items are more than {_MOST_EFFECTS:,} together"
        )
    fitted = fit_item_map(judgments, decisions)
    chance = inputs.context.origin.chance or 0.5
    of_items = _mark(fitted.items, inputs, chance)
    models = fitted.judges[fitted.judges["is_model"]]
    drawing = Drawing(
        NAME,
        "Item map",
        "People and models (left) by ability, and items (right) by difficulty, with 95% intervals. "
        "A judge is right in half of the cases on an item at the same height.",
        Section.AGREEMENT,
        partial(_draw, fitted, simulated=inputs.context.origin.simulated),
    )
    further = compare_discriminations(inputs, fitted, judgments, of_items)
    return Findings(
        (
            _judges_table(fitted, models, inputs),
            _items_table(of_items, inputs, chance),
            *further.tables,
        ),
        {NAME: of_items, "item_map_models": models, **further.statistics},
        (
            *(f"{name} made no choices: it is not part of the item map." for name in tied),
            *further.left_out,
        ),
        drawings=(drawing, *further.drawings),
    )


def _leave_out(reason: str) -> Findings:
    return Findings(left_out=(f"The item map was left out: {reason}.",))


def _mark(items: pd.DataFrame, inputs: FindingInputs, chance: float) -> pd.DataFrame:
    """Add each item's construction, condition, text and remark, the most difficult first."""
    known = inputs.run.items.assign(item_id=inputs.run.items["item_id"].astype(str))
    columns = ["item_id", "construction", "condition", "good"]
    rows = items.merge(known[columns], "left", on="item_id")
    remark = np.select(
        [
            rows["low"] > -logit(chance),
            rows["high"] < -logit(_KNOWN),
            (rows["p_holm"] < _LEVEL) & (rows["infit"] > 1),
        ],
        [NOBODY, EVERYBODY, MISFIT],
        "",
    )
    return rows.assign(remark=remark).sort_values("difficulty", ascending=False, ignore_index=True)


def _judges_table(fitted: ItemMap, models: pd.DataFrame, inputs: FindingInputs) -> Table:
    of_people = fitted.judges[~fitted.judges["is_model"]]
    people = pd.DataFrame(
        {
            "label": ["people (average)"],
            "ability": [0.0],
            "low": [np.nan],
            "high": [np.nan],
            "share": [float(np.average(of_people["share"], weights=of_people["n_judgments"]))],
            "below": [0.5],
            "infit": [np.nan],
        }
    )
    is_flat = fitted.sd_people < SINGULAR
    below = np.nan if is_flat else norm.cdf(models["ability"] / fitted.sd_people)
    rows = pd.concat([people, models.assign(label=models["judge"], below=below)])
    misfits, untested = int((of_people["p_holm"] < _LEVEL).sum()), int(of_people["p"].isna().sum())
    alike = f"; {untested} cannot be tested, because the items hardly differ for them"
    return inputs.context.table(
        "item_map_judges",
        "People and models on the items' scale",
        "Ability in logits: 0 is the average person, for whom items of the difficulty 0 are right "
        "in half of the cases.",
        rows,
        (
            Column("label", "", "text"),
            Column("ability", "Ability", "estimate"),
            Column("share", "Right"),
            Column("below", "People below"),
            Column("infit", "Infit", "number"),
        ),
        (
            f"One-parameter logistic model with random effects, right ~ 1 + (1 | participant) + "
            f"(1 | item); standard deviations: participants {fitted.sd_people:.2f}, items "
            f"{fitted.sd_items:.2f}; mean difficulty {fitted.mean_difficulty:.2f}. Laplace's "
            "approximation. A model is placed by its answers, given the items' difficulties.",
            *_flat_notes(fitted),
            "Infit (Wright and Masters, 1982): squared residuals relative to those expected, each "
            "answer predicted from the others. Above 1, a judge errs on items "
            f"that are easy for people. Of {len(of_people)} participants, {misfits} do not fit "
            f"(p < .05 after Holm's correction){alike if untested else ''}.",
        ),
        Section.AGREEMENT,
    )


def _flat_notes(fitted: ItemMap) -> list[str]:
    sds = {"participants": fitted.sd_people, "items": fitted.sd_items}
    flat = [name for name, sd in sds.items() if sd < SINGULAR]
    return [f"No variance could be estimated for {' and '.join(flat)}."] if flat else []


def _items_table(items: pd.DataFrame, inputs: FindingInputs, chance: float) -> Table:
    marked = items[items["remark"] != ""]
    counts = ", ".join(
        f"{int((items['remark'] == remark).sum())} {words}"
        for remark, words in (
            (NOBODY, "that nobody understands"),
            (EVERYBODY, "that everybody knows"),
            (MISFIT, "that do not fit the model"),
        )
    )
    return inputs.context.table(
        "item_map_items",
        "Items that stand out",
        f"Of {len(items)} items, {counts}.",
        marked.assign(label=marked["good"], group=marked["remark"]),
        (
            Column("label", "", "text"),
            Column("difficulty", "Difficulty", "estimate"),
            Column("share", "Right"),
            Column("infit", "Infit", "number"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "Nobody understands: the 95% interval of the average person's accuracy lies below "
            f"{chance:.3g}. Everybody knows: it lies above {_KNOWN:g}. Does not fit: answers are "
            "noisier than the model says (infit above 1, p < .05 after Holm's correction).",
        ),
        Section.SUPPLEMENT,
    )


def _draw(fitted: ItemMap, *, simulated: bool) -> Figure:
    figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1, 2))
    people = fitted.judges[~fitted.judges["is_model"]]
    left.hist(people["ability"], bins=_BINS, orientation="horizontal", color=PEOPLE, alpha=0.5)
    models = fitted.judges[fitted.judges["is_model"]]
    for (colour, marker), row in zip(MODELS, models.to_dict("records"), strict=False):
        for axes in (left, right):
            axes.axhline(row["ability"], color=colour, linewidth=0.8)
        left.plot([0], [row["ability"]], marker, color=colour, markersize=4, label=row["judge"])
    items = fitted.items.sort_values("difficulty", ignore_index=True)
    right.vlines(items.index, items["low"], items["high"], color=GUIDE, linewidth=0.8)
    right.plot(items.index, items["difficulty"], ".", color="black", markersize=2.5)
    left.set_xlabel("people")
    left.set_ylabel("ability, difficulty (logits)")
    right.set_xlabel("items, by difficulty")
    for axes in (left, right):
        hide_unlabelled_axes(axes)
    if simulated:
        warn_of_programs(left)
    if len(models):
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=4,
                      frameon=False)  # fmt: skip
    return figure


ITEM_MAP = Finding(NAME, Section.AGREEMENT, _run, needs=(Need.ITEM_MAP,))
