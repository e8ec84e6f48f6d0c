"""Scoring every version of every item with a language model."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from more_itertools import longest_common_prefix
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from experiment.records import Item, Variant
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import SCORES
from lm.scorer import HasSubwords, Scorer, TokenScores
from lm.sharding import make_shards

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
# Some sentences' indices in ``Sentences.distinct``, and their scores in that order.
Chunk = tuple[Sequence[int], pa.Table]

_ANSWERS = ["tokens", "logprobs_nats", "unknown"]
_ITEM_COLUMNS = ("item_id", "construction", "condition", "contrast")
_NAMING_COLUMNS = (*_ITEM_COLUMNS, "variant")
_GOOD = Variant.GOOD.value


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences to score: each distinct sentence once, even if several items share it.

    Attributes:
        rows: One row per item and version: item_id, construction, condition, contrast, variant.
        distinct: The sentences as model input.
        of_row: int64, shape ``(rows,)``: each row's index in ``distinct``.
        against: int64, shape ``(rows,)``: the row that each row is compared with: the contrast for
            good (good itself if there is no contrast), and good for every other version.
        choice_from: int64, shape ``(rows,)``: the character at which the row's option follows its
            context; 0 without a context, -1 if the rendering does not show it.
        further: The items' own columns that hold further options.
        choice_at: int64, shape ``(rows,)``: the number of tokens before the option; -1 if unknown;
            None until ``add_choices`` counts them.
    """

    rows: pa.Table
    distinct: list[str]
    of_row: Ints
    against: Ints
    choice_from: Ints
    further: Sequence[str] = ()
    choice_at: Ints | None = None

    @property
    def texts(self) -> list[str]:
        """Each row's sentence."""
        return [self.distinct[place] for place in self.of_row.tolist()]


def collect_sentences(
    items: Iterable[Item],
    render: Callable[[str], str],
    further: Sequence[str] = (),
    *,
    repeated: bool = False,
    render_context: Callable[[str], str] | None = None,
) -> Sentences:
    """Collect the versions of the items, each as a whole rendered sentence.

    Args:
        items: The items; iterated once.
        render: Converts plain words to model input.
        further: The items' own columns that hold further options.
        repeated: Whether to keep repeated sentences, so that each row has its own.
        render_context: Renders a context alone, to find its end; by default ``render``.
    """
    place: dict[str | int, int] = {}
    texts: list[str] = []
    of_row: list[int] = []
    contrast_rows: list[int] = []
    choice_from: list[int] = []
    columns: dict[str, list[str]] = {name: [] for name in _NAMING_COLUMNS}
    for item in items:
        good = len(of_row)
        # A rated sentence may have no second version; then only one version is scored.
        versions = {_GOOD: item.good} | item.versions(further)
        contrast_index = list(versions).index(item.contrast) if item.contrast in versions else 0
        contrast_rows += [good + contrast_index, *[good] * (len(versions) - 1)]
        context = (render_context or render)(item.context) if item.context else ""
        for text in versions.values():
            text = render(item.after_context(text))
            choice_from.append(
                _find_end_of_context(text, context, item.context) if item.context else 0
            )
            of_row.append(place.setdefault(len(of_row) if repeated else text, len(place)))
            if len(place) > len(texts):
                texts.append(text)
        for name in _ITEM_COLUMNS:
            columns[name] += [getattr(item, name)] * len(versions)
        columns["variant"] += versions
    rows, compared_rows, starts = (
        np.array(numbers, np.int64) for numbers in (of_row, contrast_rows, choice_from)
    )
    return Sentences(pa.table(columns), texts, rows, compared_rows, starts, further)


def _find_end_of_context(text: str, rendered: str, context: str) -> int:
    """Return the length of a rendered text's beginning that is its context; -1 if unknown.

    A rendering may end the context alone with a full stop, which the whole text has elsewhere.
    """
    shared = "".join(longest_common_prefix((text, rendered))).rstrip()
    return len(shared) if _keep_letters(shared) == _keep_letters(context) else -1


def _keep_letters(text: str) -> list[str]:
    return re.findall(r"\w", text.casefold())


