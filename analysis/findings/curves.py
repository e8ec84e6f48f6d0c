"""Word-by-word log-probabilities of two versions of a sentence, aligned by slot.

A curve is averaged over the items of a condition. Words that fill one slot of the items' frames
(such as "security guard" or "is tall") share one position, and their log-probabilities are added; a
word that all items share has its own position.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.data.load import Scores
from analysis.errors import AnalysisError
from analysis.figures.drawing import (
    FONT_POINTS,
    GUIDE,
    MODELS,
    PAGE_INCHES,
    PEOPLE,
    STYLE,
    Drawing,
    hide_unlabelled_axes,
    new_figure,
)
from analysis.findings.finding import Finding, FindingInputs, Findings, Need, titles_of
from analysis.tables.section import Section
from experiment.materials.render import render
from experiment.records import Variant

_PANEL_INCHES = 1.9
_SIDE_BY_SIDE = 2
_LONGEST_LABEL = 22
_OTHER = MODELS[0][0]


def curves_figure(curve_rows: pd.DataFrame) -> Figure:
    """Draw one model's curves for the good and the other version of one construction.

    Args:
        curve_rows: Rows of ``curves`` for one model and one construction.
    """
    conditions = list(curve_rows.groupby("condition", sort=False))
    columns = min(_SIDE_BY_SIDE, len(conditions))
    rows = ceil(len(conditions) / columns)
    with mpl.rc_context(STYLE):
        figure = new_figure(PAGE_INCHES * columns / _SIDE_BY_SIDE, 0.35 + _PANEL_INCHES * rows)
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for axes, (condition, places) in zip(panels, conditions, strict=False):
            _draw(axes, str(condition), places)
        for axes in panels[len(conditions) :]:
            axes.set_axis_off()
        figure.supylabel("log-probability (nats)", fontsize=FONT_POINTS)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2,
                      frameon=False)  # fmt: skip
    return figure


def _draw(axes: Axes, condition: str, places: pd.DataFrame) -> None:
    at = np.arange(len(places))
    differs = np.flatnonzero(places["label"].str.contains(" / ", regex=False))
    if len(differs):
        axes.axvspan(differs[0] - 0.5, differs[0] + 0.5, color=GUIDE, alpha=0.5, linewidth=0)
    axes.plot(at, places["good_nats"], "o-", color=PEOPLE, markersize=3, linewidth=1, label="good")
    axes.plot(
        at, places["other_nats"], "D--", color=_OTHER, markersize=2.6, linewidth=1, label="other"
    )
    axes.set_xticks(at, [_shorten(label) for label in places["label"]], rotation=40, ha="right",
                    rotation_mode="anchor")  # fmt: skip
    axes.set_title(f"{condition} (n = {places['n_items'].iloc[0]})", loc="left")
    hide_unlabelled_axes(axes)


def _shorten(label: str) -> str:
    label = label.removeprefix("e.g. ")
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}\u2026"


# The number of initial letters that a word form shares with its slot's lemma ("like", "likes").
_STEM_LETTERS = 3
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Region:
    """A slot of the frame with the words that fill it, or a single word outside slots.

    Attributes:
        slot: The slot's name; empty for a single word.
        words: The words of the good version and of the other one.
        start: The first token.
        end: The index after the last token.
    """

    slot: str
    words: str
    start: int
    end: int


def regions(tokens: Sequence[str], frame: str) -> list[Region]:
    """Divide a version's words into positions: the words of one slot, or a single word.

    Args:
        tokens: The words as the model gets them.
        frame: The item's lexical choices, ``SLOT=lemma ...``; several words of a lemma are joined
            by ``_``. A word belongs to the first unused slot whose lemma has the same beginning.
    """
    slots = [pair.partition("=")[::2] for pair in frame.split()]
    unused_slots = {name: lemma.lower().split("_") for name, lemma in slots}
    divided: list[Region] = []
    at = 0
    while at < len(tokens):
        name, length = _find_slot(tokens[at:], unused_slots)
        unused_slots.pop(name, None)
        divided.append(Region(name, " ".join(tokens[at : at + length]), at, at + length))
        at += length
    return divided


def _find_slot(tokens: Sequence[str], unused_slots: Mapping[str, Sequence[str]]) -> tuple[str, int]:
    for name, lemma in unused_slots.items():
        fits = all(map(_have_same_stem, tokens, lemma)) and len(lemma) <= len(tokens)
        if fits:
            return name, len(lemma)
    return "", 1


def _have_same_stem(word: str, lemma: str) -> bool:
    # The forms of the verb "to be" share no initial letters.
    being = {"is", "are", "be", "been"}
    return word == lemma or word[:_STEM_LETTERS] == lemma[:_STEM_LETTERS] or {word, lemma} <= being


def curves(
    scores: Scores, items: pd.DataFrame, item_ids: Iterable[str] | None = None
) -> pd.DataFrame:
    """Return log-probabilities by position, averaged over the items of each condition.

    Items of one condition with different numbers of positions or different slots are averaged
    separately; the largest such set represents the condition.

    Args:
        scores: A word-level model's scores.
        items: The items table.
        item_ids: The ids of the items to average over; all scored items by default.

    Returns:
        ``construction``, ``condition``, ``model``, ``place`` (from 0), ``label``, ``good_nats``,
        ``other_nats``, ``n_items`` (averaged over), ``n_of`` (in the condition).

    Raises:
        AnalysisError: The model's tokens are not the items' words, or an item was not scored.
    """
    ids = set(items["item_id"] if item_ids is None else item_ids)
    chosen = items[items["item_id"].isin(ids)]
    tokens = _read_token_logprobs(scores, ids)
    render_text = render(scores.facts.rendering)
    rows = [
        row
        for item in chosen.to_dict("records")
        for row in _make_position_rows(item, tokens, render_text)
    ]
    if not rows:
        raise AnalysisError(
            "the run has no item to draw with these ids: "
            f"{', '.join(sorted(ids)[:_SHOWN]) or 'none was named'}",
            where=str(scores.path),
            expected="the item_id of an item of the run",
        )
    return _average_items(pd.DataFrame(rows)).assign(model=scores.facts.model)


def _read_token_logprobs(scores: Scores, ids: set[str]) -> dict[tuple[str, str], list[float]]:
    columns = ["item_id", "variant", "token_logprobs_nats"]
    table = pq.read_table(scores.path, columns=columns, filters=[("item_id", "in", ids)])
    names = zip(table["item_id"].to_pylist(), table["variant"].to_pylist(), strict=True)
    return dict(zip(names, table["token_logprobs_nats"].to_pylist(), strict=True))


def _make_position_rows(
    item: Mapping[Hashable, str],
    tokens: Mapping[tuple[str, str], list[float]],
    render_text: Callable[[str], str],
) -> list[dict[str, object]]:
    """Return the positions of an item, each with both versions' log-probabilities in nats."""
    sides = []
    for variant in (Variant.GOOD.value, item["contrast"]):
        text = f"{item['context']} {item[variant]}".strip()
        words, logprobs = render_text(text).split(), tokens.get((item["item_id"], variant), [])
        if len(words) != len(logprobs):
            raise AnalysisError(
                f"the {variant} version of the item {item['item_id']} has {len(words)} words and "
                f"{len(logprobs)} scored tokens",
                expected="a word-level model's scores of these items",
                remedy="Leave out --curves for models whose tokens are parts of words",
            )
        cut = regions(words, item["frame"])
        sides.append([(region, sum(logprobs[region.start : region.end])) for region in cut])
    good, bad = sides
    signature = " ".join(region.slot or "." for region, _ in good)
    return [
        {
            "item_id": item["item_id"],
            "construction": item["construction"],
            "condition": item["condition"],
            "signature": f"{signature} {len(bad)}",
            "place": position,
            "slot": region.slot,
            "words": region.words
            if region.words == other_region.words
            else f"{region.words} / {other_region.words}",
            "good_nats": of_good,
            "other_nats": of_other,
        }
        for position, ((region, of_good), (other_region, of_other)) in enumerate(
            zip(good, bad, strict=False)
        )
    ]


