"""Check scores in each run: recompute a sample from the items' texts with independent code.

The check starts from the items and versions, and from the file that they were read from: a second
reader (``raw_texts.py``) finds each text there, with its white space. It renders each text itself,
scores the text with ``lm.independent``, which shares no code with the scorers, and compares the
result with the item's row in the score table. What needs no score is checked of all rows: their
order, their sums, and the tokens of their sentences.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from analysis.errors import AnalysisError
from analysis.scores.certify import EXACT_NATS, read_token_errors
from analysis.scores.check_sample import choose_rows, find_close_pairs, refuse_other_tokens
from analysis.scores.materials import Chunk, Floats, Ints, Sentences
from analysis.scores.raw_texts import RawTexts
from experiment.records import Item
from lm.independent import Recomputed, SplitFunction

# Per token. A score file stores tokens in 32 bits.
WORST_NATS = 1e-3
_SUM_NATS = 1e-6

_UNSPACED_NAMES = ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPHIC", "FULLWIDTH", "HALFWIDTH", "THAI",
                   "LAO", "KHMER", "MYANMAR", "TIBETAN")  # fmt: skip

RecomputeFunction = Callable[[list[str]], Recomputed]


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """The result of a check: the differences between a run's scores and recomputed scores.

    Attributes:
        worst_nats: The largest difference of a token's log-probability.
        n_rows: The number of rows of the score table that were computed again.
        n_scores: The number of all rows.
        n_close: The number of decisions within the claimed error; all were checked.
        n_otherwise: The number of these decisions that the check reverses.
        bounded: Whether the scores come from a fast pass, whose error bounds are subtracted.
        independent: Whether independent code recomputed the scores.
        n_in_file: The number of these rows whose text a second reader found in the file.
        n_split: The number of sentences whose tokens were compared with those of a second reading.
    """

    worst_nats: float
    n_rows: int
    n_scores: int
    n_close: int
    n_otherwise: int
    bounded: bool
    independent: bool
    n_in_file: int = 0
    n_split: int = 0

    def __str__(self) -> str:
        method = (
            "from their items' texts by a second implementation"
            if self.independent
            else "one by one from their items' texts, by the same code"
        )
        beyond = " beyond the bounds of the fast pass" if self.bounded else ""
        close = (
            f"; among them are {self.n_close:,} decisions closer than {EXACT_NATS:g} nats, of "
            f"which {self.n_otherwise:,} come out otherwise there"
            if self.n_close
            else ""
        )
        in_file = (
            f"; the texts of {self.n_in_file:,} stand in the file as the model read them"
            if self.n_in_file
            else ""
        )
        split = f"; the tokens of all {self.n_split:,} texts were compared" if self.n_split else ""
        return (
            f"{self.n_rows:,} of {self.n_scores:,} scores, spread evenly, extreme or closest, were "
            f"computed again {method}; their tokens differ by {self.worst_nats:.2g} nats at most"
            f"{beyond}{in_file}{split}{close}"
        )


def combine_checks(checks: Sequence[ScoreCheck]) -> str:
    """Return a sentence that combines several checks of one run; empty if there are none."""
    if not checks:
        return ""
    return str(
        ScoreCheck(
            max(check.worst_nats for check in checks),
            sum(check.n_rows for check in checks),
            sum(check.n_scores for check in checks),
            sum(check.n_close for check in checks),
            sum(check.n_otherwise for check in checks),
            checks[0].bounded,
            checks[0].independent,
            sum(check.n_in_file for check in checks),
            sum(check.n_split for check in checks),
        )
    )


def check_scores(
    items: Sequence[Item],
    sentences_: Sentences,
    scored: Sequence[Chunk],
    table: pa.Table,
    render: Callable[[str], str],
    recompute: RecomputeFunction,
    rng: np.random.Generator,
    raw_texts: RawTexts | None = None,
    split: SplitFunction | None = None,
) -> ScoreCheck | None:
    """Compare a score table with scores recomputed from its items' texts.

    ``choose_rows`` says which rows are recomputed.

    Args:
        items: The items.
        sentences_: Their sentences.
        scored: The sentences' scores, with error bounds if a fast pass computed them.
        table: The items' score table.
        render: Converts plain words to model input.
        recompute: Recomputes the scores of texts.
        rng: The source of randomness of the sample.
        raw_texts: The texts of the items' file, by a second reader; None without a file.
        split: Divides texts into tokens by code of its own; None if there is none.

    Returns:
        The result; None if there are no rows.

    Raises:
        AnalysisError: The rows do not match the items, a sum is not that of its tokens, a text
            has other white space than in its file or other tokens than its scores, or a token's
            difference exceeds ``WORST_NATS`` plus its error bound and what the type of the weights
            allows.
    """
    if not table.num_rows:
        return None
    further = sentences_.further
    _refuse_mismatched_rows(items, table, further)
    _refuse_mismatched_sums(table)
    n_split = refuse_other_tokens(sentences_, scored, split)
    pairs = find_close_pairs(table)
    rows = choose_rows(table, sentences_.texts, pairs, rng)
    texts, n_in_file = _texts_of_rows(items, table, rows, render, raw_texts, further)
    distinct_texts = list(dict.fromkeys(texts.values()))
    recomputed = recompute(distinct_texts)
    recomputed_by_text = dict(zip(distinct_texts, recomputed.logprobs_nats, strict=True))
    worst, limit = 0.0, WORST_NATS + recomputed.rounding_nats
    bounds, tokens = make_error_bounds(sentences_, scored), table["token_logprobs_nats"]
    for row, text in texts.items():
        row_scores, again = np.array(tokens[row].as_py(), np.float64), recomputed_by_text[text]
        worst = max(worst, _worst_difference(row_scores, again, bounds(row), text, limit))
    otherwise = _count_changed_decisions(
        table, pairs, {row: recomputed_by_text[texts[row]] for row in pairs.ravel().tolist()}
    )
    bounded = bounds(rows[0]) is not None
    return ScoreCheck(
        worst, len(rows), table.num_rows, len(pairs), otherwise, bounded, recomputed.independent,
        n_in_file, n_split,
    )  # fmt: skip


def _refuse_mismatched_rows(items: Sequence[Item], table: pa.Table, further: Sequence[str]) -> None:
    """Raise unless the rows are each version of each item, once, in the items' order."""
    expected_rows = [
        (item.item_id, version) for item in items for version in _options_of_item(item, further)
    ]
    actual_rows = list(zip(table["item_id"].to_pylist(), table["variant"].to_pylist(), strict=True))
    if expected_rows == actual_rows:
        return
    index = next(
        (
            n
            for n, (expected_row, actual_row) in enumerate(
                zip(expected_rows, actual_rows, strict=False)
            )
            if expected_row != actual_row
        ),
        min(len(expected_rows), len(actual_rows)),
    )
    actual = actual_rows[index] if index < len(actual_rows) else "nothing"
    raise AnalysisError(
        "the score table does not match the items",
        where=f"row {index + 1}: {actual}",
        expected=f"{expected_rows[index]}" if index < len(expected_rows) else "no further row",
        remedy="Score again; if that does not help, this is a fault of Parallax: please report it",
    )


