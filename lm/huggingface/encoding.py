"""Texts as rows of token numbers for Hugging Face models, and the positions to read scores at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import regex as re
from numpy.typing import NDArray

from lm.errors import LmError
from lm.surprisal import PLL


@dataclass(frozen=True, slots=True)
class Row:
    """One input of a model, and the predictions to read from its output.

    Attributes:
        ids: The token numbers that the model reads.
        places: The indices in ``ids`` at which predictions are read.
        wanted: The token whose probability is read at each of these indices.
    """

    ids: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[int, ...]


def count_context_tokens(window: int) -> int:
    """Return the least number of tokens before a scored token in a later window."""
    return window // 2 - 1


def windows(row: Row, window: int, first: int) -> Iterator[Row]:
    """Yield a causal row in windows that each fit the model; together they predict the same tokens.

    Args:
        row: The row; its places are consecutive up to its end.
        window: The most tokens that the model reads, including the last predicted one.
        first: The first token of each window.
    """
    longest = window - 1
    places, wanted, end = row.places, row.wanted, min(longest, len(row.ids))
    while places:
        start = end - min(longest, end)
        n = sum(index < end for index in places)
        if n:
            ids = (first, *row.ids[start + 1 : end])
            yield Row(ids, tuple(index - start for index in places[:n]), wanted[:n])
        places, wanted = places[n:], wanted[n:]
        end = min(end + longest - count_context_tokens(window), len(row.ids))


# Letters with their combining marks, numbers, and connectors such as "_".
_WORD = re.compile(r"[\p{L}\p{M}\p{N}\p{Pc}]+|[^\p{L}\p{M}\p{N}\p{Pc}\s]")
# Letters of scripts without spaces between words; the last is Japanese's long vowel mark.
_UNSPACED = re.compile(
    r"(?V1)[[\p{L}\p{M}\p{Nl}]&&"
    "[\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Thai}\\p{Lao}\\p{Myanmar}\\p{Khmer}\u30fc]]"
)

Word = tuple[int, int]


def words_of_tokens(
    text: str,
    offsets: Sequence[tuple[int, int]],
    own: Sequence[int | None],
    *,
    divides: bool,
) -> list[Word | None]:
    """Return the number of each token's word; tokens of one word have equal numbers.

    Args:
        text: The text.
        offsets: The start and end of each token in the text, in characters.
        own: The tokenizer's own word numbers; None for special tokens.
        divides: Whether the tokenizer splits text into words at spaces.
    """
    starts = _find_word_starts(text)
    word_of_token: list[Word | None] = []
    for (start, end), word in zip(offsets, own, strict=True):
        if word is None:
            word_of_token.append(None)
            continue
        # A token may start with the space before its word.
        while start < end and text[start].isspace():
            start += 1
        unspaced = start < len(text) and _UNSPACED.match(text[start])
        position = starts[start] if start < len(text) and (unspaced or not divides) else -1
        word_of_token.append((word if divides else 0, position))
    return word_of_token


def _find_word_starts(text: str) -> list[int]:
    """Return the start of each character's word; a character outside words is its own word."""
    starts = list(range(len(text)))
    for run in _WORD.finditer(text):
        begin = run.start()
        for position in range(run.start(), run.end()):
            if _UNSPACED.match(text[position]):
                begin = position + 1
            else:
                starts[position] = begin
    return starts


# The ways in which byte-pair, SentencePiece and other tokenizers write a space or a new line.
_SAMPLE_WORDS = "the cat"
_SPACE_MARKS = "\u0120\u2581\u010a "


class _Tokenized(Protocol):
    def __getitem__(self, key: str) -> Sequence[Any]: ...

    def word_ids(self) -> Sequence[int | None]: ...


class Tokenizer(Protocol):
    """The interface of a Hugging Face tokenizer that is used here."""

    is_fast: bool
    bos_token: str | None
    eos_token: str | None
    unk_token: str | None
    unk_token_id: int | None
    mask_token_id: int | None
    backend_tokenizer: Any

    def __len__(self) -> int:
        """Return the number of tokens in the vocabulary."""
        ...

    def __call__(self, text: str, **options: bool) -> _Tokenized:
        """Return the text's token numbers, offsets and special-token mask."""
        ...

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        """Return the tokens for numbers."""
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """Return the text of tokens."""
        ...

    def convert_tokens_to_ids(self, token: str) -> int | None:
        """Return the number of a token."""
        ...


