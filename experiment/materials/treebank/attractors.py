"""Words between cue and target that look like a cue of the other number."""

from collections.abc import Sequence

from experiment.materials.treebank.conllu import Token
from experiment.materials.treebank.conventions import Conventions
from experiment.materials.treebank.features import number_of, opposite
from experiment.materials.treebank.paradigms import Paradigms

_LEAST_SHARE_OF_COMMONEST = 0.1


def count_attractors(
    tokens: Sequence[Token],
    cue: int,
    target: int,
    paradigms: Paradigms,
    conventions: Conventions,
) -> int:
    """Return how many words between have the cue's part of speech and the other number."""
    upos, other = tokens[cue].upos, opposite(number_of(tokens[cue].feats))
    between = tokens[cue + 1 : target]
    if conventions.attractors_by_reading:
        return sum(_may_be(token.form, upos, other, paradigms) for token in between)
    return sum(token.upos == upos and number_of(token.feats) == other for token in between)


def _may_be(form: str, upos: str, number: str, paradigms: Paradigms) -> bool:
    """Return whether a reading with that tag and number is a tenth as frequent as any other."""
    readings = paradigms.readings[form]
    least = _LEAST_SHARE_OF_COMMONEST * max(readings.values())
    return any(
        tag == upos and number_of(feats) == number and n >= least
        for (tag, feats), n in readings.items()
    )
