"""Word order: an article or an adposition on the other side of its noun."""

from collections import Counter
from collections.abc import Iterable, Iterator

from experiment.materials.treebank.conllu import ROOT, Sentence, Token
from experiment.materials.treebank.pairs.forms import Forms
from experiment.materials.treebank.pairs.relations import (
    ADPOSITION_NOUN,
    DETERMINER_NOUN,
    Instance,
)

ORDER = "Order"
_RELATIONS = {("case", "ADP"): ADPOSITION_NOUN, ("det", "DET"): DETERMINER_NOUN}
# Nearly all uses of an adposition, and of any article, are on one side of the noun.
_LEAST_SHARE, _FEWEST = 0.995, 20
_MOST_OTHER_TAGS = 0.05
_NOUNS = frozenset({"NOUN", "PROPN"})
# What a word that was moved could belong to instead.
_PHRASES = _NOUNS | {"PRON", "ADJ", "NUM", "DET"}
_VERBS = frozenset({"VERB", "AUX"})


def find_orders(sentence: Sentence) -> Iterator[Instance]:
    """Yield a sentence's nouns, each with an adposition or an article that depends on it."""
    for index, token in enumerate(sentence.tokens):
        relation = _RELATIONS.get((token.deprel.partition(":")[0], token.upos))
        if token.upos == "DET" and "PronType=Art" not in token.feats:
            # Other determiners are not wrong after the noun in many languages, only rare.
            continue
        if relation and token.head != ROOT and sentence.tokens[token.head].upos in _NOUNS:
            yield Instance(sentence, relation, token.head, index, index)


class Orders:
    """On which side of their nouns the words of a treebank are.

    Args:
        instances: The instances that ``find_orders`` yields.
        forms: The forms of the treebank.
    """

    def __init__(self, instances: Iterable[Instance], forms: Forms) -> None:
        self._counts: dict[tuple[str, str], Counter[bool]] = {}
        self._forms = forms
        for instance in instances:
            counts = self._counts.setdefault(_key(instance), Counter())
            counts[instance.target < instance.cue] += 1

    def find_doubt(self, instance: Instance) -> str:
        """Return why the other order may be right too, or cannot be written; empty if neither."""
        if not self._are_fixed(instance):
            return "the words' order is not fixed in the treebank"
        if not self.are_usual(instance):
            return "the words are in the unusual order"
        tokens = instance.sentence.tokens
        first, last = sorted((instance.cue, instance.target))
        parts = tokens[first : last + 1]
        if last != first + 1 or first == 0:
            return "the words are not next to each other, or begin the sentence"
        if any(token.attached or token.form.endswith(("'", "\u2019")) for token in parts) or not (
            parts[0].space_after
        ):
            return "the words are not written apart"
        if self._has_dependents(instance):
            return "several words of one phrase"
        if self._could_move(tokens, instance):
            return "the moved word could belong to another one"
        return ""

    def are_usual(self, instance: Instance) -> bool:
        """Return whether the words' order is fixed in the treebank, and is the one they have."""
        counts = self._counts[_key(instance)]
        is_before = instance.target < instance.cue
        return self._are_fixed(instance) and counts[is_before] == max(counts.values())

    def _are_fixed(self, instance: Instance) -> bool:
        counts = self._counts[_key(instance)]
        return counts.total() >= _FEWEST and max(counts.values()) >= _LEAST_SHARE * counts.total()

    def _has_dependents(self, instance: Instance) -> bool:
        tokens = instance.sentence.tokens
        relation = instance.target_token.deprel.partition(":")[0]
        return any(
            token.head == instance.target
            or (token.head == instance.cue and token.deprel.startswith((relation, "conj")))
            for token in tokens
            if token is not instance.target_token
        )

    def _could_move(self, tokens: tuple[Token, ...], instance: Instance) -> bool:
        """Return whether the moved word meets a phrase that it fits, or has another use."""
        is_before = instance.target < instance.cue
        beyond = instance.cue + 1 if is_before else instance.cue - 1
        neighbour = tokens[beyond].upos if 0 <= beyond < len(tokens) else "PUNCT"
        if neighbour in _PHRASES:
            return True
        if instance.relation == DETERMINER_NOUN:
            # French "la" after "ville" is a pronoun if a verb follows.
            return neighbour in _VERBS
        form = instance.target_token.form.lower()
        return self._forms.share_of_other_tags(form, "ADP") > _MOST_OTHER_TAGS


def _key(instance: Instance) -> tuple[str, str]:
    lemma = instance.target_token.lemma if instance.relation == ADPOSITION_NOUN else ""
    return instance.relation, lemma


def exchange(instance: Instance) -> dict[int, str]:
    """Return the two words in each other's place."""
    return {
        instance.cue: instance.target_token.form,
        instance.target: instance.cue_token.form,
    }