@dataclass(frozen=True, slots=True)
class Encoded:
    """A context and its continuation, tokenised as one text.

    Attributes:
        ids: The token numbers, including special tokens at both ends of the text.
        scored: The indices of the continuation's tokens in ``ids``.
        words: The word number of each token in ``ids``; None for special tokens.
        ends: The character offset at which each of the continuation's tokens ends.
    """

    ids: tuple[int, ...]
    scored: tuple[int, ...]
    words: tuple[Word | None, ...]
    ends: tuple[int, ...]


class TextEncoder:
    """A model's tokenizer, with the properties of the model that encoding depends on.

    Attributes:
        window: The most tokens that the model reads, special tokens included.
        pll: The tokens hidden for a masked model's pseudo-log-likelihood: the scored one alone
            (``original``), or the rest of its word as well (``within_word_l2r``).
        beginning: The number of the token a causal model's texts start with; None for masked
            models, whose tokenizers put special tokens at both ends.

    Args:
        tokenizer: The tokenizer; it must report each token's position in the text.
        window: As above.
        masked: Whether the model is a masked one.
        name: The model's name, for messages.
        beginning: The token a causal model's texts start with; without it the tokenizer's
            ``bos_token``, else its ``eos_token``.
        n_words: The size of the model's vocabulary; by default the tokenizer's.
        slides: Whether a causal model reads longer texts in several windows.

    Raises:
        LmError: The tokenizer lacks a feature that scoring needs.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        window: int,
        masked: bool,
        name: str,
        beginning: str | None = None,
        n_words: int = 0,
        slides: bool = False,
    ) -> None:
        self._tokenizer, self._name, self.window = tokenizer, name, window
        self._n_words, self.slides = n_words or len(tokenizer), slides
        self.pll: PLL = "within_word_l2r"
        if not tokenizer.is_fast:
            raise LmError(
                f"the tokenizer of {name} does not report the positions of its tokens in the "
                "text. Give a model with a tokenizer.json."
            )
        self._hidden = tokenizer.mask_token_id if masked else None
        if masked and self._hidden is None:
            raise LmError(f"the tokenizer of {name} has no mask token, so nothing can be masked.")
        if self._hidden is not None and self._hidden >= self._n_words:
            raise LmError(
                f"the tokenizer of {name} gives its mask token the number {self._hidden}, and the "
                f"model has {self._n_words} tokens, numbered from 0. The token was added to the "
                "tokenizer and not to the model. Give the tokenizer of its training."
            )
        self._divides = len({*tokenizer(_SAMPLE_WORDS).word_ids()} - {None}) > 1
        self.beginning = None if masked else _find_start_token(tokenizer, beginning, name)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer itself."""
        return self._tokenizer

    def encode(self, context: str, continuation: str) -> Encoded:
        """Return the tokens of a context and its continuation, tokenised together.

        Raises:
            LmError: As ``score``.
        """
        context, continuation = (
            context.rstrip(),
            _strip_spaces(continuation, alone=not context.strip()),
        )
        text = f"{context} {continuation}" if context and continuation else context + continuation
        # A lone space at the start is a token that, without its space, ends where it begins.
        return self._encoded(text, len(context) if context else -1, begins=True)

    def encode_rendered(self, context: str, continuation: str, *, reserved: int = 0) -> Encoded:
        """Return the tokens of a text rendered by a chat template, directly followed by an answer.

        Args:
            context: The rendered text, including its beginning.
            continuation: The answer.
            reserved: The number of further tokens that must fit into the window.

        Raises:
            LmError: As ``score``.
        """
        return self._encoded(context + continuation, len(context), begins=False, reserved=reserved)

    def _encoded(self, text: str, border: int, *, begins: bool, reserved: int = 0) -> Encoded:
        encoding = self._tokenizer(
            text,
            add_special_tokens=self._hidden is not None,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        ids = list(encoding["input_ids"])
        words: list[Word | None] = [None] * len(ids)
        if self._hidden is not None:  # Words decide what is hidden together.
            words = words_of_tokens(
                text, encoding["offset_mapping"], encoding.word_ids(), divides=self._divides
            )
        scored: list[int] = []
        ends: list[int] = []
        for index, (start, end) in enumerate(encoding["offset_mapping"]):
            if end <= border or encoding["special_tokens_mask"][index]:
                continue
            if start < border:
                raise LmError(
                    f'{self._name}: the token "{text[start:end]}" lies across the border between '
                    f'the context "{text[:border]}" and "{text[border:].lstrip()}", so its '
                    "probability belongs to "
                    "neither. Move the border, or score whole texts."
                )
            scored.append(index)
            ends.append(end)
        if self.beginning is not None and begins:
            ids.insert(0, self.beginning)
            words.insert(0, None)
            scored = [index + 1 for index in scored]
        if beyond := [id_ for id_ in ids if id_ >= self._n_words]:
            [token] = self._tokenizer.convert_ids_to_tokens(beyond[:1])
            raise LmError(
                f'{self._name}: "{text[:80]}" has the tokenizer\'s token "{token}", but the model '
                f"knows {self._n_words:,} tokens only, and this is number {beyond[0]:,}. Leave it "
                "out of the text, or put the model's own tokenizer into its folder."
            )
        if len(ids) + reserved > self.window and not self.slides:
            raise LmError(
                f'{self._name} reads {self.window} tokens at most, but "{text[:80]}" has '
                f"{len(ids) + reserved}, special ones included. Shorten the text: nothing is cut "
                "off silently."
            )
        return Encoded(tuple(ids), tuple(scored), tuple(words), tuple(ends))

    def rows(self, encoded: Encoded) -> list[Row]:
        """Return the model inputs that score an encoded continuation."""
        if self._hidden is None:
            rows = _causal_rows(encoded)
            return [part for row in rows for part in windows(row, self.window, encoded.ids[0])]
        return _masked_rows(encoded, self._hidden, within_word=self.pll == "within_word_l2r")

    @property
    def slides_in_words(self) -> str:
        """A sentence on how texts longer than the window are read."""
        return (
            f"{self._name} reads {self.window:,} tokens at most. Of longer texts it reads several "
            f"windows, each from the token that texts begin with, and each token is scored after "
            f"at least {count_context_tokens(self.window):,} others or all that there are."
        )

    def word_starts(self) -> list[int]:
        """Return the tokens that start with the space before a word, and those that end a text.

        Empty if the tokenizer does not mark words in this way.
        """
        tokens = self._tokenizer.convert_ids_to_tokens(list(range(len(self._tokenizer))))
        marked_tokens = [n for n, token in enumerate(tokens) if token and token[0] in _SPACE_MARKS]
        ending = self._tokenizer.eos_token
        number = self._tokenizer.convert_tokens_to_ids(ending) if ending else None
        return (
            sorted({*marked_tokens, *([] if number is None else [number])}) if marked_tokens else []
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of some tokens, without the spaces around it."""
        return self._tokenizer.decode(list(ids)).strip()

    def tokens(self, encoded: Encoded) -> tuple[str, ...]:
        """Return the continuation's tokens as written in the model's vocabulary."""
        ids = [encoded.ids[index] for index in encoded.scored]
        return tuple(self._tokenizer.convert_ids_to_tokens(ids))

    def unknown(self, encoded: Encoded) -> NDArray[np.bool_]:
        """Return whether each token of the continuation is unknown, bool, shape ``(tokens,)``."""
        unknown = self._tokenizer.unk_token_id
        return np.array([encoded.ids[index] == unknown for index in encoded.scored], np.bool_)


def _strip_spaces(continuation: str, *, alone: bool) -> str:
    """Strip a continuation's white space; a text without context is kept as it is written.

    Some tokenizers treat the first word after a space as a word in the middle of a text.
    """
    text = continuation.strip()
    return continuation if alone and text else text


def _masked_rows(encoded: Encoded, hidden: int, *, within_word: bool) -> list[Row]:
    """Return one row per scored token, with the token hidden and, if set, the rest of its word."""
    rows = []
    for index in encoded.scored:
        word = encoded.words[index] if within_word else None
        ids = tuple(
            hidden if i == index or (i > index and other_word == word is not None) else id_
            for i, (id_, other_word) in enumerate(zip(encoded.ids, encoded.words, strict=True))
        )
        rows.append(Row(ids, (index,), (encoded.ids[index],)))
    return rows


def _causal_rows(encoded: Encoded) -> list[Row]:
    """Return the single row in which every scored token is predicted at the position before it."""
    if not encoded.scored:
        return []
    places = tuple(index - 1 for index in encoded.scored)
    return [Row(encoded.ids[:-1], places, tuple(encoded.ids[index] for index in encoded.scored))]


def _find_start_token(tokenizer: Tokenizer, chosen_token: str | None, name: str) -> int:
    token = chosen_token or tokenizer.bos_token or tokenizer.eos_token
    if token is None:
        raise LmError(
            f"{name} has neither a token for the beginning nor one for the end of a text, so the "
            'first word would have no probability. Name a token as "beginning" in the config.json '
            'of a folder with "type": "hf" and "model": the path of this model.'
        )
    number = tokenizer.convert_tokens_to_ids(token)
    if number is None or (number == tokenizer.unk_token_id and token != tokenizer.unk_token):
        raise LmError(f'{name} has no token "{token}" that its texts could begin with.')
    return number
