"""Model participants: accuracy on every construction in every reading, and stability."""

from collections.abc import Sequence
from functools import partial

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.data.n_alternatives import chance_accuracy
from analysis.figures.drawing import (
    FONT_POINTS,
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    TEXT,
    WARNING,
    Drawing,
    hide_unlabelled_axes,
    new_figure,
    warn_of_programs,
)
from analysis.findings.finding import (
    Context,
    Finding,
    FindingInputs,
    Findings,
    Need,
    TakerData,
    full_titles,
)
from analysis.statistics.attraction import attraction_by_elicitation, configurations
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from analysis.takers.answers import share_of_rules, warn_of_one_label
from analysis.takers.by_reading import (
    compare_by_elicitation,
    estimate_history_effects,
    measure_bias_in_log_odds,
    measure_consistency,
    measure_first_place_bias,
)
from analysis.takers.conclusions import count_supporting_readings, describe_conclusions
from lm.answering.answerer import Tier
from lm.answering.labels import RULES

_LABEL = Column("label", "", "text")


def analyse_model_participants(inputs: FindingInputs) -> Findings:
    """Return model participants' answers by reading, and the number of readings per conclusion."""
    takers, context = inputs.options.takers, inputs.context
    people = inputs.data.judgments
    answers = pd.concat([taker.frame for taker in takers], ignore_index=True)
    differences = compare_by_elicitation(people, answers, inputs.margin)
    if differences.empty:
        return Findings(left_out=("No model participant gave a readable answer to a judged item.",))
    items = inputs.data.items
    configured = configurations(items[items["item_id"].isin(people["item_id"].unique())])
    attracted = attraction_by_elicitation(answers, configured)
    supported = count_supporting_readings(differences, chance_accuracy(inputs.run), attracted)
    first_place_bias, consistency = (
        measure_first_place_bias(answers, people),
        measure_consistency(answers, people),
    )
    history = estimate_history_effects(answers)
    statistics = {
        "taker_readings": differences,
        "taker_conclusions": supported,
        "taker_biases": first_place_bias,
        "taker_consistency": consistency,
        **({"taker_attraction": attracted} if len(attracted) else {}),
    }
    tables = [
        _readings_table(differences, takers, context),
        _conclusions_table(supported, differences, context),
        _biases_table(first_place_bias, context),
        _consistency_table(consistency, context),
    ]
    with_odds = [taker.frame for taker in takers if taker.tier != Tier.SAMPLES]
    odds = (
        measure_bias_in_log_odds(pd.concat(with_odds, ignore_index=True))
        if with_odds
        else pd.DataFrame()
    )
    if len(odds):
        statistics["taker_log_odds"] = odds
        tables.append(_log_odds_table(odds, context))
    samples = pd.concat([taker.samples for taker in takers], ignore_index=True)
    if len(samples):
        labels = pd.concat([taker.sampled_labels for taker in takers], ignore_index=True)
        statistics |= {"taker_samples": share_of_rules(samples), "taker_sampled_labels": labels}
        tables.append(_samples_table(statistics["taker_samples"], labels, context))
    if len(history):
        statistics["taker_history"] = history
        tables.append(_history_table(history, context))
    return Findings(
        tuple(tables),
        statistics,
        drawings=(_make_readings_drawing(differences, inputs),),
        summary=tuple(describe_conclusions(supported)),
    )


def _make_readings_drawing(differences: pd.DataFrame, inputs: FindingInputs) -> Drawing:
    ordered = inputs.context.by_construction(differences)
    rows = ordered.assign(label=full_titles(ordered))
    origin = inputs.context.origin
    return Drawing(
        "taker_readings",
        "Readings",
        "Accuracy of each model that took the sessions in each reading, with 95% intervals "
        "(sessions and frames clustered), and people's on the same items (blue line; its "
        "differences with their intervals are in the table). Dashed: chance.",
        Section.TAKERS,
        partial(draw_readings, rows, simulated=origin.simulated, chance=origin.chance),
    )


