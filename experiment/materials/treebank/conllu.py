"""Reading of CoNLL-U treebanks, and grammatical number in their morphological features."""

import gzip
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO

from experiment.errors import MaterialsError, why_unread

ROOT = -1
_COLUMNS = 10
_SENT_ID, _NO_SPACE = "# sent_id", "SpaceAfter=No"

_Row = tuple[int, list[str]]


class Token(NamedTuple):
    """A written word with its annotation; a merged word has the annotation of its first part.

    Attributes:
        form: The word as written.
        lemma: The word's dictionary form.
        upos: The word's universal part of speech.
        xpos: The word's part of speech in the language's own set.
        feats: The word's features as ``Name=Value|Name=Value``; ``_`` if there are none.
        head: The index (from 0) of the head word; ``ROOT`` for the sentence's root.
        deprel: The name of the dependency relation.
        attached: The other parts merged into the word, lower case, joined by spaces.
        space_after: Whether a space follows the word.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str
    attached: str = ""
    space_after: bool = True


class Sentence(NamedTuple):
    """The words of a sentence.

    Attributes:
        tokens: The words.
        where: The location (``file:line``) where the sentence begins.
        sent_id: The treebank's own name of the sentence; empty if it has none.
    """

    tokens: tuple[Token, ...]
    where: str
    sent_id: str = ""


class _Range(NamedTuple):
    first: int
    last: int
    form: str
    space_after: bool


def read_treebank(paths: Iterable[Path], *, by_head: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U files (.conllu, or .conllu.gz), in order.

    Multiword tokens are merged into their written form (``della``, not ``di la``): one part
    provides the annotation, and words that depended on another part depend on the merged word.
    Empty nodes and comments are skipped.

    Args:
        paths: The files.
        by_head: Whether the annotation of a merged word is that of the part on which the others
            depend, instead of its first part's.

    Raises:
        MaterialsError: A file is missing, is not CoNLL-U, or holds no sentence; with file:line.
    """
    for path in paths:
        try:
            with _open_treebank(path) as file:
                yield from _read_sentences(file, path, by_head)
        except (OSError, UnicodeDecodeError, EOFError) as error:
            raise MaterialsError(
                f"the treebank cannot be read ({why_unread(error)})",
                where=str(path),
                expected="a CoNLL-U file in UTF-8, as it is or compressed as .gz",
            ) from error


