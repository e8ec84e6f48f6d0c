"""Creation of agreement tests, nonce sentences and fillers from a treebank, with filter counts."""

import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiment.errors import MaterialsError, why_unread
from experiment.materials.treebank.agreement_test import CONTROL, FILLER, AgreementTest
from experiment.materials.treebank.conllu import Sentence, Token, number_of
from experiment.materials.treebank.constructions import Conventions, Extraction, extract
from experiment.materials.treebank.originals import (
    FirstLetter,
    Original,
    Paradigms,
    WordClass,
    best_opposite,
    class_of,
    describe_first_letter,
    originals,
)
from experiment.records import Kind
from experiment.seeds import generator

CONTENT = frozenset({"NOUN", "VERB", "ADJ", "PROPN", "NUM", "ADV"})
_LEAST_USES = 2

WordPlace = tuple[WordClass, FirstLetter]
FormPair = tuple[str, str, str]


class NonceWords:
    """The words of a treebank that may replace other words.

    A form qualifies if it is used more than once with its tag and features, is rarely used with
    another tag, and is in the vocabulary.

    Args:
        paradigms: The treebank's words.
        vocabulary: The words that a model knows; only these are used as replacements.
        conventions: Which words may replace which.
    """

    def __init__(
        self, paradigms: Paradigms, vocabulary: Container[str], conventions: Conventions
    ) -> None:
        self._conventions = conventions
        self._words: dict[WordPlace, list[str]] = {}
        for entry, forms in paradigms.by_entry.items():
            if entry.upos not in CONTENT:
                continue
            for form in sorted(forms):
                share = paradigms.other_pos_share(form, entry.upos)
                is_frequent_enough = (
                    forms[form] >= _LEAST_USES and share <= conventions.other_pos_share
                )
                if is_frequent_enough and form in vocabulary:
                    self._words.setdefault((entry, describe_first_letter(form)), []).append(form)
        self._pairs = self._collect_pairs(paradigms)

    def _collect_pairs(self, paradigms: Paradigms) -> dict[WordPlace, list[FormPair]]:
        """Return pairs of qualifying forms that begin alike: (form, other, lemma)."""
        usable = {(entry, form) for (entry, _), forms in self._words.items() for form in forms}
        pairs: dict[WordPlace, list[FormPair]] = {}
        for (lemma, entry), forms in paradigms.by_lemma.items():
            for form in (form for form in forms if (entry, form) in usable):
                for opposite_form in paradigms.opposite_forms(form, lemma, entry):
                    same_first_letter = describe_first_letter(
                        opposite_form
                    ) == describe_first_letter(form)
                    if same_first_letter and (entry.opposite_number, opposite_form) in usable:
                        pairs.setdefault((entry, describe_first_letter(form)), []).append(
                            (form, opposite_form, lemma)
                        )
                        break
        return {place: sorted(of_place) for place, of_place in pairs.items()}

    def word(self, token: Token, rng: random.Random) -> str:
        """Return a replacement for a word, or the word itself if no other word qualifies."""
        words = self._words.get(self._place(token), [])
        candidates = self._list_other_words(words, token.form)
        return rng.choice(candidates) if candidates else token.form

    def pair(self, token: Token, bad: str, rng: random.Random) -> FormPair:
        """Return a replacement for a target: (form, form of the other number, lemma).

        If no pair qualifies, return the target itself, with ``bad``.
        """
        pairs = self._pairs.get(self._place(token), [])
        if self._conventions.replaced_by_another:
            pairs = [pair for pair in pairs if pair[0] != token.form] or pairs
        return rng.choice(pairs) if pairs else (token.form, bad, token.lemma)

    def _place(self, token: Token) -> WordPlace:
        entry = class_of(token)
        if not self._conventions.attached_alike:
            entry = entry._replace(attached="")
        return entry, describe_first_letter(token.form)

    def _list_other_words(self, words: list[str], form: str) -> list[str]:
        if not self._conventions.replaced_by_another:
            return words
        return [word for word in words if word != form]


def nonce_tests(
    original: Original, words: NonceWords, versions: int, seed: int
) -> Iterator[AgreementTest]:
    """Yield nonce versions of a test sentence, numbered from 1, reproducible by the seed.

    Every content word of the sentence is replaced if a replacement qualifies; function words and
    punctuation are kept. Cue and target keep their number, which preserves the agreement.
    """
    original_test = original.test
    for version in range(1, versions + 1):
        rng = generator(seed, "nonce", original_test.construction, original_test.instance, version)
        forms = [
            words.word(token, rng) if token.upos in CONTENT else token.form
            for token in original.sentence.tokens
        ]
        target = original.sentence.tokens[original_test.target]
        good, bad, lemma = words.pair(target, original_test.bad, rng)
        forms[original_test.target] = good
        yield replace(
            original_test, version=version, words=tuple(forms), good=good, bad=bad, lemma=lemma
        )


class AnyWord:
    """A vocabulary that contains every word, used if no model's vocabulary is given."""

    def __contains__(self, _word: object) -> bool:
        return True


