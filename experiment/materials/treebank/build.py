"""From a treebank to a whole set of agreement tests, with counts at each filter."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from experiment.errors import MaterialsError
from experiment.materials.treebank.agreement_test import AgreementTest
from experiment.materials.treebank.conllu import Sentence
from experiment.materials.treebank.constructions import Extraction, extract
from experiment.materials.treebank.conventions import Conventions
from experiment.materials.treebank.fillers import original_fillers
from experiment.materials.treebank.nonce import NonceWords, nonce_tests
from experiment.materials.treebank.originals import Original, originals
from experiment.materials.treebank.paradigms import Paradigms


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
    found = originals(extraction, paradigms, vocabulary, conventions)
    left = extraction.left | found.left
    if not found.sentences:
        raise MaterialsError(
            f"no sentence can be tested ({_counts(left)})",
            where="the treebank and the vocabulary",
            expected="both forms of the target, and the words from cue to target, known",
            remedy="Give the model's vocabulary with the treebank's capitals, or none",
        )
    used = {original.sentence.where for original in found.sentences}
    fillers = original_fillers(
        (sentence for sentence in sentences if sentence.where not in used),
        len(found.sentences) if with_fillers else 0,
        paradigms,
        vocabulary,
        conventions,
        seed,
    )
    words = NonceWords(paradigms, vocabulary, conventions)
    return TestSet(
        _with_nonce(found.sentences, words, conventions, seed),
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
