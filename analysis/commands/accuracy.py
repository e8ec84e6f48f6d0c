"""``parallax lm accuracy``: compare models on their items, without participants."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.data.load import PEOPLE, ExportedRun, Scores, load_all_scores, load_run
from analysis.errors import AnalysisError
from analysis.figures.drawing import FORMATS as FIGURE_FORMATS
from analysis.figures.drawing import (
    GUIDE,
    MODELS,
    PAGE_INCHES,
    STYLE,
    TEXT,
    hide_unlabelled_axes,
    new_figure,
    save_figure,
)
from analysis.figures.drawing import (
    PEOPLE as PEOPLE_COLOUR,
)
from analysis.findings.models import (
    CONDITION,
    accuracy_by,
    decisions_with_features,
    models_by_group,
    people_with_features,
    perplexity_table,
)
from analysis.scores.metrics import METRICS, NEED_UNIGRAM, SUM, apply_metric, describe_metric
from analysis.scores.scoring_inputs import find_materials
from analysis.tables.accuracy_table import Table
from analysis.tables.render import FORMATS as TABLE_FORMATS
from analysis.tables.render import save_table, to_text
from experiment.errors import why_unread
from experiment.materials.formats.files import is_materials
from experiment.materials.item_rows import item_row
from experiment.tables.atomic_write import atomic_folder
from experiment.version import code_version
from lm.model_folder import CONFIG, read_config

ALL_MODELS = "all models"
SIMULATED = "SIMULATED PARTICIPANTS"
_PERPLEXITY = "valid_perplexity"
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("items", metavar="STUDY_OR_ITEMS")
@click.argument("scores", metavar="SCORES...", nargs=-1, type=_PATH)
@click.option(
    "--metric",
    default=SUM,
    show_default=True,
    type=click.Choice([name for name in METRICS if name not in NEED_UNIGRAM]),
    help="How a model's log-probabilities become one score; word: that of the target word alone.",
)
@click.option(
    "--by",
    multiple=True,
    help="Also split accuracies by this column or feature of the items, such as attractors.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=PATTERN,...",
    help="Average the models whose names fit a pattern; repeat it for more groups.",
)
@click.option(
    "--perplexity",
    "sources",
    multiple=True,
    type=_PATH,
    help=(
        "The models' perplexities: a table that `parallax lm search` wrote, or a trained "
        "model's folder."
    ),
)
@click.option(
    "--people", type=_PATH, help="People's judgments of the same items: an exported run or a file."
)
@click.option("--out", type=_PATH, help="A folder to write the tables to.")
@click.option("--figures", is_flag=True, help="Draw each table too; needs --out.")
def accuracy(
    items: str,
    scores: tuple[Path, ...],
    metric: str,
    by: tuple[str, ...],
    groups: tuple[str, ...],
    sources: tuple[Path, ...],
    people: Path | None,
    out: Path | None,
    figures: bool,
) -> None:
    """Print how often each model prefers the expected version.

    The shares are given by condition and by construction.

    SCORES are files that `parallax lm score` wrote for STUDY_OR_ITEMS.
    """
    if not scores:
        raise click.UsageError(
            f"Two arguments are needed: the study or its items, then their scores; only {items} "
            "is given. For example: `parallax lm accuracy STUDY scores.parquet`."
        )
    if figures and not out:
        raise click.UsageError("--figures needs a folder to write to: add --out.")
    loaded = [apply_metric(model_scores, metric) for model_scores in load_all_scores(scores)]
    table = _read_item_table(items)
    decisions = decisions_with_features(loaded, table)
    averaged = _group_models(list(decisions), groups)
    used = {model for models in averaged.values() for model in models}
    if people:
        run = _read_human_judgments(people, items)
        judge = SIMULATED if run.facts.simulated else PEOPLE
        decisions[judge] = people_with_features(run, table)
        averaged = {judge: [judge], **averaged}
    origin = list(
        _describe_origin(
            [model_scores for model_scores in loaded if model_scores.facts.model in used], metric
        )
    )
    tables = [
        accuracy_by(decisions, column, averaged, origin)
        for column in dict.fromkeys((CONDITION, "construction", *by))
    ]
    drawn = tables[1:] if figures else []
    if sources:
        perplexities = {
            name: value for path in sources for name, value in _read_perplexities(path).items()
        }
        tables.append(
            perplexity_table(
                decisions, _keep_scored_models(perplexities, decisions, sources), origin
            )
        )
    # With many models, only the files describe each model.
    click.echo("\n".join(to_text(replace(table, origin=())) for table in tables))
    if out:
        _write_tables(out, tables, drawn)


def _read_item_table(source: str) -> pd.DataFrame:
    loaded_items = find_materials(source).items()
    return pd.DataFrame([item_row(item) for item in loaded_items])


def _group_models(models: Sequence[str], requested: Sequence[str]) -> dict[str, list[str]]:
    """Return the requested groups; by default each model alone, and a group of all models."""
    if not requested:
        single_models = {model: [model] for model in models}
        return single_models | {ALL_MODELS: list(models)} if len(models) > 1 else single_models
    patterns = {
        name: pattern_list.split(",")
        for name, _, pattern_list in (text.partition("=") for text in requested)
    }
    models_in_group = models_by_group(models, patterns)
    if empty := [group for group, members in models_in_group.items() if not members]:
        raise AnalysisError(
            f'no model\'s name fits the group "{empty[0]}"',
            expected="NAME=PATTERN,... with patterns such as lstm* that fit models' names",
            remedy=f"The models are {', '.join(models)}",
        )
    return models_in_group


def _read_perplexities(path: Path) -> Mapping[str, float]:
    """Return validation perplexities by model, from a search table or a model's folder."""
    try:
        if (path / CONFIG).is_file():
            config = read_config(path)
            return {str(config.get("name") or path.name): float(str(config[_PERPLEXITY]))}
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row[_PERPLEXITY]]
        return {row["model"]: float(row[_PERPLEXITY]) for row in rows}
    except (OSError, KeyError, ValueError) as error:
        raise AnalysisError(
            f"the validation perplexity cannot be read ({why_unread(error)})",
            where=str(path),
            expected=f'a CSV table with the columns "model" and "{_PERPLEXITY}", or the folder of '
            "a model that was trained with a validation text",
        ) from error


