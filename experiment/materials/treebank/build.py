"""From a treebank to a set of agreement tests and fillers, with counts at each filter."""

import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError, why_unread
from experiment.materials.treebank.agreement_test import CONTROL, FILLER, AgreementTest
from experiment.materials.treebank.conllu import Sentence, Token, number_of
from experiment.materials.treebank.constructions import Conventions, Extraction, extract
from experiment.materials.treebank.nonce import CONTENT, NonceWords, nonce_tests
from experiment.materials.treebank.originals import (
    Original,
    Paradigms,
    best_opposite,
    entry_of,
    originals,
)
from experiment.records import Kind
from experiment.seeds import generator


class AnyWord:
    """The vocabulary of a model that is not named: it holds every word."""

    def __contains__(self, _word: object) -> bool:
        return True


def read_vocabulary(path: Path | None) -> Container[str]:
    """Return the words of a file, one on each line; every word when there is no file.

    What follows a word on its line, after white space, is ignored.

    Raises:
        MaterialsError: The file is missing, no text, or empty.
    """
    if path is None:
        return AnyWord()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MaterialsError(
            f"the vocabulary cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a UTF-8 text with a word on each line",
        ) from error
    words = frozenset(line.split()[0] for line in lines if line.strip())
    if not words:
        raise MaterialsError(
            "the vocabulary is empty", where=str(path), expected="a word on each line"
        )
    return words


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
    fillers: list[Original] = []
    for sentence in drawn:
        if len(fillers) == number:
            break
        if choices := list(_choices(sentence, paradigms, vocabulary, conventions)):
            target, bad = _choice(choices, sentence.tokens, counts[CONTROL] <= counts[FILLER], rng)
            label = CONTROL if _is_clear(sentence.tokens, target) else FILLER
            fillers.append(Original(_filler(label, counts[label], sentence, target, bad), sentence))
            counts[label] += 1
    return fillers


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


@dataclass(frozen=True, slots=True)
class TestSet:
    """Agreement tests made from a treebank.

    Attributes:
        targets: Each original with its nonce sentences, construction by construction.
        fillers: The fillers likewise; empty where none were asked for.
        left: How much was left after each filter.
    """

    __test__ = False

    targets: list[AgreementTest]
    fillers: list[AgreementTest]
    left: dict[str, int]


def constructions_of(sentences: Iterable[Sentence], conventions: Conventions) -> Extraction:
    """Return the constructions of a treebank.

    Raises:
        MaterialsError: No word is marked for number, or there is no construction.
    """
    extraction = extract(sentences, conventions)
    if not extraction.left["dependencies between words marked for number"]:
        raise MaterialsError(
            f"no two words that depend on each other are both marked for number "
            f"({_counts(extraction.left)})",
            where="the treebank",
            expected="Number=Sing and Number=Plur among the features",
            remedy="For an English treebank, mark the verbs' number with --english",
        )
    if not extraction.constructions:
        raise MaterialsError(
            f"no construction agrees in number ({_counts(extraction.left)})",
            where="the treebank",
            expected="patterns with enough agreeing pairs of each number",
            remedy="Take a larger treebank or a lower --least-of-each-number",
        )
    return extraction


def build_test_set(
    sentences: Sequence[Sentence],
    vocabulary: Container[str],
    conventions: Conventions,
    seed: int,
    *,
    with_fillers: bool,
) -> TestSet:
    """Return original and nonce tests of every construction; the same seed gives the same.

    Args:
        sentences: The treebank.
        vocabulary: The words a model knows.
        conventions: The paper's or the published code's.
        seed: Decides the nonce words and the fillers.
        with_fillers: Whether to make as many fillers as there are targets.

    Raises:
        MaterialsError: There is no construction, or no sentence that can be tested.
    """
    extraction = constructions_of(sentences, conventions)
    paradigms = Paradigms(sentences)
    tested = originals(extraction, paradigms, vocabulary, conventions)
    left = extraction.left | tested.left
    if not tested.sentences:
        raise MaterialsError(
            f"no sentence can be tested ({_counts(left)})",
            where="the treebank and the vocabulary",
            expected="both forms of the target, and the words from cue to target, known",
            remedy="Give the model's vocabulary with the treebank's capitals, or none",
        )
    used = {original.sentence.where for original in tested.sentences}
    fillers = original_fillers(
        (sentence for sentence in sentences if sentence.where not in used),
        len(tested.sentences) if with_fillers else 0,
        paradigms,
        vocabulary,
        conventions,
        seed,
    )
    words = NonceWords(paradigms, vocabulary, conventions)
    return TestSet(
        _with_nonce(tested.sentences, words, conventions, seed),
        _with_nonce(fillers, words, conventions, seed),
        left | ({"fillers": len(fillers)} if with_fillers else {}),
    )


def _with_nonce(
    sentences: Iterable[Original], words: NonceWords, conventions: Conventions, seed: int
) -> list[AgreementTest]:
    return [
        test
        for original in sentences
        for test in (original.test, *nonce_tests(original, words, conventions.versions, seed))
    ]


def _counts(left: Mapping[str, int]) -> str:
    return "; ".join(f"{name}: {n:,}" for name, n in left.items())
