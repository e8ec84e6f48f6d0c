"""The vocabulary of distractors, with word lengths and frequencies."""

import csv
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.data.word_predictors import normalise_word, read_frequencies
from analysis.errors import AnalysisError
from analysis.maze.slots import Sentence, Slot
from analysis.scores.scoring_inputs import choose_text_rendering
from experiment.seeds import generator
from experiment.tables.atomic_write import atomic_write
from lm.scorer import HasSubwords, Scorer
from lm.surprisal import NATS_PER_BIT

_FEWEST_WORDS = 20


class Vocabulary:
    """Words with log-frequencies.

    Args:
        path: A table of frequencies: word, and count, zipf or log_frequency.
    """

    def __init__(self, path: Path) -> None:
        frequencies = read_frequencies(path)
        letters_only = frequencies[
            [str(word).isalpha() and len(str(word)) > 1 for word in frequencies.index]
        ]
        if len(letters_only) < _FEWEST_WORDS:
            raise AnalysisError(
                f"the table has {len(letters_only)} words of two letters or more",
                where=str(path),
                expected=f"at least {_FEWEST_WORDS}, of which distractors are drawn",
            )
        self._frequency = {str(word): float(value) for word, value in letters_only.items()}
        self._floor = min(self._frequency.values())
        self._words = sorted(self._frequency, key=lambda word: (self._frequency[word], word))
        self._values = [self._frequency[word] for word in self._words]

    def frequency(self, word: str) -> float:
        """Return a word's log-frequency; for an unknown word, that of the rarest word."""
        return self._frequency.get(word, self._floor)

    def match(
        self, words: list[str], length: int, frequency: float, rng: random.Random, most: int
    ) -> list[str]:
        """Return candidates in random order that match the words' length and frequency.

        Args:
            words: The right words; a candidate lies within the bounds of each.
            length: The maximum difference in letters from each word.
            frequency: The maximum difference in log-frequency.
            rng: The source of randomness.
            most: The maximum number of candidates.
        """
        values = [self.frequency(word) for word in words]
        low, high = max(values) - frequency, min(values) + frequency
        longest, shortest = min(map(len, words)) + length, max(map(len, words)) - length
        begin, end = bisect_left(self._values, low), bisect_right(self._values, high)
        candidates = [word for word in self._words[begin:end] if shortest <= len(word) <= longest]
        rng.shuffle(candidates)
        return candidates[:most]

    def nearest(self, words: list[str], rng: random.Random, most: int) -> list[str]:
        """Return candidates nearest in length and frequency, if none is within the bounds."""
        length = float(np.mean([len(word) for word in words]))
        value = float(np.mean([self.frequency(word) for word in words]))
        ordered = sorted(
            self._words,
            key=lambda w: (abs(len(w) - length) + abs(self._frequency[w] - value), w),
        )
        candidates = ordered[:most]
        rng.shuffle(candidates)
        return candidates


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds that every distractor must meet.

    Attributes:
        threshold_bits: The minimum surprisal of the distractor.
        margin_bits: The minimum excess over the right word's surprisal, in every sentence.
        length: The maximum difference in letters from the right word.
        frequency: The maximum difference in log-frequency.
        candidates: The number of matched words tried for a slot.
        seed: The seed of the order of candidates.
    """

    threshold_bits: float = 21.0
    margin_bits: float = 6.0
    length: int = 1
    frequency: float = 1.0
    candidates: int = 60
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Use:
    """A distractor paired with one word, as found in the table.

    Attributes:
        sentence: The sentence.
        position: The word's place, from 0.
        distractor: The distractor paired with the word.
        distractor_bits: The distractor's surprisal under each model.
        right_bits: The right word's surprisal under each model.
        unmet: The bounds that are not met, in words.
    """

    sentence: Sentence
    position: int
    distractor: str
    distractor_bits: tuple[float, ...]
    right_bits: tuple[float, ...]
    unmet: tuple[str, ...]


def choose_distractors(
    slots: Sequence[Slot],
    scorers: Sequence[Scorer],
    vocabulary: Vocabulary,
    bounds: Bounds,
    progress: Callable[[Sequence[Slot]], Iterable[Slot]] = lambda slots: slots,
) -> dict[Slot, str]:
    """Return a distractor for each slot: one that meets all bounds, or else the nearest candidate.

    Args:
        slots: The slots.
        scorers: The generating model, then the second one.
        vocabulary: The words.
        bounds: The bounds.
        progress: Wraps the iteration over slots.
    """
    chosen: dict[Slot, str] = {}
    used: dict[str, set[str]] = {}
    for slot in slots:
        for sentence, _ in slot.uses:
            used.setdefault(slot.frame, set()).update(map(normalise_word, sentence.words))
    for slot in progress(slots):
        words_taken = used[slot.frame]
        rng = generator(bounds.seed, "maze distractors", slot.frame, *map(str, slot.key))
        words = [word for word in slot.words if word] or ["the"]
        matching_words = vocabulary.match(
            words, bounds.length, bounds.frequency, rng, bounds.candidates + len(words_taken)
        )
        candidates = [word for word in matching_words if word not in words_taken][
            : bounds.candidates
        ]
        if not candidates:
            near = vocabulary.nearest(words, rng, bounds.candidates + len(words_taken))
            candidates = [word for word in near if word not in words_taken][: bounds.candidates]
        chosen[slot] = _best_candidate(slot, candidates, scorers, bounds)
        words_taken.add(chosen[slot])
    return chosen


def _best_candidate(
    slot: Slot, candidates: Sequence[str], scorers: Sequence[Scorer], bounds: Bounds
) -> str:
    """Return the first candidate that meets the bounds under all models, or else the nearest."""
    shortfalls = dict.fromkeys(candidates, 0.0)
    for scorer in scorers:
        for sentence, position in slot.uses:
            bits = compute_surprisals(
                scorer, sentence, position, [*candidates, sentence.words[position]]
            )
            right = bits[-1]
            bound = bounds.threshold_bits
            if right is not None:
                bound = max(bound, right + bounds.margin_bits)
            for word, word_bits in zip(candidates, bits, strict=False):
                missing_bits = 1e6 if word_bits is None else max(0.0, bound - word_bits)
                shortfalls[word] = max(shortfalls[word], missing_bits)
    # Among candidates that meet all bounds, the random order decides.
    return min(candidates, key=lambda word: shortfalls[word])


def compute_surprisals(
    scorer: Scorer, sentence: Sentence, position: int, words: Sequence[str]
) -> list[float | None]:
    """Return words' surprisals in bits at a position of a sentence; None for unknown words."""
    context = sentence.context(position)
    if isinstance(scorer, HasSubwords):
        requests = [(context, word) for word in words]
    else:
        rendering = choose_text_rendering(scorer)
        requests = [(rendering(context), rendering(strip_punctuation(word))) for word in words]
    return [
        None if scores.unknown.any() else -float(scores.logprobs_nats.sum()) / NATS_PER_BIT
        for scores in scorer.score(requests)
    ]


