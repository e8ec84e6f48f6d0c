"""Number in morphological features: read, set, inverted."""

from functools import cache

SINGULAR, PLURAL = "Sing", "Plur"
NUMBERS = (SINGULAR, PLURAL)
_NUMBER = "Number="


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
