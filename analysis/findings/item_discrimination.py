"""Do items differ in how well they tell people apart? The two-parameter model, and item plots."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import binomtest

from analysis.figures.drawing import (
    FONT_POINTS,
    GUIDE,
    PAGE_INCHES,
    PEOPLE,
    TEXT,
    Drawing,
    hide_unlabelled_axes,
    new_figure,
    warn_of_programs,
)
from analysis.findings.comparison_words import write_p
from analysis.findings.finding import FindingInputs, Findings
from analysis.statistics.item_map import ItemMap
from analysis.statistics.mixed_model_rows import SINGULAR
from analysis.statistics.two_parameters import (
    TwoParameters,
    fit_two_parameters,
    has_both_answers,
)
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section

TWO_PARAMETERS, ITEM_PLOTS = "item_map_two_parameters", "item_plots"
# With 25 answers to each item, the likelihood ratio test called equal discriminations different in
# a quarter of simulated studies, and one discrimination in ten was estimated above 4.
_LEAST_ANSWERS = 100
_LEAST_ITEMS = 3
_LEVEL = 0.05
_ROWS, _COLUMNS, _GROUPS = 3, 4, 5
_HEIGHT_INCHES = 4.6
_TITLE_LETTERS = 34


def compare_discriminations(
    inputs: FindingInputs, fitted: ItemMap, judgments: pd.DataFrame, items: pd.DataFrame
) -> Findings:
    """Return the two-parameter model, if there are answers enough, and plots of items.

    Args:
        inputs: The inputs of the comparison.
        fitted: The item map.
        judgments: People's judgments.
        items: The map's items with their texts.
    """
    decisions = inputs.judged.decisions
    reason = _find_obstacle(judgments, fitted)
    if reason:
        left_out = (f"The two-parameter model of items was left out: {reason}.",)
        return Findings(
            left_out=left_out, drawings=(_plot(inputs, fitted, judgments, items, None),)
        )
    models = fitted.judges.loc[fitted.judges["is_model"], "judge"]
    two = fit_two_parameters(judgments, {name: decisions[name] for name in models})
    rows = two.items.merge(items[["item_id", "good"]], on="item_id", how="left")
    return Findings(
        (_make_table(inputs, two, rows),),
        {TWO_PARAMETERS: rows, f"{TWO_PARAMETERS}_judges": two.judges},
        drawings=(_plot(inputs, fitted, judgments, items, two),),
    )


def _find_obstacle(judgments: pd.DataFrame, fitted: ItemMap) -> str:
    """Return why discriminations cannot be estimated; empty if they can."""
    is_mixed = has_both_answers(judgments)
    n_mixed = int(is_mixed.sum())
    if n_mixed < _LEAST_ITEMS:
        return (
            f"it needs {_LEAST_ITEMS} items that some people get right and some wrong, and there "
            f"{'is' if n_mixed == 1 else 'are'} {n_mixed}"
        )
    answers = judgments["item_id"].astype(str).value_counts()[is_mixed.index[is_mixed]].median()
    if answers < _LEAST_ANSWERS:
        return (
            f"the items have {answers:.0f} answers each (the median), and it needs "
            f"{_LEAST_ANSWERS}. With fewer, a discrimination is known too badly to say that "
            "items differ"
        )
    if fitted.sd_people < SINGULAR:
        return "people do not differ in ability, so no item can tell them apart"
    return ""


def _make_table(inputs: FindingInputs, two: TwoParameters, rows: pd.DataFrame) -> Table:
    common = two.common_discrimination
    differs = (rows["discrimination_low"] > common) | (rows["discrimination_high"] < common)
    test = f"likelihood ratio test, chi-squared({two.df}) = {two.chi_squared:.1f}, {write_p(two.p)}"
    answer = (
        f"Items differ in discrimination: two parameters fit better than one ({test})."
        if two.p < _LEVEL
        else f"One parameter is enough: no difference in discrimination was shown ({test})."
    )
    models = two.judges[two.judges["is_model"]]
    places = ", ".join(
        f"{row['judge']} {row['ability']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
        for row in models.to_dict("records")
    )
    shown = rows[differs].sort_values("discrimination", ignore_index=True)
    return inputs.context.table(
        TWO_PARAMETERS,
        "Items that tell people apart",
        f"{answer} Of {len(rows)} items, the discriminations of {len(shown)} lie above or below "
        f"{common:.2f}, that of all items together.",
        shown.assign(
            label=shown["good"],
            low=shown["discrimination_low"],
            high=shown["discrimination_high"],
        ),
        (
            Column("label", "", "text"),
            Column("discrimination", "Discrimination", "estimate"),
            Column("difficulty", "Difficulty", "number"),
            Column("share", "Right"),
            Column("infit", "Infit", "number"),
            Column("n_judgments", "Judgments", "count"),
        ),
        (
            "Two-parameter logistic model, marginal maximum likelihood (Bock and Aitkin, 1981), "
            "in standard deviations of people's abilities. Log-likelihoods: one parameter "
            f"{two.loglik_one:.2f}, two {two.loglik_two:.2f}. An item with a negative "
            "discrimination is answered against ability.",
            *([f"Abilities of models by the two-parameter model: {places}."] if places else []),
            *(
                [f"{len(two.left_out)} items that everybody or nobody got right have no part in "
                 "it."]
                if two.left_out
                else []
            ),
        ),
        Section.SUPPLEMENT,
    )  # fmt: skip


def _plot(
    inputs: FindingInputs,
    fitted: ItemMap,
    judgments: pd.DataFrame,
    items: pd.DataFrame,
    two: TwoParameters | None,
) -> Drawing:
    chosen = items.sort_values("p", kind="stable").head(_ROWS * _COLUMNS)
    other = "; blue: that of the two-parameter model" if two else ""
    return Drawing(
        ITEM_PLOTS,
        "Items that fit least well",
        "Shares of right answers of people in groups of rising ability, with 95% intervals. "
        f"Black: the curve that the one-parameter model expects{other}. The items with the lowest "
        "p of fit, at most twelve.",
        Section.SUPPLEMENT,
        partial(
            _draw_items,
            fitted,
            judgments,
            chosen,
            two,
            simulated=inputs.context.origin.simulated,
        ),
    )


def _draw_items(
    fitted: ItemMap,
    judgments: pd.DataFrame,
    chosen: pd.DataFrame,
    two: TwoParameters | None,
    *,
    simulated: bool,
) -> Figure:
    figure = new_figure(PAGE_INCHES, _HEIGHT_INCHES)
    if simulated:
        warn_of_programs(figure)
    panels = figure.subplots(_ROWS, _COLUMNS, sharex=True, sharey=True).ravel()
    of_people = fitted.judges[~fitted.judges["is_model"]].set_index("judge")["ability"]
    reach = 3 * max(fitted.sd_people, SINGULAR)
    at = np.linspace(-reach, reach, 101)
    answers = judgments.assign(ability=judgments["participant"].astype(str).map(of_people))
    discriminations = two.items.set_index("item_id") if two else pd.DataFrame()
    for axes, item in zip(panels, chosen.to_dict("records"), strict=False):
        of_item = answers[answers["item_id"].astype(str) == item["item_id"]]
        _draw_shares(axes, of_item)
        axes.plot(at, expit(at - item["difficulty"]), color=TEXT, linewidth=0.8)
        if item["item_id"] in discriminations.index:
            slope, difficulty = discriminations.loc[
                item["item_id"], ["discrimination", "difficulty"]
            ]
            curve = expit(slope * (at / fitted.sd_people - difficulty))
            axes.plot(at, curve, color=PEOPLE, linewidth=0.8)
        axes.set_title(_shorten(str(item["good"])), fontsize=FONT_POINTS - 1)
        axes.set_ylim(-0.03, 1.03)
        axes.grid(axis="y", color=GUIDE, linewidth=0.5)
        hide_unlabelled_axes(axes)
    for axes in panels[len(chosen) :]:
        axes.set_visible(False)
    figure.supxlabel("ability (logits)", fontsize=FONT_POINTS)
    figure.supylabel("share of right answers", fontsize=FONT_POINTS)
    return figure


def _draw_shares(axes: Axes, answers: pd.DataFrame) -> None:
    """Draw the shares of right answers of groups of equal size, by ability."""
    ordered = answers.sort_values("ability", kind="stable")
    for places in np.array_split(np.arange(len(ordered)), min(_GROUPS, len(ordered))):
        group = ordered.iloc[places]
        right = int(group["chose_good"].sum())
        interval = binomtest(right, len(group)).proportion_ci(method="wilson")
        middle = group["ability"].mean()
        axes.vlines(middle, interval.low, interval.high, color=GUIDE, linewidth=1)
        axes.plot(middle, right / len(group), "o", color=TEXT, markersize=2.5)


def _shorten(text: str) -> str:
    return text if len(text) <= _TITLE_LETTERS else f"{text[: _TITLE_LETTERS - 1]}…"
