"""Extraction of constructions in which two distant words of a treebank agree in number."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from experiment.materials.treebank.conllu import NUMBERS, ROOT, Sentence, Token, number_of


@dataclass(frozen=True, slots=True)
class Conventions:
    """The settings of extraction and generation; the defaults are those of the paper's text.

    Attributes:
        least_distance: The fewest tokens from cue to target (three words between).
        most_distance: The most tokens from cue to target.
        least_of_each_number: The fewest agreeing pairs of a construction in each number.
        entropy_below_bits: The upper bound on the conditional entropy of the cue's number, in bits.
        versions: The nonce sentences for each original.
        other_pos_share: The share of a form's uses with another part of speech above which the form
            is not used as a replacement.
        replaced_by_another: Whether a word must be replaced by a different word if there is one.
        attached_alike: Whether a merged word is only replaced by words with the same parts merged.
        pair_alike: Whether both forms of a target must begin alike (capital, vowel); by default
            such a pair is only preferred.
        attractors_by_reading: Whether a word is an attractor by any reading at least a tenth as
            frequent as its most common reading, instead of by its own annotation.
    """

    least_distance: int = 4
    most_distance: int = 14
    least_of_each_number: int = 10
    entropy_below_bits: float = 0.001
    versions: int = 9
    other_pos_share: float = 0.1
    replaced_by_another: bool = True
    attached_alike: bool = True
    pair_alike: bool = False
    attractors_by_reading: bool = False


PAPER = Conventions()
PUBLISHED_CODE = Conventions(
    least_of_each_number=6,
    other_pos_share=0.0,
    replaced_by_another=False,
    attached_alike=False,
    pair_alike=True,
    attractors_by_reading=True,
)


Numbers = tuple[str, str]


class Pattern(NamedTuple):
    """A construction: the side of the head, and the tags of cue, context and target."""

    side: str
    tags: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name in the published tables, e.g. ``L__NOUN_VERB_VERB`` (head on the right)."""
        return f"{self.side}__{'_'.join(self.tags)}"


class Instance(NamedTuple):
    """A pair of words in a sentence whose dependency is an instance of a construction."""

    sentence: Sentence
    cue: int
    target: int


@dataclass(slots=True)
class Candidate:
    """A pattern's occurrences in a treebank: counts of number pairs, and agreeing instances."""

    numbers: Counter[Numbers] = field(default_factory=Counter)
    agreeing: list[Instance] = field(default_factory=list)

    def least_of_a_number(self) -> int:
        """Return how often the less frequent number agrees."""
        return min(self.numbers[number, number] for number in NUMBERS)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The constructions of a treebank, and the number of remaining cases after each filter."""

    constructions: dict[Pattern, Candidate]
    remaining: dict[str, int]


def extract(sentences: Iterable[Sentence], conventions: Conventions) -> Extraction:
    """Return the constructions whose cue and target always agree in number.

    Following Gulordava et al. (2018), section 2. A pattern is a projective dependency between two
    words marked for number, some tokens apart, with the tags of the intervening words that depend
    on either of the two. A pattern is kept if both numbers agree often enough and the cue's number
    is certain given the target's.

    Args:
        sentences: The treebank, iterated once.
        conventions: The bounds.
    """
    counts, candidates = Counter[str](), dict[Pattern, Candidate]()
    for sentence in sentences:
        counts["sentences"] += 1
        counts["words"] += len(sentence.tokens)
        for pattern, instance in _find_instances(sentence, conventions, counts):
            candidate = candidates.setdefault(pattern, Candidate())
            numbers = _list_numbers(instance)
            candidate.numbers[numbers] += 1
            if numbers[0] == numbers[1]:
                candidate.agreeing.append(instance)
    often = {
        pattern: candidate
        for pattern, candidate in candidates.items()
        if candidate.least_of_a_number() >= conventions.least_of_each_number
    }
    frequent = {
        pattern: candidate
        for pattern, candidate in sorted(often.items())
        if conditional_entropy_bits(candidate.numbers) < conventions.entropy_below_bits
        and _agreement_prevails(candidate.numbers)
    }
    instances = sum(len(candidate.agreeing) for candidate in frequent.values())
    figures = {name: counts[name] for name in _FILTERS} | {
        "patterns": len(candidates),
        "patterns with enough agreeing pairs of each number": len(often),
        "constructions whose cue and target always agree in number": len(frequent),
        "instances of these constructions": instances,
    }
    return Extraction(frequent, figures)


_FILTERS = (
    "sentences",
    "words",
    "dependencies between words marked for number",
    "dependencies of the right distance",
    "projective dependencies",
)


def conditional_entropy_bits(numbers: Mapping[Numbers, int]) -> float:
    """Return H(cue's number | target's number) in bits, over the pairs seen more than once."""
    repeated = {pair: n for pair, n in numbers.items() if n > 1}
    targets = Counter[str]()
    for (_, target), n in repeated.items():
        targets[target] += n
    total = targets.total()
    return -sum(n / total * math.log2(n / targets[target]) for (_, target), n in repeated.items())


def _agreement_prevails(numbers: Mapping[Numbers, int]) -> bool:
    """Return whether the number is predictable by agreement rather than by opposition."""
    agreeing = sum(n for (cue, target), n in numbers.items() if cue == target)
    return 2 * agreeing > sum(numbers.values())


def _find_instances(
    sentence: Sentence, conventions: Conventions, counts: Counter[str]
) -> Iterator[tuple[Pattern, Instance]]:
    tokens = sentence.tokens
    has_number = [number_of(token.feats) != "" and token.upos != "PUNCT" for token in tokens]
    for child, token in enumerate(tokens):
        head = token.head
        if head == ROOT or not (has_number[child] and has_number[head]):
            continue
        counts["dependencies between words marked for number"] += 1
        cue, target = min(child, head), max(child, head)
        if not conventions.least_distance <= target - cue <= conventions.most_distance:
            continue
        counts["dependencies of the right distance"] += 1
        if not _is_projective(tokens, head, range(cue + 1, target)):
            continue
        counts["projective dependencies"] += 1
        context = (t.upos for t in tokens[cue + 1 : target] if t.head in (cue, target))
        tags = (tokens[cue].upos, *context, tokens[target].upos)
        yield Pattern("L" if head == target else "R", tags), Instance(sentence, cue, target)


def _is_projective(tokens: tuple[Token, ...], head: int, between: range) -> bool:
    """Return whether every intervening word depends, directly or indirectly, on the head."""
    for index in between:
        above = tokens[index].head
        # The loop is bounded because a faulty tree may contain a cycle.
        for _ in tokens:
            if above in (head, ROOT):
                break
            above = tokens[above].head
        if above != head:
            return False
    return True


def _list_numbers(instance: Instance) -> Numbers:
    tokens = instance.sentence.tokens
    return number_of(tokens[instance.cue].feats), number_of(tokens[instance.target].feats)