def _keep_scored_models(
    perplexities: Mapping[str, float], decided: Mapping[str, object], sources: Sequence[Path]
) -> dict[str, float]:
    kept_perplexities = {name: value for name, value in perplexities.items() if name in decided}
    if not kept_perplexities:
        raise AnalysisError(
            f"the perplexities are of {', '.join(perplexities) or 'no model'}, the scores of "
            f"{', '.join(decided)}",
            where=", ".join(map(str, sources)),
            expected="the same names of models in both",
        )
    return kept_perplexities


def _describe_origin(scores: Sequence[Scores], metric: str) -> Iterator[str]:
    yield f"Metric of the models: {describe_metric(metric)}."
    for model_scores in scores:
        facts = model_scores.facts
        yield (
            f"Model {facts.model}: trained on {facts.trained_on.rstrip('.')}; given "
            f"{facts.given}; materials {facts.materials_hash[:12]}; code {facts.code_version}."
        )
    yield f"Code: {code_version()}."


def _read_human_judgments(people: Path, items: str) -> ExportedRun:
    if people.is_dir():
        return load_run(people)
    # An installation may lack the readers of other programs' data.
    from analysis.readers.judgments import read_judgments

    return read_judgments(people, Path(items) if is_materials(items) else None, None)


def _write_tables(out: Path, tables: Sequence[Table], drawn: Sequence[Table]) -> None:
    names = {f"{table.name}{suffix}" for table in tables for suffix in TABLE_FORMATS}
    # Remove figures of an earlier call that this call does not draw.
    names |= {f"{table.name}.{suffix}" for table in tables for suffix in FIGURE_FORMATS}
    with atomic_folder(out, names) as folder:
        for table in tables:
            save_table(table, folder)
        for table in drawn:
            save_figure(draw_accuracy_by_feature(table, (PEOPLE, SIMULATED)), folder, table.name)
    click.echo(f"Tables{' and figures' if drawn else ''}: {out}")


