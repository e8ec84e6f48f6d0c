"""The published test sets ``generated.{text,gold,eval}`` of Gulordava et al. (2018)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError, why_unread
from experiment.materials.treebank.agreement_test import AgreementTest
from experiment.materials.treebank.conllu import flip_number_feature, number_of
from experiment.tables.atomic_write import atomic_write

SENTENCE_END = "<eos>"


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file without their line ends.

    Raises:
        MaterialsError: The file is missing or not UTF-8 text.
    """
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            return [line.rstrip("\n") for line in file]
    except (OSError, UnicodeDecodeError) as error:
        raise MaterialsError(
            f"the set's file cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a UTF-8 text",
        ) from error


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file atomically."""
    with atomic_write(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def read_sentences(
    stem: Path, columns: int, target: int
) -> list[tuple[list[str], tuple[str, ...]]]:
    """Return the columns of ``stem.gold`` with the words of ``stem.text``, line by line.

    Args:
        stem: The path without its ending.
        columns: The number of columns of ``.gold``.
        target: The column (from 0) with the target's index, which ``.eval`` repeats.

    Raises:
        MaterialsError: The files differ in length, a line has a different number of columns, or the
            target is not a word of its sentence.
    """
    gold, text, targets = (
        read_lines(Path(f"{stem}.{ending}")) for ending in ("gold", "text", "eval")
    )
    if not len(gold) == len(text) == len(targets):
        raise MaterialsError(
            f"{len(gold)} lines in .gold, {len(text)} in .text, {len(targets)} in .eval",
            where=str(stem),
            expected="one line for each sentence in each of the three",
        )
    rows = []
    for number, (line, sentence, index) in enumerate(zip(gold, text, targets, strict=True), 1):
        values, words = line.split("\t"), tuple(sentence.split(" "))
        location = f"{stem}.gold:{number}"
        if len(values) != columns:
            raise MaterialsError(
                f"the line has {len(values)} columns",
                where=location,
                expected=f"{columns} between tabs",
            )
        if values[target] != index or not index.isdecimal() or int(index) >= len(words):
            raise MaterialsError(
                f'the target is "{values[target]}", and "{index}" in .eval, of {len(words)} words',
                where=location,
                expected="the same index of a word, from 0, in both",
            )
        rows.append((values, words))
    return rows


_COLUMNS = 12
_TARGET = 3

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Gold:
    """One line of ``generated.gold`` with its sentence.

    Attributes:
        pattern: The construction with the number pair of its extraction, e.g.
            ``L!NOUN_VERB_VERB!Number=Plur!Number=Sing``.
        constr_id: The number of the original sentence within the construction.
        sent_id: 0 for the original, 1 and above for its nonce sentences.
        target: The target's index in the sentence, from 0.
        upos: The target's part of speech.
        feats: The target's features.
        correct: The expected form.
        wrong: The form of the other number.
        lemma: The target's lemma.
        cue: The cue's index.
        cue_upos: The cue's part of speech.
        tags: In the published files, the parts of speech from cue to target joined by ``_``
            (Italian), or the original's words up to the target (English).
        words: The sentence without the closing ``<eos>``. In the published nonce sentences the word
            at the target differs from ``correct``; only the words before it count.
    """

    pattern: str
    constr_id: int
    sent_id: int
    target: int
    upos: str
    feats: str
    correct: str
    wrong: str
    lemma: str
    cue: int
    cue_upos: str
    tags: str
    words: tuple[str, ...]

    @property
    def construction(self) -> str:
        """The construction's name in the result tables."""
        side, tags, *_ = self.pattern.split("!")
        return f"{side}__{tags}"

    @property
    def key(self) -> Key:
        """The sentence's unique key: construction, constr_id, sent_id."""
        return self.construction, self.constr_id, self.sent_id


def read_generated(stem: Path) -> list[Gold]:
    """Return the sentences of ``stem.text``, ``stem.gold`` and ``stem.eval``, in order.

    Raises:
        MaterialsError: A file is missing or the three are inconsistent; with file:line.
    """
    rows = enumerate(read_sentences(stem, _COLUMNS, _TARGET), start=1)
    return [
        _find_gold_form(values, words, f"{stem}.gold:{number}") for number, (values, words) in rows
    ]


def _find_gold_form(values: Sequence[str], words: tuple[str, ...], location: str) -> Gold:
    pattern, constr_id, sent_id, target, upos, feats, good, bad, lemma, cue, cue_upos, tags = values
    try:
        instance, version, index, cue_index = map(int, (constr_id, sent_id, target, cue))
    except ValueError as error:
        raise MaterialsError(
            f"an index is not a number: one of {constr_id}, {sent_id}, {target}, {cue}",
            where=location,
        ) from error
    return Gold(
        pattern,
        instance,
        version,
        index,
        upos,
        feats,
        good,
        bad,
        lemma,
        cue_index,
        cue_upos,
        tags,
        words[:-1] if words[-1] == SENTENCE_END else words,
    )


def write_generated(stem: Path, sentences: Sequence[Gold]) -> None:
    """Write ``stem.text``, ``stem.gold`` and ``stem.eval``."""
    write_lines(Path(f"{stem}.text"), (" ".join([*gold.words, SENTENCE_END]) for gold in sentences))
    write_lines(Path(f"{stem}.gold"), map(_line, sentences))
    write_lines(Path(f"{stem}.eval"), (str(gold.target) for gold in sentences))


def _line(gold: Gold) -> str:
    return "\t".join(str(getattr(gold, name)) for name in Gold.__slots__[:-1])


def gold_of(test: AgreementTest) -> Gold:
    """Return an agreement test as a line of the published format."""
    side, _, tags = test.construction.partition("__")
    numbers = "Number=Sing!Number=Plur"
    return Gold(
        pattern=f"{side}!{tags}!{numbers}",
        constr_id=test.instance,
        sent_id=test.version,
        target=test.target,
        upos=test.tags[-1],
        feats=test.feats,
        correct=test.good,
        wrong=test.bad,
        lemma=test.lemma,
        cue=test.cue,
        cue_upos=test.tags[0],
        tags="_".join(test.tags),
        words=test.words,
    )


def agreement_tests(
    sentences: Iterable[Gold], attractors: Mapping[Key, int] | None = None
) -> list[AgreementTest]:
    """Return published sentences as agreement tests.

    Args:
        sentences: The published sentences.
        attractors: Their attractors, by key, from the published table; 0 if missing.

    Raises:
        MaterialsError: A target has no number.
    """
    return [_test(gold, (attractors or {}).get(gold.key, 0)) for gold in sentences]


def _test(gold: Gold, attractors: int) -> AgreementTest:
    if not flip_number_feature(gold.feats):
        raise MaterialsError(
            f'the target "{gold.correct}" has the features "{gold.feats}"',
            where=f"{gold.pattern} {gold.constr_id} {gold.sent_id}",
            expected="Number=Sing or Number=Plur among them",
        )
    tagged = gold.tags.startswith(f"{gold.cue_upos}_")
    return AgreementTest(
        construction=gold.construction,
        instance=gold.constr_id,
        version=gold.sent_id,
        words=gold.words,
        cue=gold.cue,
        target=gold.target,
        lemma=gold.lemma,
        feats=gold.feats,
        tags=tuple(gold.tags.split("_")) if tagged else (gold.cue_upos, gold.upos),
        good=gold.correct,
        bad=gold.wrong,
        number=number_of(gold.feats).lower(),
        attractors=attractors,
    )
