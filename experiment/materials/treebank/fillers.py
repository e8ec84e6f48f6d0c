"""Fillers: sentences cut at any content word with a number, and a clear subset as controls."""

import random
from collections.abc import Container, Iterable, Iterator, Sequence

from experiment.materials.treebank.agreement_test import CONTROL, FILLER, AgreementTest
from experiment.materials.treebank.conllu import Sentence, Token
from experiment.materials.treebank.conventions import Conventions
from experiment.materials.treebank.features import number_of
from experiment.materials.treebank.nonce import CONTENT
from experiment.materials.treebank.originals import Original, best_opposite
from experiment.materials.treebank.paradigms import Paradigms, entry_of
from experiment.records import Kind
from experiment.seeds import generator

_LEAST_PREFIX_WORDS = 3


def original_fillers(
    sentences: Iterable[Sentence],
    number: int,
    paradigms: Paradigms,
    vocabulary: Container[str],
    conventions: Conventions,
    seed: int,
) -> list[Original]:
    """Return random sentences, each cut at a random content word whose other number is known.

    A filler is a control, on which people who read attentively do not err, when a word before
    the target shows its number: a determiner that depends on it. Nonce sentences keep it.
    Controls and other fillers take turns as far as the sentences allow.

    Args:
        sentences: The sentences to draw from, in their order.
        number: How many are wanted; fewer are returned where the treebank has no more.
        paradigms: The treebank's words.
        vocabulary: The words a model knows; the whole prefix and both forms must be in it.
        conventions: How the other form is chosen.
        seed: Decides which sentences and which words.
    """
    rng = generator(seed, "fillers")
    drawn = list(sentences)
    rng.shuffle(drawn)
    counts = {FILLER: 0, CONTROL: 0}
    found: list[Original] = []
    for sentence in drawn:
        if len(found) == number:
            break
        if choices := list(_choices(sentence, paradigms, vocabulary, conventions)):
            target, bad = _choice(choices, sentence.tokens, counts[CONTROL] <= counts[FILLER], rng)
            label = CONTROL if _is_clear(sentence.tokens, target) else FILLER
            found.append(Original(_filler(label, counts[label], sentence, target, bad), sentence))
            counts[label] += 1
    return found


def _choices(
    sentence: Sentence,
    paradigms: Paradigms,
    vocabulary: Container[str],
    conventions: Conventions,
) -> Iterator[tuple[int, str]]:
    """Yield the words at which a sentence may be cut, with their form of the other number."""
    for index, token in enumerate(sentence.tokens):
        if token.form not in vocabulary:
            return
        if index < _LEAST_PREFIX_WORDS or token.upos not in CONTENT or not number_of(token.feats):
            continue
        forms = paradigms.opposite_forms(token.form, token.lemma, entry_of(token))
        if bad := best_opposite(token.form, forms, vocabulary, conventions):
            yield index, bad


def _choice(
    choices: Sequence[tuple[int, str]],
    tokens: Sequence[Token],
    want_clear: bool,
    rng: random.Random,
) -> tuple[int, str]:
    wanted = [choice for choice in choices if _is_clear(tokens, choice[0]) == want_clear]
    return rng.choice(wanted or choices)


def _is_clear(tokens: Sequence[Token], target: int) -> bool:
    number = number_of(tokens[target].feats)
    return any(
        token.upos == "DET" and token.head == target and number_of(token.feats) == number
        for token in tokens[:target]
    )


def _filler(label: str, number: int, sentence: Sentence, target: int, bad: str) -> AgreementTest:
    token = sentence.tokens[target]
    return AgreementTest(
        construction=label,
        instance=number,
        version=0,
        words=tuple(word.form for word in sentence.tokens),
        cue=-1,
        target=target,
        lemma=token.lemma,
        feats=token.feats,
        tags=(token.upos,),
        good=token.form,
        bad=bad,
        number=number_of(token.feats).lower(),
        attractors=0,
        kind=Kind.CATCH if label == CONTROL else Kind.FILLER,
    )
