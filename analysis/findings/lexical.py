"""Accuracy by lexical choice: the words on which participants and models make errors.

The slots are not specific to a study: an item's ``frame`` names them (``SLOT=lemma ...``), its
``features`` the rest (``name=value ...``), and the two versions show the words that differ.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import log10
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

from analysis.data.join import Joined
from analysis.data.own_columns import make_items
from analysis.errors import AnalysisError
from analysis.findings.finding import Context, Finding, Findings
from analysis.statistics.accuracy import overlapping_accuracy
from analysis.tables.accuracy_table import Column, Table
from analysis.tables.section import Section
from experiment.errors import why_unread
from experiment.materials.read import load_items
from experiment.records import Item
from experiment.studies.study import Study

Codes = NDArray[np.intp]

CRITICAL, FEATURE = "words that differ", "feature"
# A factor with a different value for each item is not informative.
_MOST_VALUES = 60


@dataclass(frozen=True, slots=True)
class LexicalChoices:
    """The lexical choices of items, as numbers, since there may be many items.

    Attributes:
        item_ids: The items.
        pairs: The distinct choices, as (factor, value); a factor is the differing words, a slot or
            a feature.
        item: Shape ``(n,)``: the index of an item in ``item_ids``.
        pair: Shape ``(n,)``: the index of one of that item's choices in ``pairs``.
    """

    item_ids: list[str]
    pairs: list[tuple[str, str]]
    item: Codes
    pair: Codes


def lexical_choices(items: Iterable[Item]) -> LexicalChoices:
    """Return the items' lexical choices, without those that never, or hardly ever, vary.

    Args:
        items: The items; iterated once.
    """
    numbers: dict[tuple[str, str], int] = {}
    item_ids, critical = [], []
    frames, features = _NamedChoices("slot", numbers), _NamedChoices(FEATURE, numbers)
    for item in items:
        item_ids.append(item.item_id)
        words = " / ".join(critical_words(item.good, getattr(item, item.contrast)))
        critical.append(numbers.setdefault((CRITICAL, words), len(numbers)))
        frames.add(item.frame)
        features.add(item.features)
    owners, chosen = zip(
        (np.arange(len(item_ids)), np.array(critical, np.intp)),
        frames.of_items(),
        features.of_items(),
        strict=True,
    )
    owner, pair = np.concatenate(owners), np.concatenate(chosen)
    values = Counter(factor for factor, _ in numbers)
    telling = np.array([1 < values[factor] <= _MOST_VALUES for factor, _ in numbers], bool)
    keep = telling[pair]
    return LexicalChoices(item_ids, list(numbers), owner[keep], pair[keep])


class _NamedChoices:
    """The names in items' frames or features; each distinct text is parsed only once."""

    def __init__(self, kind: str, numbers: dict[tuple[str, str], int]) -> None:
        self._kind, self._numbers = kind, numbers
        self._known: dict[str, int] = {}
        self._named: list[list[int]] = []
        self._of_item: list[int] = []

    def add(self, text: str) -> None:
        """Add the next item's text, ``name=value`` pairs joined by spaces."""
        if (index := self._known.get(text)) is None:
            index = self._known[text] = len(self._named)
            self._named.append([self._number_choice(*pair.partition("=")) for pair in text.split()])
        self._of_item.append(index)

    def _number_choice(self, name: str, _: str, value: str) -> int:
        choice = f"{self._kind} {name}", value.replace("_", " ")
        return self._numbers.setdefault(choice, len(self._numbers))

    def of_items(self) -> tuple[Codes, Codes]:
        """Return each pair of an item's index and one of its choices, as two arrays."""
        of_item = np.array(self._of_item, np.intp)
        sizes = np.array([len(choices_of_text) for choices_of_text in self._named], np.intp)
        flat = np.array(
            [number for choices_of_text in self._named for number in choices_of_text], np.intp
        )
        n = sizes[of_item]
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        starts = (np.cumsum(sizes) - sizes)[of_item]
        return np.repeat(np.arange(len(of_item)), n), flat[np.repeat(starts, n) + within]


def critical_words(good: str, bad: str) -> tuple[str, str]:
    """Return the first differing word of each version; "" if a version has ended."""
    for pair in zip_longest(good.split(), bad.split(), fillvalue=""):
        if pair[0] != pair[1]:
            return pair
    return "", ""


def count_corpus_words(path: Path, on_line: Callable[[], object] = lambda: None) -> Counter[str]:
    """Count the words of a text, in lower case, split at white space.

    Args:
        path: The text, one sentence per line.
        on_line: Called after each line, to show progress.

    Raises:
        AnalysisError: The text cannot be read.
    """
    counts: Counter[str] = Counter()
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                counts.update(line.lower().split())
                on_line()
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(
            f"the corpus cannot be read ({why_unread(error)})",
            where=str(path),
            expected="UTF-8 text, one tokenised sentence per line",
        ) from error
    return counts