def strip_punctuation(word: str) -> str:
    """Return a word without punctuation at its ends."""
    return word.strip(".,;:!?()[]\"'\u201c\u201d\u2018\u2019\u00ab\u00bb") or word


def audit_distractors(
    sentences: Sequence[Sentence],
    distractors: Mapping[tuple[int, str], Sequence[str]],
    slots: Sequence[Slot],
    scorers: Sequence[Scorer],
    vocabulary: Vocabulary,
    bounds: Bounds,
) -> list[Use]:
    """Return every use of every distractor, with the bounds that it does not meet.

    Everything is recomputed from the table, whatever its source.

    Args:
        sentences: The sentences.
        distractors: The distractors of each row and column, including the first word's.
        slots: The words that share a distractor.
        scorers: The models.
        vocabulary: The words with their frequencies.
        bounds: The bounds.
    """
    shared = {(id(sentence), position): slot for slot in slots for sentence, position in slot.uses}
    of_slot: dict[Slot, str] = {}
    uses = []
    for sentence in sentences:
        sentence_distractors = distractors[sentence.row, sentence.column]
        words_seen = set(map(normalise_word, sentence.words))
        for position in range(1, len(sentence.words)):
            word = normalise_word(sentence_distractors[position])
            unmet = list(
                _unmet_matching_bounds(
                    word, normalise_word(sentence.words[position]), vocabulary, bounds
                )
            )
            if word in words_seen:
                unmet.append("it occurs in the sentence already")
            words_seen.add(word)
            slot_word = of_slot.setdefault(shared[id(sentence), position], word)
            if slot_word != word:
                unmet.append(f'another condition of the frame has "{slot_word}"')
            bits = [
                compute_surprisals(
                    scorer,
                    sentence,
                    position,
                    [strip_punctuation(sentence_distractors[position]), sentence.words[position]],
                )
                for scorer in scorers
            ]
            unmet += _unmet_surprisal_bounds(bits, scorers, bounds)
            uses.append(
                Use(
                    sentence, position, sentence_distractors[position],
                    tuple(float("nan") if pair[0] is None else pair[0] for pair in bits),
                    tuple(float("nan") if pair[1] is None else pair[1] for pair in bits),
                    tuple(unmet),
                )
            )  # fmt: skip
    return uses