def add_choices(sentences_: Sentences, load: Callable[[], Scorer]) -> Sentences:
    """Return the sentences with the number of tokens before each choice.

    A token that lies across the border belongs to the choice.

    Args:
        sentences_: The sentences.
        load: Returns the model, which is needed only if a choice has a context.
    """
    choice_at = np.where(sentences_.choice_from == 0, 0, -1)
    if not (sentences_.choice_from > 0).any():
        return replace(sentences_, choice_at=choice_at)
    scorer = load()
    token_ends = scorer.token_ends if isinstance(scorer, HasSubwords) else _find_word_ends
    counts: dict[tuple[int, int], int] = {}
    for row in np.flatnonzero(sentences_.choice_from > 0).tolist():
        place = int(sentences_.of_row[row]), int(sentences_.choice_from[row])
        if place not in counts:
            counts[place] = _count_before(place[1], sentences_.distinct[place[0]], token_ends)
        choice_at[row] = counts[place]
    return replace(sentences_, choice_at=choice_at)


def _count_before(start: int, text: str, token_ends: Callable[[str], list[int]]) -> int:
    return sum(end <= start for end in token_ends(text))


def _find_word_ends(text: str) -> list[int]:
    return [word.end() for word in re.finditer(r"\S+", text)]


def make_token_table(sentences: Sequence[str], scored: Sequence[TokenScores]) -> pa.Table:
    """Return a model's answers as columns: tokens, logprobs_nats, unknown; one list per sentence.

    Answers with error bounds also have errors_nats.

    Args:
        sentences: The scored sentences.
        scored: The answers.

    Raises:
        AnalysisError: The model returned an invalid log-probability.
    """
    ends = np.cumsum([0, *(len(token_scores.tokens) for token_scores in scored)])
    offsets = pa.array(ends, pa.int32())
    logprobs = _concatenate([token_scores.logprobs_nats for token_scores in scored])
    # This form of the comparison also refuses NaN.
    impossible = np.flatnonzero(~(logprobs <= 0))
    if len(impossible):
        raise AnalysisError(
            "the model gave a token a score that is not a log-probability",
            where=f'the sentence "{sentences[np.searchsorted(ends, impossible[0], "right") - 1]}"',
            expected="a number that is at most 0",
        )
    values = {
        "tokens": pa.array(
            [token for token_scores in scored for token in token_scores.tokens], pa.string()
        ),
        "logprobs_nats": pa.array(logprobs, pa.float64()),
        "unknown": pa.array(
            _concatenate([token_scores.unknown for token_scores in scored]), pa.bool_()
        ),
    }
    errors = [
        token_scores.errors_nats for token_scores in scored if token_scores.errors_nats is not None
    ]
    if errors:
        values["errors_nats"] = pa.array(_concatenate(errors), pa.float64())
    return pa.table({k: pa.ListArray.from_arrays(offsets, v) for k, v in values.items()})


def _concatenate(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0)


def make_score_table(sentences_: Sentences, scored: Iterable[Chunk]) -> pa.Table:
    """Return the score table: each item's versions with the scores of their sentences.

    Args:
        sentences_: The sentences to score.
        scored: The scores of all its sentences; for a sentence in two chunks, the later scores
            apply.
    """
    chunks = list(scored)
    answers = pa.concat_tables(table.select(_ANSWERS) for _, table in chunks).combine_chunks()
    place_of = np.empty(len(sentences_.distinct), np.int64)
    place_of[np.concatenate([np.array(indices, np.int64) for indices, _ in chunks])] = np.arange(
        answers.num_rows
    )
    row_of = place_of[sentences_.of_row]
    tokens = _Tokens(answers)
    difference_at = tokens.first_difference(row_of, row_of[sentences_.against])
    row_answers = answers.take(row_of)
    columns = {name: sentences_.rows[name] for name in _NAMING_COLUMNS}
    columns |= {
        "logprob_nats": tokens.sums(row_of, np.zeros_like(row_of)),
        "n_tokens": tokens.lengths[row_of],
        "n_unknown": tokens.n_unknown[row_of],
        "token_logprobs_nats": row_answers["logprobs_nats"],
        "token_unknown": row_answers["unknown"],
        "difference_at": difference_at,
        "logprob_from_difference_nats": tokens.sums(row_of, difference_at),
    }
    columns |= _choice_columns(sentences_, tokens, row_of)
    return pa.table(columns).cast(arrow_schema(SCORES))


