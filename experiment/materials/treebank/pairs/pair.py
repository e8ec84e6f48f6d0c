"""A minimal pair: a sentence of a treebank, and how it becomes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass

from experiment.materials.treebank.pairs.features import parse_features
from experiment.materials.treebank.pairs.order import ORDER
from experiment.materials.treebank.pairs.relations import RELATIONS, Instance


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence, and how it becomes wrong.

    Attributes:
        instance: The two words that are related.
        feature: What is wrong: a feature, or the order of the words.
        changes: The new form at each place that changes.
        right: The right value, such as ``Masc``.
        wrong: The wrong value.
    """

    instance: Instance
    feature: str
    changes: Mapping[int, str]
    right: str
    wrong: str

    @property
    def construction(self) -> str:
        """The construction's name."""
        return f"{self.instance.relation}_{self.feature.lower()}"

    @property
    def rule(self) -> str:
        """The rule in words, without saying which of the two sentences breaks it."""
        return f"{self.feature} of the {RELATIONS[self.instance.relation][1]}"

    @property
    def change(self) -> str:
        """What was changed: ``Masc to Fem``."""
        return f"{self.right} to {self.wrong}"

    @property
    def attractors(self) -> int:
        """The words between cue and target with the cue's tag and another value."""
        if self.feature == ORDER:
            return 0
        first, last = sorted((self.instance.cue, self.instance.target))
        cue = parse_features(self.instance.cue_feats)[self.feature]
        between = self.instance.sentence.tokens[first + 1 : last]
        return sum(
            token.upos == self.instance.cue_token.upos
            and cue.isdisjoint(parse_features(token.feats).get(self.feature, cue))
            for token in between
        )