def _readings_table(
    differences: pd.DataFrame, takers: Sequence[TakerData], context: Context
) -> Table:
    ordered = context.by_construction(differences).sort_values("model", kind="stable")
    frame = ordered.assign(
        group=ordered["model"] + ": " + full_titles(ordered), label=ordered["reading"]
    )
    tiers = "; ".join(f"{taker.model}: {taker.tier}" for taker in takers)
    left_out = int(differences["n_left_out"].max())
    missing = f"{left_out} judged item(s) that no model answered are left out." if left_out else ""
    return context.table(
        "taker_readings",
        "Readings",
        "People's accuracy minus that of each model that took the sessions, in each reading.",
        frame,
        (
            _LABEL,
            Column("people", "People"),
            Column("accuracy", "Model"),
            Column("difference", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("p_holm", "Holm", "p"),
            Column("p_fdr", "FDR", "p"),
            Column("n_items", "Items", "count"),
            Column("unread", "Unread", "number"),
        ),
        (
            "Intervals: 95%, paired over items, participants and frames clustered. Holm, FDR: over "
            "all constructions and readings of one model.",
            "A model's answer to an item is the share of its sessions that chose the expected "
            "option. Unread: the share of trials without a readable answer; they are left out.",
            *filter(None, (missing,)),
            f"What the models report: {tiers} (docs/takers.md).",
        ),
        Section.TAKERS,
    )


def _conclusions_table(
    supported: pd.DataFrame, differences: pd.DataFrame, context: Context
) -> Table:
    ordered = context.by_construction(supported).sort_values("model", kind="stable")
    frame = ordered.assign(
        group=ordered["model"] + ": " + full_titles(ordered),
        label=ordered["conclusion"],
        share=ordered["holds"].astype(str) + " of " + ordered["n_readings"].astype(str),
    )
    n = len(differences)
    return context.table(
        "taker_conclusions",
        "Conclusions",
        "In how many readings each conclusion holds.",
        frame,
        (
            _LABEL,
            Column("share", "Holds in", "text"),
            Column("opposite", "Opposite", "count"),
            Column("readings", "Readings", "text"),
        ),
        (
            f"A conclusion holds where the 95% interval lies on its side. {n} intervals of each "
            f"kind were computed: about {0.05 * n:.0f} exclude the truth by chance. Holm: also "
            "after adjustment for all constructions and readings of one model.",
            "More accurate than another model: by the point estimate, without a test. Attraction: "
            "matching minus mismatching items, sessions and frames clustered; only constructions "
            "whose items have features of one kind.",
        ),
        Section.TAKERS,
    )


def _biases_table(leaning: pd.DataFrame, context: Context) -> Table:
    ways = leaning[["reading", "context", "labels"]].itertuples(index=False)
    label = [", ".join(filter(None, way)) for way in ways]
    return context.table(
        "taker_biases",
        "First place",
        "How often the first of two places was chosen.",
        leaning.assign(group=leaning["judge"], label=label),
        (_LABEL, Column("estimate", "First chosen", "estimate"), Column("n", "Answers", "count")),
        (
            "Of prompts, the place in the prompt; asked in both orders, texts alone give .50. Of "
            "people and other readings, the place on the screen.",
            "Intervals: 95%, sessions and frames clustered.",
        ),
        Section.TAKERS,
    )


def _log_odds_table(odds: pd.DataFrame, context: Context) -> Table:
    ways = odds[["reading", "context", "bias"]].itertuples(index=False)
    return context.table(
        "taker_log_odds",
        "Bias in log-odds",
        "By how many nats the log-odds of two answers favour a place, a side and a set of labels.",
        odds.assign(group=odds["model"], label=[", ".join(filter(None, way)) for way in ways]),
        (
            _LABEL,
            Column("estimate", "Nats", "estimate"),
            Column("n", "Trials", "count"),
            Column("n_units", "Frames", "count"),
        ),
        (
            "First place: of the prompt, from trials asked in both orders. First side: of a "
            "person's screen. Labels: a set's bias towards the first place minus the mean of all "
            "sets. 0 is no bias; log-odds of 1 nat make .50 to .73.",
            "Intervals: 95%, frames as observations. Probabilities only: of samples, see First "
            "place.",
        ),
        Section.TAKERS,
    )


def _consistency_table(alike: pd.DataFrame, context: Context) -> Table:
    label = (alike["reading"] + " between " + alike["between"]).str.strip()
    return context.table(
        "taker_consistency",
        "Consistency",
        "How often two answers to one item agree.",
        alike.assign(group=alike["judge"], label=label),
        (_LABEL, Column("agreement", "Alike", "number"), Column("n_pairs", "Pairs", "count")),
        (
            "Between orders, labels or sessions: all else equal. Between readings: the majority "
            "of each. People: two people's answers to one item.",
        ),
        Section.TAKERS,
    )


def _samples_table(shares: pd.DataFrame, labels: pd.DataFrame, context: Context) -> Table:
    kind = np.where(shares["readable"], "read by rule: ", "unreadable: ")
    return context.table(
        "taker_samples",
        "Samples",
        "How the texts that models wrote were read as labels.",
        shares.assign(
            group=shares["model"] + ", " + shares["reading"], label=kind + shares["read_by"]
        ),
        (_LABEL, Column("share", "Share", "number"), Column("n", "Samples", "count")),
        (
            *warn_of_one_label(labels),
            "Rules, in the order in which they are tried: "
            + ", ".join(RULES)
            + " (docs/takers.md)."
            " A sample that names several labels or none, that declines, or that was cut off "
            "counts for no answer.",
        ),
        Section.TAKERS,
    )


def _history_table(history: pd.DataFrame, context: Context) -> Table:
    return context.table(
        "taker_history",
        "Context",
        "Accuracy in each context minus that without one, on the same items.",
        history.assign(
            group=history["model"], label=history["reading"] + ", " + history["context"]
        ),
        (
            _LABEL,
            Column("difference", "Difference", "estimate"),
            Column("p", "p", "p"),
            Column("n_items", "Items", "count"),
        ),
        ("Intervals: 95%, paired over the same trials, sessions and frames clustered.",),
        Section.TAKERS,
    )


TAKERS = Finding("takers", Section.TAKERS, analyse_model_participants, needs=(Need.TAKERS,))


_INCHES_OF_A_READING, _MOST_INCHES = 0.075, 9.0
_OFFSET = 0.36


def draw_readings(frame: pd.DataFrame, *, simulated: bool, chance: float) -> Figure:
    """Draw each model's accuracy in each reading, next to the human participants' accuracy.

    Args:
        frame: A frame from ``analysis.takers.by_reading.compare_by_elicitation``, in the order of
            the rows, with ``label``, the construction's title.
        simulated: Whether the figure must state that participants were simulated.
        chance: The accuracy of guessing.
    """
    models, readings = (list(dict.fromkeys(frame[name])) for name in ("model", "reading"))
    rows = list(dict.fromkeys(frame["label"]))
    row_inches = 0.1 + _INCHES_OF_A_READING * (len(readings) + 1)
    with mpl.rc_context(STYLE):
        height = min(1.1 + row_inches * len(rows), _MOST_INCHES)
        figure = new_figure(PAGE_INCHES, height)
        drawn = figure.subplots(1, len(models), sharey=True, squeeze=False)[0]
        for axes, model in zip(drawn, models, strict=True):
            model_rows = frame[frame["model"] == model]
            _draw_frame(axes, model, rows, chance)
            _draw_people(axes, model_rows, rows)
            for number, reading in enumerate(readings):
                _draw_reading(
                    axes, model_rows[model_rows["reading"] == reading], rows, number, len(readings)
                )
        handles, labels = drawn[0].get_legend_handles_labels()
        for axes in drawn[1:]:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles, labels = [*handles, handle], [*labels, label]
        figure.legend(
            handles, labels, loc="outside upper left", ncols=len(labels), frameon=False,
            handletextpad=0.3, columnspacing=1.2,
        )  # fmt: skip
        if simulated:
            warn_of_programs(drawn[0])
            # On a separate line, above the models' names.
            title = drawn[0].get_title(loc="left")
            drawn[0].set_title(f"{title}\n", loc="left", color=WARNING, fontsize=FONT_POINTS)
    return figure


def _draw_frame(axes: Axes, model: str, rows: list[str], chance: float) -> None:
    hide_unlabelled_axes(axes)
    axes.spines["left"].set_visible(False)
    axes.set_title(model, loc="right")
    # Every second row is shaded, so that the marks of a row are easy to follow.
    for row in range(0, len(rows), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=GUIDE, alpha=0.35, linewidth=0, zorder=0)
    axes.axvline(chance, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_xlabel("accuracy")


def _draw_people(axes: Axes, model_rows: pd.DataFrame, rows: list[str]) -> None:
    means = model_rows.groupby("label", sort=False)["people"].mean()
    places = [rows.index(label) for label in means.index]
    axes.vlines(
        means, np.array(places) - 0.45, np.array(places) + 0.45, color=PEOPLE, linewidth=1.6,
        label="People", zorder=2,
    )  # fmt: skip


def _draw_reading(
    axes: Axes, reading_rows: pd.DataFrame, rows: list[str], number: int, n_readings: int
) -> None:
    if reading_rows.empty:
        return
    colour, marker = MODELS[number % len(MODELS)]
    offset = np.linspace(-_OFFSET, _OFFSET, n_readings)[number] if n_readings > 1 else 0.0
    heights = np.array([rows.index(label) for label in reading_rows["label"]]) + offset
    axes.hlines(
        heights,
        reading_rows["model_low"],
        reading_rows["model_high"],
        color=colour,
        linewidth=0.9,
        zorder=3,
    )
    axes.plot(
        reading_rows["accuracy"], heights, marker, color=colour, markersize=3.6, markeredgewidth=0,
        clip_on=False, zorder=4, label=str(reading_rows["reading"].iloc[0]).replace("_", " "),
    )  # fmt: skip
