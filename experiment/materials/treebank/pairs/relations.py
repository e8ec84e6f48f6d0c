"""Pairs of words that agree, and how reliably each kind of pair agrees in a treebank."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from experiment.materials.treebank.conllu import ROOT, Sentence, Token
from experiment.materials.treebank.pairs.features import (
    AGREEMENT_FEATURES,
    are_compatible,
    parse_features,
)

SUBJECT_VERB, PREDICATE = "subject_verb", "predicate"
ADJECTIVE_NOUN, DETERMINER_NOUN = "adjective_noun", "determiner_noun"
ADPOSITION_NOUN = "adposition_noun"
# The features in which each relation may be broken, and the words that it relates.
RELATIONS = {
    SUBJECT_VERB: (("Number", "Person", "Gender", "NounClass"), "verb and its subject"),
    PREDICATE: (("Number", "Gender", "NounClass"), "predicate and its subject"),
    ADJECTIVE_NOUN: (AGREEMENT_FEATURES, "adjective and its noun"),
    DETERMINER_NOUN: ((*AGREEMENT_FEATURES, "Order"), "determiner and its noun"),
    ADPOSITION_NOUN: (("Order",), "adposition and its noun"),
}
_LEAST_SHARE, _FEWEST = 0.95, 20
_NOMINALS = frozenset({"NOUN", "PROPN", "PRON"})
_NOMINAL_PREDICATES = _NOMINALS | {"NUM", "SYM", "X"}
_VERBS = frozenset({"VERB", "AUX"})
_PEOPLE, _THINGS = frozenset({"Anim", "Hum"}), frozenset({"Inan"})
_DIRECT = frozenset({"Nom", "Abs"})
_DOUBTFUL = ("Typo=Yes", "Foreign=Yes", "Abbr=Yes")


class Kind(NamedTuple):
    """What instances are counted together to see whether they agree.

    Attributes:
        relation: The relation, such as ``subject_verb``.
        cue: The cue's tag.
        target: The target's tag and form of the verb.
        is_after: Whether the target comes after the cue.
        auxiliary: The lemma of a participle's auxiliary.
    """

    relation: str
    cue: str
    target: str
    is_after: bool
    auxiliary: str


@dataclass(frozen=True)
class Instance:
    """Two words of a sentence of which the second, the target, agrees with the first, the cue."""

    sentence: Sentence
    relation: str
    cue: int
    target: int
    predicate: int

    @property
    def cue_token(self) -> Token:
        """The cue."""
        return self.sentence.tokens[self.cue]

    @property
    def target_token(self) -> Token:
        """The target."""
        return self.sentence.tokens[self.target]

    @cached_property
    def kind(self) -> Kind:
        """What this instance is counted with."""
        tokens = self.sentence.tokens
        auxiliary = ""
        if self.relation == PREDICATE:
            helpers = (t for t in tokens if t.head == self.target and t.upos == "AUX")
            auxiliary = next((helper.lemma for helper in helpers), "")
        form = "".join(parse_features(self.target_token.feats).get("VerbForm", ()))
        return Kind(
            self.relation,
            self.cue_token.upos,
            f"{self.target_token.upos} {form}".strip(),
            self.target > self.cue,
            auxiliary,
        )

    @property
    def cue_feats(self) -> str:
        """The cue's features; a noun counts as third person."""
        feats = self.cue_token.feats
        if self.cue_token.upos == "PRON" or "Person=" in feats:
            return feats
        return "Person=3" if feats == "_" else f"{feats}|Person=3"

    def agrees(self, feature: str) -> bool | None:
        """Return whether cue and target agree in a feature; None if one of them is unmarked."""
        cue = parse_features(self.cue_feats).get(feature)
        target = parse_features(self.target_token.feats).get(feature)
        return None if cue is None or target is None else not cue.isdisjoint(target)