def _refuse_mismatched_sums(table: pa.Table) -> None:
    """Raise if a row's log-probability or token count does not match its tokens."""
    lists = table["token_logprobs_nats"].combine_chunks()
    values = np.asarray(lists.flatten().to_numpy(), np.float64)
    lengths = np.asarray(lists.value_lengths().to_numpy(), np.int64)
    ends = np.cumsum(lengths)
    running = np.concatenate([[0.0], np.cumsum(values)])
    sums = running[ends] - running[ends - lengths]
    stated_sums = np.asarray(table["logprob_nats"].to_numpy(), np.float64)
    # Tokens are stored in 32 bits, the running sum in 64.
    allowed = _SUM_NATS * (1 + np.abs(stated_sums)) + 1e-12 * np.abs(running[-1])
    choice_at = table["choice_at"].fill_null(0).to_numpy()
    choice_sums = np.asarray(table["logprob_of_choice_nats"].to_numpy(), np.float64)
    differences = running[ends] - running[ends - lengths + choice_at] - choice_sums
    wrong = np.flatnonzero(
        ~(np.abs(sums - stated_sums) <= allowed)
        | (~np.isnan(choice_sums) & ~(np.abs(differences) <= allowed))
        | (lengths != np.asarray(table["n_tokens"].to_numpy()))
    )
    if len(wrong):
        row = int(wrong[0])
        raise AnalysisError(
            f"{len(wrong)} score(s) are not the sum of their tokens: {stated_sums[row]:.6g} "
            "nats, but "
            f"{lengths[row]} tokens together {sums[row]:.6g}",
            where=f"item {table['item_id'][row]}, {table['variant'][row]}",
            remedy="This is a fault of Parallax: please report it with the model's type",
        )


