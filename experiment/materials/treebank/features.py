"""Number in morphological features: read, set, inverted; and marked on English verbs."""

from functools import cache

from experiment.materials.treebank.conllu import Sentence

SINGULAR, PLURAL = "Sing", "Plur"
NUMBERS = (SINGULAR, PLURAL)
_NUMBER = "Number="
_VERBS = ("VERB", "AUX")
_SINGULAR_FORMS = frozenset({"am", "'m", "is", "'s", "was"})


@cache
def number_of(feats: str) -> str:
    """Return ``Sing`` or ``Plur``; empty where the features have no number, or another one."""
    for feature in feats.split("|"):
        if feature.startswith(_NUMBER):
            value = feature.removeprefix(_NUMBER)
            return value if value in NUMBERS else ""
    return ""


def opposite(number: str) -> str:
    """Return the other number."""
    return PLURAL if number == SINGULAR else SINGULAR


@cache
def turned(feats: str) -> str:
    """Return features that differ in number alone; empty where they have none to turn over."""
    number = number_of(feats)
    return feats.replace(_NUMBER + number, _NUMBER + opposite(number)) if number else ""


def without(feats: str, *names: str) -> str:
    """Return the features without those of the given names."""
    kept = [feature for feature in feats.split("|") if feature.partition("=")[0] not in names]
    return "|".join(kept) or "_"


def with_number(feats: str, number: str) -> str:
    """Return the features with that number, in alphabetical order as treebanks have them."""
    bare = without(feats, "Number", "_")
    features = [] if bare == "_" else bare.split("|")
    return "|".join(sorted([*features, _NUMBER + number], key=str.lower))


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