def _open_treebank(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _read_sentences(file: TextIO, path: Path, by_head: bool) -> Iterator[Sentence]:
    rows: list[_Row] = []
    number, sent_id, has_sentence = 1, "", False
    for number, line in enumerate(file, start=1):
        line = line.rstrip("\r\n")
        if line and line[0] != "#":
            rows.append((number, _split_columns(line, f"{path}:{number}")))
        elif line.startswith(_SENT_ID):
            sent_id = line.partition("=")[2].strip()
        elif not line and rows:
            yield _make_sentence(rows, path, by_head)._replace(sent_id=sent_id)
            rows, sent_id, has_sentence = [], "", True
    if rows:
        yield _make_sentence(rows, path, by_head)._replace(sent_id=sent_id)
    elif not has_sentence:
        raise _make_format_error("the treebank has no sentences", f"{path}:{number}")


def _split_columns(line: str, location: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != _COLUMNS:
        raise _make_format_error(f"the word's line has {len(columns)} columns", location)
    return columns


def _make_sentence(rows: Sequence[_Row], path: Path, by_head: bool) -> Sentence:
    words: list[Token] = []
    ranges: list[_Range] = []
    for number, columns in rows:
        id_, form, lemma, upos, xpos, feats, head, deprel, _, misc = columns
        spaced = _NO_SPACE not in misc
        try:
            if "-" in id_:
                start, _, end = id_.partition("-")
                ranges.append(_Range(int(start) - 1, int(end) - 1, form, spaced))
            elif "." not in id_:
                if int(id_) != len(words) + 1:
                    raise ValueError(f"the word {id_} follows word {len(words)}")
                words.append(
                    Token(form, lemma, upos, xpos, feats, int(head) - 1, deprel, "", spaced)
                )
        except ValueError as error:
            raise _make_format_error(str(error), f"{path}:{number}") from error
    location = f"{path}:{rows[0][0]}"
    _check_heads(words, ranges, location)
    return Sentence(_merge_words(words, ranges, by_head) if ranges else tuple(words), location)


def _check_heads(words: Sequence[Token], ranges: Sequence[_Range], location: str) -> None:
    for word in words:
        if not ROOT <= word.head < len(words):
            raise _make_format_error(f'"{word.form}" has the head {word.head + 1}', location)
    ends = [-1, *(index for span in ranges for index in (span.first, span.last))]
    if ends != sorted(ends) or ends[-1] >= len(words):
        raise _make_format_error("the ranges of multiword tokens overlap or name no word", location)


def _merge_words(
    words: Sequence[Token], ranges: Sequence[_Range], by_head: bool
) -> tuple[Token, ...]:
    """Return the words with each range merged into one word."""
    owner = list(range(len(words)))
    for span in ranges:
        owner[span.first : span.last + 1] = [span.first] * (span.last + 1 - span.first)
    places: dict[int, int] = {}
    for first in owner:
        places.setdefault(first, len(places))
    spans = {span.first: span for span in ranges}
    merged = []
    for index in places:
        word, head = words[index], words[index].head
        if (merging := spans.get(index)) is not None:
            own = _find_part_with_outside_head(words, merging) if by_head else index
            parts = range(merging.first, merging.last + 1)
            attached = " ".join(words[part].form.lower() for part in parts if part != own)
            head = _find_outside_head(words, merging)
            word = words[own]._replace(
                form=merging.form, attached=attached, space_after=merging.space_after
            )
        merged.append(word._replace(head=ROOT if head == ROOT else places[owner[head]]))
    return tuple(merged)


def _find_part_with_outside_head(words: Sequence[Token], span: _Range) -> int:
    """Return the first part of a range whose head is not in the range; else the first part."""
    parts = range(span.first, span.last + 1)
    return next((part for part in parts if words[part].head not in parts), span.first)


def _find_outside_head(words: Sequence[Token], span: _Range) -> int:
    """Return the head of a range's first part, following heads until they leave the range."""
    head = words[span.first].head
    for _ in range(span.first, span.last + 1):
        if not span.first <= head <= span.last:
            break
        head = words[head].head
    return head if not span.first <= head <= span.last else ROOT


def _make_format_error(problem: str, location: str) -> MaterialsError:
    return MaterialsError(
        f"not CoNLL-U: {problem}",
        where=location,
        expected="ten columns between tabs (ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS "
        "MISC), words numbered from 1, heads among them, an empty line after each sentence",
    )


SINGULAR, PLURAL = "Sing", "Plur"
NUMBERS = (SINGULAR, PLURAL)
_NUMBER = "Number="
_VERBS = ("VERB", "AUX")
_SINGULAR_FORMS = frozenset({"am", "'m", "is", "'s", "was"})


@cache
def number_of(feats: str) -> str:
    """Return ``Sing`` or ``Plur``; empty if the features have no number, or a different value."""
    for feature in feats.split("|"):
        if feature.startswith(_NUMBER):
            value = feature.removeprefix(_NUMBER)
            return value if value in NUMBERS else ""
    return ""


def flip_number(number: str) -> str:
    """Return the other number."""
    return PLURAL if number == SINGULAR else SINGULAR


@cache
def flip_number_feature(feats: str) -> str:
    """Return the features with the other number; empty if they have neither singular nor plural."""
    number = number_of(feats)
    return feats.replace(_NUMBER + number, _NUMBER + flip_number(number)) if number else ""


def without(feats: str, *names: str) -> str:
    """Return the features without those with the given names."""
    remaining = [feature for feature in feats.split("|") if feature.partition("=")[0] not in names]
    return "|".join(remaining) or "_"


def set_number_feature(feats: str, number: str) -> str:
    """Return the features with this number, in alphabetical order as in treebanks."""
    without_number = without(feats, "Number", "_")
    features = [] if without_number == "_" else without_number.split("|")
    return "|".join(sorted([*features, _NUMBER + number], key=str.lower))


def mark_verb_number(sentence: Sentence) -> Sentence:
    """Return the sentence with number marked on exactly those finite verb forms that show it.

    In the present tense the form shows it: XPOS ``VBZ`` is singular, ``VBP`` plural (``am``
    singular). In the past tense only ``was`` and ``were`` show it. ``Person`` is removed, so that
    the two numbers of a form differ only in number; number on any other verb form (``I walked`` in
    treebanks that mark its subject's) is removed too.
    """
    tokens = tuple(
        token._replace(feats=_correct_features(token.feats, token.xpos, token.form.lower()))
        if token.upos in _VERBS
        else token
        for token in sentence.tokens
    )
    return sentence._replace(tokens=tokens)


@cache
def _correct_features(feats: str, xpos: str, form: str) -> str:
    remaining = without(feats, "Number", "Person")
    if xpos == "VBZ" or (xpos in ("VBP", "VBD") and form in _SINGULAR_FORMS):
        return set_number_feature(remaining, SINGULAR)
    if xpos == "VBP" or (xpos == "VBD" and form == "were"):
        return set_number_feature(remaining, PLURAL)
    return remaining