def lexical_findings(
    data: Joined, context: Context, corpus: Mapping[str, int] | None = None
) -> Findings:
    """Return accuracy by lexical choice, of participants and models: two tables.

    Lexical choices are the words in which the versions differ, and every slot and feature; there
    are none if the items name no lexical choice. Models count on every scored item.

    Args:
        data: Judgments and decisions on every item scored.
        context: The study and the origin of the numbers.
        corpus: The words' frequencies in the models' training text, if known.
    """
    chosen = lexical_choices(_scored_items(context.study, data))
    frame = _people_accuracy(data.judgments, chosen)
    if frame.empty:
        return Findings()
    for model, decisions in data.decisions.items():
        frame = frame.join(_model_accuracy(chosen, decisions, model), on="pair")
    frame = _order_by_difficulty(frame)
    of_models = " Models: all items of their score files." if data.decisions else ""
    notes = [f"Intervals: 95%, two-way clustered.{of_models}"]
    if corpus is not None:
        is_feature = frame["group"].str.startswith(f"{FEATURE} ")
        frequency = frame["label"].map(lambda words: _compute_log_frequency(words, corpus))
        frame["frequency"] = frequency.mask(is_feature)
        notes.append(_frequency_note(corpus))
        notes += _rank_correlations(frame, ["people", *data.decisions])
    frame = frame.drop(columns="pair")
    return Findings(tuple(_make_tables(frame, list(data.decisions), notes, context)))


def _scored_items(study: Study, data: Joined) -> list[Item]:
    """Return the study's items if they include the run's and a model scored more, or the run's."""
    n_most = max((len(frame) for frame in data.decisions.values()), default=0)
    if n_most > len(data.items) and study.grammar_path.is_file():
        generated = list(load_items(study))
        if set(data.items["item_id"]) <= {item.item_id for item in generated}:
            return generated
    return list(make_items(data.items))


def _make_tables(
    frame: pd.DataFrame, models: Sequence[str], notes: Sequence[str], context: Context
) -> Iterator[Table]:
    columns = [
        Column("label", "", "text"),
        Column("people", "accuracy", "estimate", spanner="People"),
        Column("n_judgments", "n", "count", spanner="People"),
        *(Column(model, model, spanner="Models") for model in models),
    ]
    if "frequency" in frame:
        columns.append(Column("frequency", "log10 per million", "signed", spanner="Corpus"))
    differing = frame["group"] == CRITICAL
    for name, title, grouping, rows, section in (
        ("words", "Words", "the words that differ (expected / other)", differing, Section.WORDS),
        (
            "slots",
            "Slots and features",
            "every other choice of words",
            ~differing,
            Section.SUPPLEMENT,
        ),
    ):
        if rows.any():
            caption = f"Accuracy by {grouping}."
            yield context.table(name, title, caption, frame[rows], columns, notes, section)


def _people_accuracy(judgments: pd.DataFrame, chosen: LexicalChoices) -> pd.DataFrame:
    """Return participants' accuracy by pair, with the pair's factor as ``group`` and ``label``."""
    judged_items = pd.Index(judgments["item_id"].unique().tolist())
    item = judged_items.get_indexer(chosen.item_ids)[chosen.item]
    is_known = item >= 0
    if not is_known.any():
        return pd.DataFrame()
    estimates = overlapping_accuracy(judgments, item[is_known], chosen.pair[is_known])
    return pd.DataFrame(
        {
            "pair": estimates["group"],
            "group": [chosen.pairs[group][0] for group in estimates["group"]],
            "label": [chosen.pairs[group][1] for group in estimates["group"]],
            "people": estimates["accuracy"],
            "people_low": estimates["low"],
            "people_high": estimates["high"],
            "n_judgments": estimates["n_judgments"],
            "n_items": estimates["n_items"],
        }
    )


def _model_accuracy(chosen: LexicalChoices, decisions: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return a model's accuracy and number of items, by pair."""
    right = pd.Series(decisions["correct"].to_numpy(float), index=decisions["item_id"].tolist())
    is_right = right.reindex(chosen.item_ids).to_numpy()[chosen.item]
    is_scored = ~np.isnan(is_right)
    pair, n = chosen.pair[is_scored], len(chosen.pairs)
    counts = np.bincount(pair, minlength=n)
    correct = np.bincount(pair, is_right[is_scored], n)
    met = np.flatnonzero(counts)
    columns = {model: correct[met] / counts[met], f"{model}_items": counts[met]}
    return pd.DataFrame(columns, index=met)


def _order_by_difficulty(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows by factor in the order of the items, the most difficult first."""
    order = {name: position for position, name in enumerate(frame["group"].unique())}
    ordered = frame.assign(place=frame["group"].map(order))
    ordered = ordered.sort_values(["place", "people", "label"], ignore_index=True)
    return ordered.drop(columns="place")


def _compute_log_frequency(value: str, corpus: Mapping[str, int]) -> float:
    """Return log10 of the rarest word's add-one frequency per million (never minus infinity).

    For the two versions' words, the expected version's word is used.
    """
    words = value.split(" / ")[0].lower().split()
    total = sum(corpus.values())
    if not words or not total:
        return np.nan
    return log10((min(corpus.get(word, 0) for word in words) + 1) / (total + 1) * 1e6)


def _frequency_note(corpus: Mapping[str, int]) -> str:
    return (
        f"Frequency: log10 of occurrences per million in a text of {sum(corpus.values()):,} words, "
        "with one added to each count; the rarest of several words; the expected one of two words "
        "that differ."
    )


def _rank_correlations(frame: pd.DataFrame, judges: Sequence[str]) -> Iterator[str]:
    differing = frame[frame["group"] == CRITICAL]
    for judge in judges:
        pairs = differing[[judge, "frequency"]].dropna()
        if len(pairs) > 2 and pairs.nunique().min() > 1:
            rho = spearmanr(pairs[judge], pairs["frequency"]).statistic
            yield (
                f"Spearman's rho of accuracy with frequency over the words that differ, "
                f"{judge}: {rho:+z.2f} ({len(pairs)} pairs)."
            )


LEXICAL = Finding(
    "lexical",
    Section.WORDS,
    lambda inputs: lexical_findings(inputs.data, inputs.context, inputs.options.corpus),
    slow=True,
)
