"""The number of English verbs, which treebanks mark in part only."""

from functools import cache

from experiment.materials.treebank.conllu import Sentence
from experiment.materials.treebank.features import PLURAL, SINGULAR, with_number, without

_VERBS = ("VERB", "AUX")
_SINGULAR_FORMS = frozenset({"am", "'m", "is", "'s", "was"})


def mark_verb_number(sentence: Sentence) -> Sentence:
    """Return the sentence with a number on each finite verb form that shows one, on no other.

    In the present tense the form shows it: XPOS ``VBZ`` is singular, ``VBP`` plural (``am``
    singular). In the past tense only ``was`` and ``were`` show it. ``Person`` is removed, so that
    the two numbers of a form differ in nothing else; number on any other verb form (``I
    walked`` in treebanks that mark its subject's) is removed too.
    """
    tokens = tuple(
        token._replace(feats=_feats(token.feats, token.xpos, token.form.lower()))
        if token.upos in _VERBS
        else token
        for token in sentence.tokens
    )
    return Sentence(tokens, sentence.where)


@cache
def _feats(feats: str, xpos: str, form: str) -> str:
    bare = without(feats, "Number", "Person")
    if xpos == "VBZ" or (xpos in ("VBP", "VBD") and form in _SINGULAR_FORMS):
        return with_number(bare, SINGULAR)
    if xpos == "VBP" or (xpos == "VBD" and form == "were"):
        return with_number(bare, PLURAL)
    return bare