class Reliability:
    """How often the instances of each kind agree in each feature, in one treebank."""

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._counts: defaultdict[tuple[Kind, str], Counter[bool]] = defaultdict(Counter)
        self._odd_lemmas: set[tuple[str, str, str]] = set()
        for instance in instances:
            for feature in RELATIONS[instance.relation][0]:
                if (agrees := instance.agrees(feature)) is not None:
                    self._counts[instance.kind, feature][agrees] += 1
                    if not agrees:
                        self._odd_lemmas.add(self._lemma_key(instance, feature))

    def is_reliable(self, instance: Instance, feature: str) -> bool:
        """Return whether instances of this kind agree in a feature nearly always."""
        counts = self._counts[instance.kind, feature]
        return counts.total() >= _FEWEST and counts[True] >= _LEAST_SHARE * counts.total()

    def is_odd(self, instance: Instance, feature: str) -> bool:
        """Return whether the cue's lemma ever disagrees, as collective nouns do."""
        return self._lemma_key(instance, feature) in self._odd_lemmas

    def _lemma_key(self, instance: Instance, feature: str) -> tuple[str, str, str]:
        return instance.relation, instance.cue_token.lemma, feature


def find_instances(sentence: Sentence) -> Iterator[Instance]:
    """Yield the pairs of words of a sentence that may agree."""
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        if token.head == ROOT:
            continue
        head = tokens[token.head]
        relation = token.deprel.partition(":")[0]
        if relation == "nsubj" and token.upos in _NOMINALS:
            yield from _find_verbs(sentence, index)
        elif head.upos == "NOUN" and relation == "amod" and token.upos in ("ADJ", "VERB"):
            yield Instance(sentence, ADJECTIVE_NOUN, token.head, index, index)
        elif head.upos == "NOUN" and relation == "det" and token.upos == "DET":
            yield Instance(sentence, DETERMINER_NOUN, token.head, index, index)


def _find_verbs(sentence: Sentence, subject: int) -> Iterator[Instance]:
    """Yield the subject's pairs with the finite verb, and with its predicate."""
    tokens, head = sentence.tokens, sentence.tokens[subject].head
    helpers = [
        index
        for index, token in enumerate(tokens)
        if token.head == head and token.deprel.partition(":")[0] in ("aux", "cop")
    ]
    finite = next((index for index in [head, *helpers] if _is_finite(tokens[index])), None)
    if finite is not None:
        yield Instance(sentence, SUBJECT_VERB, subject, finite, head)
    is_participle = "Part" in parse_features(tokens[head].feats).get("VerbForm", ())
    if finite != head and (tokens[head].upos == "ADJ" or is_participle):
        yield Instance(sentence, PREDICATE, subject, head, head)


def _is_finite(token: Token) -> bool:
    features = parse_features(token.feats)
    form = features.get("VerbForm")
    return token.upos in _VERBS and (
        "Fin" in form if form else bool({"Number", "Person"} & features.keys())
    )


def find_doubt(instance: Instance, feature: str) -> str:
    """Return why it is uncertain that the target must agree with the cue; empty if it must."""
    tokens, cue, target = instance.sentence.tokens, instance.cue_token, instance.target_token
    dependents = [token for token in tokens if token.head == instance.cue]
    relations = {token.deprel.partition(":")[0] for token in dependents}
    if any(mark in f"{cue.feats}|{target.feats}" for mark in _DOUBTFUL):
        return "a misspelt, foreign or abbreviated word"
    of_target = (token for token in tokens if token.head == instance.target)
    if "conj" in relations | {cue.deprel, target.deprel} or (
        instance.relation not in (SUBJECT_VERB, PREDICATE)
        and any(token.deprel == "conj" for token in of_target)
    ):
        return "coordinated words"
    if cue.upos == "NUM" or any(
        token.upos == "NUM" or "num" in token.deprel or "NumType=" in token.feats
        for token in dependents
        if token is not target
    ):
        return "a numeral"
    if "appos" in relations:
        return "an apposition"
    if instance.relation in (SUBJECT_VERB, PREDICATE):
        return _find_doubt_of_subject(instance, feature, tokens[instance.predicate])
    return ""


def _find_doubt_of_subject(instance: Instance, feature: str, predicate: Token) -> str:
    cue = instance.cue_token
    features = parse_features(cue.feats)
    if instance.target != instance.predicate and predicate.upos in _NOMINAL_PREDICATES:
        return "a noun as the predicate"
    target_case = parse_features(instance.target_token.feats).get("Case", _DIRECT)
    if not features.get("Case", _DIRECT) & _DIRECT or not target_case & (_DIRECT | {"Ins"}):
        return "a subject or predicate in an oblique case"
    if features.get("PronType", frozenset()) & {"Rel", "Int", "Ind", "Tot", "Neg"}:
        return "an indefinite, relative or interrogative pronoun"
    is_polite = "Polite" in features or (
        cue.upos == "PRON" and not features.get("Person", frozenset({"3"})) <= {"3"}
    )
    if instance.relation == PREDICATE and is_polite:
        return "a form of address"
    # Surnames and many nouns for people are of either gender.
    is_person = cue.upos == "PROPN" or features.get("Animacy", _THINGS) & _PEOPLE
    if feature == "Gender" and is_person:
        return "a person of either gender"
    return ""