def read_vocabulary(path: Path | None) -> Container[str]:
    """Return the words in a file, one per line; without a file, every word.

    Text after white space on a word's line is ignored.

    Raises:
        MaterialsError: The file is missing, not text, or empty.
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
    """Return random sentences, each cut at a random content word with a known other number.

    A filler is a control, on which attentive participants make no errors, if a word before the
    target shows the target's number: a determiner that depends on the target. Nonce sentences keep
    it. Controls and other fillers alternate as far as the sentences allow.

    Args:
        sentences: The sentences to draw from, in order.
        number: The number of fillers; fewer are returned if the treebank has too few.
        paradigms: The treebank's words.
        vocabulary: The words that a model knows; must contain the whole prefix and both forms.
        conventions: How the other form is chosen.
        seed: Determines the sentences and the words.
    """
    rng = generator(seed, "fillers")
    shuffled_sentences = list(sentences)
    rng.shuffle(shuffled_sentences)
    counts = {FILLER: 0, CONTROL: 0}
    fillers: list[Original] = []
    for sentence in shuffled_sentences:
        if len(fillers) == number:
            break
        if choices := list(_list_cut_positions(sentence, paradigms, vocabulary, conventions)):
            target, bad = _choose_cut_position(
                choices, sentence.tokens, counts[CONTROL] <= counts[FILLER], rng
            )
            label = CONTROL if _is_clear(sentence.tokens, target) else FILLER
            fillers.append(
                Original(_make_filler(label, counts[label], sentence, target, bad), sentence)
            )
            counts[label] += 1
    return fillers


def _list_cut_positions(
    sentence: Sentence,
    paradigms: Paradigms,
    vocabulary: Container[str],
    conventions: Conventions,
) -> Iterator[tuple[int, str]]:
    """Yield the positions at which a sentence may be cut, with each word's other-number form."""
    for index, token in enumerate(sentence.tokens):
        if token.form not in vocabulary:
            return
        if index < _LEAST_PREFIX_WORDS or token.upos not in CONTENT or not number_of(token.feats):
            continue
        forms = paradigms.opposite_forms(token.form, token.lemma, class_of(token))
        if bad := best_opposite(token.form, forms, vocabulary, conventions):
            yield index, bad


def _choose_cut_position(
    choices: Sequence[tuple[int, str]],
    tokens: Sequence[Token],
    want_clear: bool,
    rng: random.Random,
) -> tuple[int, str]:
    suitable = [choice for choice in choices if _is_clear(tokens, choice[0]) == want_clear]
    return rng.choice(suitable or choices)


def _is_clear(tokens: Sequence[Token], target: int) -> bool:
    number = number_of(tokens[target].feats)
    return any(
        token.upos == "DET" and token.head == target and number_of(token.feats) == number
        for token in tokens[:target]
    )


def _make_filler(
    label: str, number: int, sentence: Sentence, target: int, bad: str
) -> AgreementTest:
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
        fillers: The fillers with their nonce sentences; empty if not requested.
        remaining: The number of remaining cases after each filter.
    """

    __test__ = False

    targets: list[AgreementTest]
    fillers: list[AgreementTest]
    remaining: dict[str, int]


def constructions_of(sentences: Iterable[Sentence], conventions: Conventions) -> Extraction:
    """Return the constructions of a treebank.

    Raises:
        MaterialsError: No words are marked for number, or there is no construction.
    """
    extraction = extract(sentences, conventions)
    if not extraction.remaining["dependencies between words marked for number"]:
        raise MaterialsError(
            f"no two words that depend on each other are both marked for number "
            f"({_format_counts(extraction.remaining)})",
            where="the treebank",
            expected="Number=Sing and Number=Plur among the features",
            remedy="For an English treebank, mark the verbs' number with --english",
        )
    if not extraction.constructions:
        raise MaterialsError(
            f"no construction agrees in number ({_format_counts(extraction.remaining)})",
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
    """Return original and nonce tests of every construction, reproducible by the seed.

    Args:
        sentences: The treebank.
        vocabulary: The words that a model knows.
        conventions: The conventions of the paper or of the published code.
        seed: Determines the nonce words and the fillers.
        with_fillers: Whether to make as many fillers as there are targets.

    Raises:
        MaterialsError: There is no construction, or no sentence that can be tested.
    """
    extraction = constructions_of(sentences, conventions)
    paradigms = Paradigms(sentences)
    tested = originals(extraction, paradigms, vocabulary, conventions)
    counts = extraction.remaining | tested.remaining
    if not tested.sentences:
        raise MaterialsError(
            f"no sentence can be tested ({_format_counts(counts)})",
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
        _add_nonce_tests(tested.sentences, words, conventions, seed),
        _add_nonce_tests(fillers, words, conventions, seed),
        counts | ({"fillers": len(fillers)} if with_fillers else {}),
    )


def _add_nonce_tests(
    sentences: Iterable[Original], words: NonceWords, conventions: Conventions, seed: int
) -> list[AgreementTest]:
    return [
        test
        for original in sentences
        for test in (original.test, *nonce_tests(original, words, conventions.versions, seed))
    ]


def _format_counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{name}: {n:,}" for name, n in counts.items())