def _unmet_matching_bounds(
    word: str, right: str, vocabulary: Vocabulary, bounds: Bounds
) -> Iterator[str]:
    if abs(len(word) - len(right)) > bounds.length:
        yield f"{len(word)} letters against {len(right)}"
    frequency_difference = abs(vocabulary.frequency(word) - vocabulary.frequency(right))
    if frequency_difference > bounds.frequency + 1e-9:
        yield f"log-frequencies differ by {frequency_difference:.1f}"


def _unmet_surprisal_bounds(
    bits: Sequence[Sequence[float | None]], scorers: Sequence[Scorer], bounds: Bounds
) -> list[str]:
    unmet = []
    for (distractor_bits, right), scorer in zip(bits, scorers, strict=True):
        if distractor_bits is None:
            unmet.append(f"{scorer.name} does not know it")
            continue
        if distractor_bits < bounds.threshold_bits - 1e-9:
            unmet.append(f"{distractor_bits:.1f} bits under {scorer.name}")
        if right is not None and distractor_bits - right < bounds.margin_bits - 1e-9:
            unmet.append(
                f"{distractor_bits - right:.1f} bits above the right word under {scorer.name}"
            )
    return unmet


N_JUDGED = 50
_SIDES = ("first", "second")


def write_judging_table(uses: Sequence[Use], seed: int, out: Path) -> int:
    """Write a table to fill in, and its key, and return the number of pairs.

    Args:
        uses: Every distractor with its word.
        seed: The seed of the sample and of the sides.
        out: The table (.tsv); the key has ``.key`` before the suffix.
    """
    rng = generator(seed, "maze judging")
    sampled_uses = rng.sample(list(uses), min(N_JUDGED, len(uses)))
    rows, key = [], []
    for number, use in enumerate(sampled_uses, start=1):
        right = rng.randrange(len(_SIDES))
        pair = [use.distractor, use.distractor]
        pair[right] = use.sentence.words[use.position]
        rows.append([number, use.sentence.context(use.position), *pair, ""])
        key.append([number, use.sentence.place, use.position + 1, _SIDES[right]])
    _write_table(out, ["number", "beginning", *_SIDES, "goes_on"], rows)
    _write_table(
        out.with_suffix(f".key{out.suffix}"), ["number", "place", "position", "goes_on"], key
    )
    return len(rows)


def _write_table(out: Path, header: list[str], rows: Sequence[Sequence[object]]) -> None:
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
