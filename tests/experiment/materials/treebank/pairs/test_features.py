"""Differences between the features of two forms, and UniMorph's names for features."""

import pytest

from experiment.materials.treebank.pairs.features import (
    are_compatible,
    differ_only_in,
    features_of_unimorph,
)


@pytest.mark.parametrize(
    ("feature", "one", "other", "is_so"),
    [
        ("Number", "Number=Sing|Person=3", "Number=Plur|Person=3", True),
        ("Number", "Number=Sing|Person=3", "Number=Plur|Person=1", False),
        ("Number", "Number=Sing|Tense=Past", "Number=Plur|Tense=Pres", False),
        # Russian verbs in the past, German articles: no gender in the plural.
        ("Number", "Gender=Fem|Number=Sing", "Number=Plur", True),
        ("Number", "Number=Sing|Tense=Past", "Number=Plur", False),
        ("Gender", "Gender=Fem,Neut", "Gender=Neut", False),
        ("Gender", "Gender=Masc", "Number=Sing", False),
    ],
)
def test_one_feature_differs_and_nothing_else(feature: str, one: str, other: str, is_so: bool):
    assert differ_only_in(feature, one, other) is is_so


def test_unmarked_features_are_compatible():
    assert are_compatible("Gender=Fem|Number=Sing", "Number=Sing,Plur|Case=Nom")
    assert not are_compatible("Gender=Fem|Number=Sing", "Gender=Masc|Number=Sing")


@pytest.mark.parametrize(
    ("unimorph", "tag", "feats"),
    [
        ("V;3;SG;PST;MASC", "VERB", "Gender=Masc|Number=Sing|Person=3|UniMorph=PST|VerbForm=Fin"),
        ("V;PST;NOM(3,SG,MASC)", "VERB",
         "Gender=Masc|Number=Sing|Person=3|UniMorph=PST|VerbForm=Fin"),
        ("N;IN+ESS;PL", "NOUN", "Case=Ine|Number=Plur"),
        ("ADJ;MASC;FEM;SG", "ADJ", "Gender=Masc,Fem|Number=Sing"),
        ("NFIN;V", "VERB", "UniMorph=NFIN|VerbForm=Inf"),
    ],
)  # fmt: skip
def test_unimorph_features_get_their_ud_names(unimorph: str, tag: str, feats: str):
    assert features_of_unimorph(unimorph) == (tag, feats)