def drops_subjects(sentences: Iterable[Sentence]) -> bool:
    """Return whether the finite main verbs of a treebank often have no subject."""
    counts = Counter(
        any(t.head == index and t.deprel.startswith(_SUBJECTS) for t in sentence.tokens)
        for sentence in sentences
        for index, token in enumerate(sentence.tokens)
        if token.head == ROOT and _is_finite(token)
    )
    return counts[False] > _DROPPING * counts.total()


_DROPPING = 0.15
_SUBJECTS = ("nsubj", "csubj", "expl")


def could_be_object(instance: Instance, cue_readings: Sequence[str]) -> bool:
    """Return whether the subject could be read as the object of a verb without a subject.

    In languages that drop subjects, the verb's wrong form may have another, unspoken one: Italian
    ``mangia il pollo``, the chicken eats, and ``mangiano il pollo``, they eat the chicken.
    """
    tokens = instance.sentence.tokens
    verb = tokens[instance.predicate]
    if verb.upos != "VERB" or any(
        token.head == instance.predicate and token.deprel.partition(":")[0] == "obj"
        for token in tokens
    ):
        return False
    cases = [parse_features(feats).get("Case") for feats in cue_readings]
    if instance.cue_token.deprel.endswith(":pass"):
        return False
    if "Case" in parse_features(instance.cue_token.feats):
        return any("Acc" in case for case in cases if case)
    return instance.target < instance.cue


def could_have_unspoken_subject(instance: Instance, wrong: str) -> bool:
    """Return whether a verb in another person could have an unspoken subject besides the noun.

    A plural noun fits it ("we, the guests"), and so does a noun after the verb or with a comma.
    """
    cue = parse_features(instance.cue_feats)
    person, wrong_person = cue.get("Person"), parse_features(wrong).get("Person")
    if person is None or wrong_person is None or not person.isdisjoint(wrong_person):
        return False
    is_plural = not {"Plur", "Dual"}.isdisjoint(cue.get("Number", ()))
    between = instance.sentence.tokens[instance.cue : instance.target]
    return (
        instance.target < instance.cue
        or any(token.upos == "PUNCT" for token in between)
        or (is_plural and instance.cue_token.upos != "PRON")
    )


def could_be_subject(instance: Instance, index: int, readings: Sequence[str], wrong: str) -> bool:
    """Return whether another word fits a verb's wrong form and could be its subject.

    German ``schwarze Zahlen schreiben die Sparte`` is no error in agreement: the object has become
    the subject. Without cases, only a word before the verb is read as its subject.

    Args:
        instance: The verb and its subject.
        index: The other word.
        readings: The features that the other word may have.
        wrong: The features of the verb's wrong form.
    """
    token = instance.sentence.tokens[index]
    if token.upos not in _NOMINALS or (token.upos == "PRON" and "Case=" not in token.feats):
        return False
    person = "" if token.upos == "PRON" else "|Person=3"
    fitting = [reading for reading in readings if are_compatible(f"{reading}{person}", wrong)]
    if "Case=" not in token.feats:
        return bool(fitting) and index < instance.target
    return any("Nom" in parse_features(reading).get("Case", ()) for reading in fitting)


def can_do_without_noun(instance: Instance, wrong: str, *, is_pronoun: bool) -> bool:
    """Return whether a determiner's wrong form could be a pronoun instead: Polish "tym", by this.

    Args:
        instance: The determiner and its noun.
        wrong: The features of the wrong form.
        is_pronoun: Whether the wrong form is also a pronoun.
    """
    features, right = parse_features(wrong), parse_features(instance.target_token.feats)
    if features.get("Case") != right.get("Case"):
        return is_pronoun or instance.target > instance.cue
    return is_pronoun and "Neut" in features.get("Gender", ())
