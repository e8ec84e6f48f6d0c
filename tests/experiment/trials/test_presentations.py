"""What every presentation does, and what the sentence pair shows."""

from dataclasses import replace

import pytest

from experiment.errors import UnknownNameError
from experiment.materials.render import sentence_case
from experiment.records import Item, Kind, Side, Trial, Variant
from experiment.trials.presentations import PRESENTATIONS, load_presentation

ITEM = Item(
    item_id="npi-1",
    kind=Kind.TARGET,
    construction="npi",
    condition="past",
    template="npi",
    features="",
    frame="MS=author",
    context="",
    good="no authors have ever been famous",
    bad="most authors have ever been famous",
    distractor="the authors have ever been famous",
)


def trial(side: Side) -> Trial:
    return Trial(1, ITEM.item_id, Kind.TARGET, side)


@pytest.mark.parametrize("name", [*PRESENTATIONS])
def test_good_stands_where_the_trial_says(name: str):
    present = load_presentation(name)
    first = present(trial(Side.FIRST), ITEM, sentence_case)
    second = present(trial(Side.SECOND), ITEM, sentence_case)
    assert first == second[::-1]
    assert first[0] != first[1]


@pytest.mark.parametrize("name", [*PRESENTATIONS])
def test_the_contrast_decides_what_stands_against_good(name: str):
    present = load_presentation(name)
    intrusive = replace(ITEM, contrast=Variant.DISTRACTOR)
    bad = present(trial(Side.FIRST), ITEM, str)
    distractor = present(trial(Side.FIRST), intrusive, str)
    assert bad[0] == distractor[0]
    assert bad[1] != distractor[1]


def test_a_sentence_pair_is_rendered():
    present = load_presentation("sentence_pair")
    assert present(trial(Side.SECOND), ITEM, sentence_case) == (
        "Most authors have ever been famous.",
        "No authors have ever been famous.",
    )


def test_a_context_begins_both_sentences():
    item = replace(ITEM, context="the author", good="laughs", bad="laugh")
    present = load_presentation("sentence_pair")
    assert present(trial(Side.FIRST), item, sentence_case) == (
        "The author laughs.",
        "The author laugh.",
    )


def test_an_unknown_presentation_answers_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no presentation .*one of: sentence_pair"):
        load_presentation("sentence")