def _options_of_item(item: Item, further: Sequence[str]) -> dict[str, str]:
    options = {"good": item.good, "bad": item.bad, "distractor": item.distractor}
    own_columns = dict(item.extra)
    options |= {name: own_columns.get(name, "") for name in further}
    return {name: text for name, text in options.items() if text}


def _texts_of_rows(
    items: Sequence[Item],
    table: pa.Table,
    rows: Sequence[int],
    render: Callable[[str], str],
    raw_texts: RawTexts | None,
    further: Sequence[str],
) -> tuple[dict[int, str], int]:
    """Return the model input for each of the rows, and how many of them the raw file has.

    Texts are looked up by the row's item id.
    """
    items_by_id = {item.item_id: item for item in items}
    texts_by_row, n_in_file = {}, 0
    for row in rows:
        item = items_by_id[table["item_id"][row].as_py()]
        option = _options_of_item(item, further)[table["variant"][row].as_py()]
        # There is a space between context and option unless one of them has white space there, or
        # their script has none between words.
        border = item.context[-1:] + option[:1]
        is_joined = border != border.strip() or all(map(_is_of_unspaced_script, border))
        between = " " if item.context and not is_joined and len(border) == 2 else ""
        written = raw_texts.find_text(item, option) if raw_texts else None
        n_in_file += written is not None
        texts_by_row[row] = render(written or item.context + between + option)
    return texts_by_row, n_in_file


def _is_of_unspaced_script(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_UNSPACED_NAMES)


def _worst_difference(
    scores: Floats, recomputed: Floats, error: Floats | None, text: str, limit: float
) -> float:
    if len(scores) != len(recomputed):
        raise _recomputation_error(
            f"has {len(scores)} scored tokens and not {len(recomputed)}", text, limit
        )
    allowed = np.zeros(len(scores)) if error is None else error
    difference = float(np.max(np.abs(scores - recomputed) - allowed, initial=0.0))
    # This form of the comparison also refuses NaN differences.
    if not difference <= limit:
        number = int(np.nanargmax(np.abs(scores - recomputed) - allowed)) + 1
        raise _recomputation_error(
            f"has a score that is {difference:.2g} nats off at its token {number}, counted from "
            "the first one scored",
            text,
            limit,
        )
    return difference


def _recomputation_error(problem: str, text: str, limit: float) -> AnalysisError:
    return AnalysisError(
        f'the sentence "{text[:80]}" {problem}, when it is computed again from its item\'s text',
        expected=f"the same tokens, each at most {limit:g} nats off",
        remedy="Score with `--plain`, text by text, and report the model's type",
    )


def _count_changed_decisions(table: pa.Table, pairs: Ints, recomputed: Mapping[int, Floats]) -> int:
    sums = table["logprob_nats"]
    changed = 0
    for good, alternative in pairs.tolist():
        stated_sign = np.sign(sums[good].as_py() - sums[alternative].as_py())
        changed += bool(
            stated_sign != np.sign(math.fsum(recomputed[good]) - math.fsum(recomputed[alternative]))
        )
    return changed


def make_error_bounds(
    sentences_: Sentences, scored: Sequence[Chunk]
) -> Callable[[int], Floats | None]:
    """Return a function that gives a row's token error bounds, if a fast pass scored the row.

    Args:
        sentences_: The sentences.
        scored: Their scores; for a sentence in two chunks, the later scores apply.
    """
    if not any("errors_nats" in answers.column_names for _, answers in scored):
        return lambda _: None
    chunk_of_sentence: dict[int, tuple[int, int, int]] = {}
    errors = [read_token_errors(answers) for _, answers in scored]
    for chunk, (places, answers) in enumerate(scored):
        ends = np.cumsum(answers["logprobs_nats"].combine_chunks().value_lengths().to_numpy())
        starts = [0, *ends[:-1].tolist()]
        for index, start, end in zip(places, starts, ends.tolist(), strict=True):
            chunk_of_sentence[index] = (chunk, start, end)

    def bound(row: int) -> Floats:
        chunk, start, end = chunk_of_sentence[int(sentences_.of_row[row])]
        return errors[chunk][start:end]

    return bound