CHANCE = 50
_PANEL_INCHES = 2.2
_ROW_INCHES = 0.22
_SIDE_BY_SIDE = 2
_ACCURACY, _WIDE = "accuracy (%)", (-3, 103)
_LINES = ("-", "--", "-.", ":")


def draw_accuracy_by_feature(table: Table, people: Collection[str] = ()) -> Figure:
    """Draw accuracies in per cent, one panel per condition, with deviations over models.

    Numeric values are on the horizontal axis, joined by lines; names are in rows.

    Args:
        table: A table from ``analysis.findings.models.accuracy_by``.
        people: The groups of human participants.
    """
    conditions = [column.key for column in table.columns if column.form == "spread"]
    frame = table.frame
    labels = list(dict.fromkeys(frame["label"]))
    ordered = all(label.isdecimal() for label in labels)
    labels = sorted(labels, key=int) if ordered else labels
    height = _PANEL_INCHES if ordered else 0.6 + _ROW_INCHES * len(labels)
    width = PAGE_INCHES * min(len(conditions), _SIDE_BY_SIDE) / _SIDE_BY_SIDE
    with mpl.rc_context(STYLE):
        figure = new_figure(width, height + 0.3)
        panels = figure.subplots(1, len(conditions), squeeze=False, sharey=True)[0]
        for axes, condition in zip(panels, conditions, strict=True):
            (_set_up_ordered_axis if ordered else _set_up_row_axis)(axes, labels, frame, condition)
            _draw_groups(axes, _add_positions(frame, labels), condition, people, ordered=ordered)
            axes.set_title(condition, loc="left")
            hide_unlabelled_axes(axes)
        if ordered:
            panels[0].set_ylabel(_ACCURACY)
        for axes in panels:
            axes.set_xlabel(_format_name(table.name.removeprefix("by_")) if ordered else _ACCURACY)
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=4, frameon=False)
    return figure


def _format_name(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _add_positions(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    return frame.assign(place=frame["label"].map({label: n for n, label in enumerate(labels)}))


def _set_up_ordered_axis(
    axes: Axes, labels: list[str], frame: pd.DataFrame, condition: str
) -> None:
    n_items = frame.groupby("label")[f"{condition}_n"].max()
    ticks = [
        f"{label}\nn = {n_items[label]:,.0f}" if n_items[label] > 0 else label for label in labels
    ]
    axes.set_xticks(range(len(labels)), ticks)
    axes.axhline(CHANCE, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)
    axes.grid(axis="y", color=GUIDE, linewidth=0.5)
    axes.set_ylim(_WIDE)


def _set_up_row_axis(axes: Axes, labels: list[str], _: pd.DataFrame, __: str) -> None:
    axes.set_yticks(range(len(labels)), [_format_name(label) for label in labels])
    axes.set_xlim(_WIDE)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.hlines(range(len(labels)), 0, 100, color=GUIDE, linewidth=0.5, zorder=0)
    axes.axvline(CHANCE, color=TEXT, linewidth=0.7, linestyle=(0, (3, 3)), zorder=1)


def _draw_groups(
    axes: Axes, frame: pd.DataFrame, condition: str, people: Collection[str], *, ordered: bool
) -> None:
    groups = [str(heading) for heading in dict.fromkeys(frame["group"])]
    # Lines and deviations that would overlap are drawn side by side.
    shifts = np.linspace(-1, 1, len(groups)) * (0.08 if ordered else 0.22) if groups[1:] else [0.0]
    models = 0
    for group, shift in zip(groups, shifts, strict=True):
        rows = frame[(frame["group"] == group) & frame[condition].notna()].sort_values("place")
        colour, marker, line = PEOPLE_COLOUR, "o", "-"
        if group not in people:
            colour, marker = MODELS[models % len(MODELS)]
            line = _LINES[models % len(_LINES)]
            models += 1
        value, spread = 100 * rows[condition], 100 * rows[f"{condition}_sd"].fillna(0)
        place = rows["place"] + shift
        at = {"x": place, "y": value, "yerr": spread}
        if not ordered:
            at, line = {"x": value, "y": place, "xerr": spread}, "none"
        axes.errorbar(**at, fmt=marker, linestyle=line, color=colour, markersize=4, linewidth=1,
                      elinewidth=0.8, markeredgewidth=0, label=group)  # fmt: skip
