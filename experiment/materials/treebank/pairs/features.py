"""Morphological features: sets of values, agreement in them, and UniMorph's names for them."""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

AGREEMENT_FEATURES = ("Number", "Gender", "Case", "Person", "Animacy", "NounClass")
# What many languages leave unmarked in some numbers, so that its absence is no difference.
_UNMARKED_AT_TIMES = frozenset({"Gender", "Animacy", "NounClass"})
# The features of a lexicon that have no UD name; compared as a whole.
_OTHER = "UniMorph"

Features = Mapping[str, frozenset[str]]


@cache
def parse_features(feats: str) -> Features:
    """Return the values of each feature: ``Gender=Fem,Neut`` has two."""
    pairs = (feature.partition("=") for feature in feats.split("|") if "=" in feature)
    return MappingProxyType({name: frozenset(values.split(",")) for name, _, values in pairs})


@cache
def are_compatible(feats: str, other_feats: str) -> bool:
    """Return whether two words' agreement features have a value in common, where both have any."""
    first, second = parse_features(feats), parse_features(other_feats)
    return all(
        name not in first or name not in second or not first[name].isdisjoint(second[name])
        for name in AGREEMENT_FEATURES
    )


@cache
def differ_only_in(feature: str, feats: str, other_feats: str) -> bool:
    """Return whether two words have different values of one feature, and no other difference."""
    first, second = parse_features(feats), parse_features(other_feats)
    if not first.get(feature, frozenset()) or not second.get(feature, frozenset()):
        return False
    if not first[feature].isdisjoint(second[feature]):
        return False
    for name in (first.keys() | second.keys()) - {feature}:
        if name not in first or name not in second:
            if name not in _UNMARKED_AT_TIMES:
                return False
        elif name not in AGREEMENT_FEATURES:
            if first[name] != second[name]:
                return False
        elif first[name].isdisjoint(second[name]):
            return False
    return True


def keep_agreement(feats: str) -> str:
    """Return the agreement features alone."""
    features = [f for f in feats.split("|") if f.partition("=")[0] in AGREEMENT_FEATURES]
    return "|".join(features) or "_"


_TAGS = {"N": "NOUN", "PROPN": "PROPN", "V": "VERB", "AUX": "AUX", "ADJ": "ADJ", "DET": "DET"}
_TAGS |= {"PRO": "PRON", "ART": "DET", "V.PTCP": "VERB"}
_VALUES = {
    "Number": {"SG": "Sing", "PL": "Plur", "DU": "Dual"},
    "Gender": {"MASC": "Masc", "FEM": "Fem", "NEUT": "Neut"},
    "Person": {"1": "1", "2": "2", "3": "3"},
    "Animacy": {"ANIM": "Anim", "INAN": "Inan", "HUM": "Hum", "NHUM": "Nhum"},
    "Case": {
        "NOM": "Nom", "ACC": "Acc", "GEN": "Gen", "DAT": "Dat", "INS": "Ins", "VOC": "Voc",
        "ABS": "Abs", "ERG": "Erg", "PRT": "Par", "PRTV": "Par", "ESS": "Ess", "TRANS": "Tra",
        "COM": "Com", "PRIV": "Abe", "LOC": "Loc", "ABL": "Abl", "ALL": "All", "INE": "Ine",
        "IN+ESS": "Ine", "IN+ABL": "Ela", "IN+ALL": "Ill", "AT+ESS": "Ade", "AT+ABL": "Abl",
        "AT+ALL": "All", "TERM": "Ter",
    },
}  # fmt: skip
_NAMES = {value: (name, ud) for name, values in _VALUES.items() for value, ud in values.items()}
_NAMES |= {f"BANTU{number}": ("NounClass", f"Bantu{number}") for number in range(1, 24)}
# Newer UniMorph files write the agreement of a verb with its subject as NOM(3,SG,MASC).
_SUBJECT = re.compile(r"\bNOM\(([^)]*)\)")


def features_of_unimorph(features: str) -> tuple[str, str]:
    """Return a UniMorph line's tag and features in the names of UD; an empty tag if unknown.

    Features without a UD name are kept together as the feature ``UniMorph``, so that two forms are
    still known to differ in them.
    """
    values = _SUBJECT.sub(lambda match: match[1].replace(",", ";"), features).split(";")
    tags = [_TAGS[value] for value in values if value in _TAGS]
    pairs: dict[str, str] = {}
    others = []
    for value in values:
        if value in _NAMES:
            name, ud = _NAMES[value]
            pairs[name] = f"{pairs[name]},{ud}" if name in pairs else ud
        elif value not in _TAGS:
            others.append(value)
    if "V.PTCP" in values:
        pairs["VerbForm"] = "Part"
    elif "NFIN" in values:
        pairs["VerbForm"] = "Inf"
    elif "VERB" in tags:
        pairs["VerbForm"] = "Fin"
    if others:
        pairs[_OTHER] = " ".join(sorted(others))
    return (tags[0] if tags else ""), "|".join(f"{n}={v}" for n, v in sorted(pairs.items())) or "_"
