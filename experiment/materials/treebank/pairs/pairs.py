"""Minimal pairs of a treebank's own sentences, and the counts of what was left out and why."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from experiment.materials.treebank.conllu import ROOT, Sentence
from experiment.materials.treebank.pairs.forms import Disagreement, Forms
from experiment.materials.treebank.pairs.order import ORDER, Orders, exchange, find_orders
from experiment.materials.treebank.pairs.pair import Pair
from experiment.materials.treebank.pairs.relations import (
    RELATIONS,
    Reliability,
    drops_subjects,
    find_instances,
)
from experiment.materials.treebank.pairs.wrong_forms import PairMaker
from experiment.seeds import generator

# With the full stops of Hindi, Urdu and Armenian.
_ENDS = frozenset(".!?…。؟।\u06d4\u0589")
_BEGINNINGS = frozenset("¿¡")
_ODD_TAGS = frozenset({"X", "SYM"})
_ODD_SIGNS = frozenset('()[]{}<>@#*/\\|"“”„«»`_')


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a study wants of a treebank.

    Attributes:
        relations: The relations, such as ``subject_verb``.
        features: The agreement features.
        each: At most this many pairs of each relation and feature.
        shortest: The fewest words of a sentence.
        longest: The most words.
    """

    relations: Sequence[str]
    features: Sequence[str]
    each: int = 12
    shortest: int = 4
    longest: int = 14


@dataclass(slots=True)
class PairSet:
    """The pairs of a treebank.

    Attributes:
        pairs: The chosen pairs.
        counts: How many cases remained or were left out at each step, by reason.
        disagreements: Words for which two sources have different forms.
    """

    pairs: list[Pair] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    disagreements: list[Disagreement] = field(default_factory=list)


def make_pairs(sentences: Sequence[Sentence], forms: Forms, wishes: Wishes, seed: int) -> PairSet:
    """Return minimal pairs of the sentences, reproducible by the seed."""
    suitable = [sentence for sentence in sentences if is_suitable(sentence, wishes)]
    counts = Counter[str]({"sentences": len(sentences), "short whole sentences": len(suitable)})
    reliability = Reliability(chain.from_iterable(map(find_instances, sentences)))
    maker = PairMaker(forms, reliability, drops_subjects(sentences), counts)
    orders = Orders(chain.from_iterable(map(find_orders, sentences)), forms)
    found: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in chain(
        _find_disagreeing(suitable, maker, wishes),
        _find_reordered(suitable, orders, wishes, counts),
    ):
        found[pair.construction].append(pair)
    counts["pairs"] = sum(map(len, found.values()))
    chosen = _choose(found, wishes.each, seed)
    counts["pairs chosen"] = len(chosen)
    both = [*forms.disagreements, *maker.disagreements]
    disagreements = list({str(disagreement): disagreement for disagreement in both}.values())
    return PairSet(chosen, _in_order(counts), disagreements)


def _find_disagreeing(
    sentences: Iterable[Sentence], maker: PairMaker, wishes: Wishes
) -> Iterator[Pair]:
    for instance in chain.from_iterable(map(find_instances, sentences)):
        for feature in wishes.features:
            if (
                instance.relation in wishes.relations
                and feature in RELATIONS[instance.relation][0]
                and (pair := maker.make(instance, feature))
            ):
                yield pair


def _find_reordered(
    sentences: Iterable[Sentence], orders: Orders, wishes: Wishes, counts: Counter[str]
) -> Iterator[Pair]:
    if ORDER not in wishes.features:
        return
    for instance in chain.from_iterable(map(find_orders, sentences)):
        if instance.relation in wishes.relations:
            counts["articles and adpositions of nouns"] += 1
            if doubt := orders.find_doubt(instance):
                counts[f"order left out: {doubt}"] += 1
                continue
            places = ("before the noun", "after the noun")
            right, wrong = places if instance.target < instance.cue else reversed(places)
            yield Pair(instance, ORDER, exchange(instance), right, wrong)


def _in_order(counts: Counter[str]) -> dict[str, int]:
    ends = ("pairs", "pairs chosen")
    return {name: n for name, n in counts.items() if name not in ends} | {
        name: counts[name] for name in ends
    }


def is_suitable(sentence: Sentence, wishes: Wishes) -> bool:
    """Return whether a sentence is whole, of the wished length, and free of odd signs."""
    tokens = sentence.tokens
    n_words = sum(token.upos != "PUNCT" for token in tokens)
    if not wishes.shortest <= n_words <= wishes.longest:
        return False
    root = next((index for index, token in enumerate(tokens) if token.head == ROOT), 0)
    has_verb = any(
        token.upos in ("VERB", "AUX") and root in (index, token.head)
        for index, token in enumerate(tokens)
    ) or any(token.head == root and "subj" in token.deprel for token in tokens)
    return (
        has_verb
        and tokens[-1].form[-1:] in _ENDS
        and not tokens[0].form[:1].islower()
        and (tokens[0].upos != "PUNCT" or tokens[0].form in _BEGINNINGS)
        and not any(token.upos in _ODD_TAGS or _ODD_SIGNS & {*token.form} for token in tokens)
        and not any(
            token.form == "," and not token.space_after and following.upos != "PUNCT"
            for token, following in pairwise(tokens)
        )
    )


def _choose(found: dict[str, list[Pair]], each: int, seed: int) -> list[Pair]:
    """Return some pairs of each construction, at random, from as many sentences as possible."""
    used: set[tuple[str, ...]] = set()
    chosen: list[Pair] = []
    for construction, pairs in sorted(found.items(), key=lambda entry: (len(entry[1]), entry[0])):
        shuffled = list(pairs)
        generator(seed, "pairs", construction).shuffle(shuffled)
        n_chosen = 0
        for pair in shuffled:
            words = tuple(token.form for token in pair.instance.sentence.tokens)
            if n_chosen < each and words not in used:
                used.add(words)
                chosen.append(pair)
                n_chosen += 1
    order = {relation: number for number, relation in enumerate(RELATIONS)}
    return sorted(chosen, key=lambda p: (order[p.instance.relation], p.feature))
