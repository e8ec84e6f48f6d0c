"""Find the slots that need a distractor: each word, with the words that must share it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.data.word_predictors import normalise_word
from analysis.errors import AnalysisError
from experiment.materials.formats.columns import find_columns
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.materials.formats.words import BAR
from experiment.responses.reading.maze import NO_WORD

# The columns of a sentence, and of its distractors.
_COLUMNS = {"sentence": "distractors", "good": "good_distractors", "bad": "bad_distractors"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a table.

    Attributes:
        row: The row's number, from 0.
        place: The location in the file.
        column: The column for its distractors.
        frame: The frame shared by its conditions.
        words: The words, with punctuation.
    """

    row: int
    place: str
    column: str
    frame: str
    words: tuple[str, ...]

    def context(self, position: int) -> str:
        """Return the words before a position, separated by spaces."""
        return " ".join(self.words[:position])


@dataclass(frozen=True, slots=True)
class Slot:
    """Words that share one distractor: the same word in several conditions, or a single word.

    Attributes:
        frame: The frame shared by its sentences.
        key: The words' common key: the word and its number of earlier occurrences, or the position.
        uses: The sentences and the position of the word in each, from 0.
    """

    frame: str
    key: tuple[object, ...]
    uses: tuple[tuple[Sentence, int], ...]

    @property
    def words(self) -> list[str]:
        """The right words, without punctuation."""
        return [normalise_word(sentence.words[position]) for sentence, position in self.uses]


def read_sentences(path: Path, named: Mapping[str, str]) -> tuple[RawTable, list[Sentence]]:
    """Return a table and its sentences.

    Args:
        path: The table.
        named: The file's header for each Parallax column, if it differs.

    Raises:
        AnalysisError: No column has sentences, or a sentence has a single word.
        MaterialsError: The file cannot be read.
    """
    table = read_raw(path)
    headers = find_columns(table, named)
    sentence_columns = ("good", "bad") if "good" in headers else ("sentence",)
    columns = {headers[name]: _COLUMNS[name] for name in sentence_columns if name in headers}
    if not columns:
        raise AnalysisError(
            f"no column holds sentences; the columns are {', '.join(table.columns)}",
            where=str(path),
            expected='the column "sentence", or "good" and "bad"',
            remedy="Name it: --column sentence=HEADER",
        )
    shared = [headers[name] for name in ("construction", "item") if name in headers]
    sentences = []
    for number, row in enumerate(table.rows):
        frame = " ".join(row.values[name] for name in shared) if "item" in headers else str(number)
        for header, column in columns.items():
            words = tuple(row.values[header].replace(BAR, " ").split())
            if len(words) < 2:
                raise AnalysisError(
                    f'the sentence "{row.values[header]}" has {len(words)} word(s)',
                    where=row.place,
                    expected="two words or more",
                )
            sentences.append(Sentence(number, row.place, column, frame, words))
    return table, sentences


def make_slots(sentences: list[Sentence]) -> list[Slot]:
    """Return the slots of all sentences, in order; first words have no slot.

    Sentences of one frame with the same number of words share distractors by position; otherwise a
    word shares its distractor with the same word of the other sentences.
    """
    frames: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        frames.setdefault(sentence.frame, []).append(sentence)
    return [
        slot
        for frame, frame_sentences in frames.items()
        for slot in _slots_of_frame(frame, frame_sentences)
    ]


def _slots_of_frame(frame: str, sentences: list[Sentence]) -> Iterator[Slot]:
    aligned = len({len(sentence.words) for sentence in sentences}) == 1 and _positions_align(
        sentences
    )
    slots: dict[tuple[object, ...], list[tuple[Sentence, int]]] = {}
    for sentence in sentences:
        occurrences = Counter[str]()
        for position, word in enumerate(sentence.words):
            plain_word = normalise_word(word)
            occurrences[plain_word] += 1
            key: tuple[object, ...] = (
                (position,) if aligned else (plain_word, occurrences[plain_word])
            )
            if position:
                slots.setdefault(key, []).append((sentence, position))
    for key, uses in slots.items():
        yield Slot(frame, key, tuple(uses))


def _positions_align(sentences: list[Sentence]) -> bool:
    """Return whether positions align: no word of a varying position occurs at another position."""
    places = list(
        zip(*(map(normalise_word, sentence.words) for sentence in sentences), strict=True)
    )
    return all(
        len(set(words)) == 1 or not any(word in other_words for word in words)
        for number, words in enumerate(places)
        for other_words in (*places[:number], *places[number + 1 :])
    )


def format_distractors(sentence: Sentence, chosen: Mapping[int, str]) -> str:
    """Return a sentence's distractors in the table's format."""
    return " ".join(
        [NO_WORD, *(chosen.get(position, "???") for position in range(1, len(sentence.words)))]
    )