def _choice_columns(sentences_: Sentences, tokens: "_Tokens", row_of: Ints) -> dict[str, pa.Array]:
    counted = sentences_.choice_at
    choice_at = np.where(sentences_.choice_from == 0, 0, -1) if counted is None else counted
    is_known = (choice_at >= 0) & (choice_at < tokens.lengths[row_of])
    sums = tokens.sums(row_of, np.where(is_known, choice_at, 0))
    return {
        "choice_at": pa.array(choice_at, mask=~is_known),
        "logprob_of_choice_nats": pa.array(sums, mask=~is_known),
    }


class _Tokens:
    """The tokens of all answers, concatenated.

    Attributes:
        lengths: int64, shape ``(answers,)``.
        n_unknown: int64, shape ``(answers,)``.
    """

    def __init__(self, answers: pa.Table) -> None:
        column = {
            name: _flatten_column(answers, name) for name in ("tokens", "logprobs_nats", "unknown")
        }
        self.lengths = np.asarray(
            [] if not answers.num_rows else answers["tokens"].chunk(0).value_lengths(), np.int64
        )
        self._ends = np.cumsum(self.lengths)
        self._starts = self._ends - self.lengths
        self._numbers = column["tokens"].dictionary_encode().indices.to_numpy()
        self._logprobs_nats = column["logprobs_nats"].to_numpy()
        unknown = np.cumsum([0, *column["unknown"].to_numpy(zero_copy_only=False)])
        self.n_unknown = unknown[self._ends] - unknown[self._starts]

    def first_difference(self, rows: Ints, compared: Ints) -> Ints:
        """Return the number of tokens that each answer shares with another up to a difference."""
        lengths = self.lengths[rows]
        firsts = np.cumsum(lengths) - lengths
        position = np.arange(lengths.sum()) - np.repeat(firsts, lengths)
        own_places = np.repeat(self._starts[rows], lengths) + position
        inside = position < np.repeat(self.lengths[compared], lengths)
        compared_places = np.where(
            inside, np.repeat(self._starts[compared], lengths) + position, own_places
        )
        is_same = inside & (self._numbers[own_places] == self._numbers[compared_places])
        # Count the leading tokens of an answer up to the first difference.
        differences = np.concatenate(([0], np.cumsum(~is_same)))
        undisturbed = differences[1:] == np.repeat(differences[firsts], lengths)
        cumulative_counts = np.concatenate(([0], np.cumsum(undisturbed)))
        return np.asarray(cumulative_counts[firsts + lengths] - cumulative_counts[firsts], np.int64)

    def sums(self, rows: Ints, skipped: Ints) -> NDArray[np.float64]:
        """Return each answer's log-probability without its first tokens.

        Sums are rounded exactly, so that sentences of the same token scores tie in any order.
        """
        values = self._logprobs_nats.tolist()
        starts, ends = (self._starts[rows] + skipped).tolist(), self._ends[rows].tolist()
        return np.array(
            [math.fsum(values[start:end]) for start, end in zip(starts, ends, strict=True)]
        )


def _flatten_column(answers: pa.Table, name: str) -> pa.Array:
    return answers[name].combine_chunks().flatten()


def score_items(
    scorer: Scorer,
    items: Iterable[Item],
    render: Callable[[str], str],
    further: Sequence[str] = (),
) -> pa.Table:
    """Return the score table of the items: one row per item and version."""
    sentences_ = add_choices(collect_sentences(items, render, further), lambda: scorer)
    return make_score_table(
        sentences_,
        (_score_chunk(scorer, sentences_, indices) for indices in make_shards(sentences_.distinct)),
    )


def _score_chunk(scorer: Scorer, sentences_: Sentences, indices: Sequence[int]) -> Chunk:
    sentences = [sentences_.distinct[index] for index in indices]
    return indices, make_token_table(sentences, scorer.score([("", text) for text in sentences]))