def _average_items(rows: pd.DataFrame) -> pd.DataFrame:
    cells = ["construction", "condition"]
    sizes = rows.groupby([*cells, "signature"], sort=False)["item_id"].nunique().reset_index()
    sizes = sizes.rename(columns={"item_id": "n_items"})
    sizes["n_of"] = sizes.groupby(cells)["n_items"].transform("sum")
    largest = sizes.loc[sizes.groupby(cells, sort=False)["n_items"].idxmax()]
    means = (
        rows.merge(largest, on=[*cells, "signature"])
        .groupby([*cells, "place", "n_items", "n_of"], sort=False)
        .agg(
            label=("words", _choose_label),
            slot=("slot", "first"),
            good_nats=("good_nats", "mean"),
            other_nats=("other_nats", "mean"),
        )
        .reset_index()
    )
    means["label"] = means["label"].where(means["label"] != "", means["slot"])
    return means.drop(columns="slot")


def _choose_label(words: "pd.Series[str]") -> str:
    """Return the word that all items share, else the most frequent word after "e.g."."""
    [(word, count)] = Counter(words).most_common(1)
    return word if count == len(words) else f"e.g. {word}"


def _run(inputs: FindingInputs) -> Findings:
    options, frames = inputs.options, []
    for model_scores in inputs.as_read:
        for item in options.curve_items:
            item_curves = curves(model_scores, inputs.data.items, [item])
            frames.append(
                item_curves.assign(condition=f"{item_curves['condition'].iloc[0]}, {item}")
            )
        if not options.curve_items:
            frames.append(curves(model_scores, inputs.data.items, inputs.data.judgments["item_id"]))
    rows = pd.concat(frames)
    titles = titles_of(inputs.run.study)
    return Findings(statistics={"curves": rows}, drawings=tuple(_make_drawings(rows, titles)))


def _make_drawings(curve_rows: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Drawing]:
    """Yield a figure for each construction and model."""
    has_several_models = curve_rows["model"].nunique() > 1
    for (model, construction), rows in curve_rows.groupby(["model", "construction"], sort=False):
        name = str(construction)
        model_words = f" under {model}" if has_several_models else ""
        yield Drawing(
            _file_name(f"curves_{name}_{model}" if has_several_models else f"curves_{name}"),
            f"Word by word: {titles.get(name, name)}{model_words}",
            "Log-probability of each word of the expected version (good) and of the other, given "
            f"the words before it, by {model}; averaged over n judged items of each condition. The "
            "words of one slot are added up; labels are examples. The first differing words are "
            "shaded.",
            Section.CURVES,
            partial(curves_figure, rows),
        )


def _file_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in text)


CURVES = Finding("curves", Section.CURVES, _run, needs=(Need.MODELS, Need.ITEM_CURVES))
