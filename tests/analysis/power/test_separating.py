"""How many participants find which of two models is nearer to people."""

from dataclasses import replace
from math import ceil

import pytest
from scipy.stats import norm

from analysis.power.command import count_differing_trials, describe_separating
from experiment.design.lists import build_lists
from experiment.design.separating import Inclusion
from tests.analysis.power.planned_studies import Planned, options
from tests.experiment.design.small_studies import make_items, make_study

PLAN = Planned("sentence_pair", "accuracy", {"a": ("a1", "a2")}, 8, 6, 0.2, 0.75)
ITEMS = list(make_items("pair", {"ITEM": 20}, ("a", "b")))
STUDY = make_study([{"templates": ["pair"], "frames": 8}], lists=2, trials_per_list=8, separate="")
# All four frames on which the models differ are drawn, and a quarter of the sixteen others.
TABLE = [
    *(Inclusion("pair", f"ITEM=item{n}", 1.0, "differ", 1.0, "a; b") for n in range(4)),
    *(Inclusion("pair", f"ITEM=item{n}", 0.0, "agree", 0.25, "a; b") for n in range(4, 20)),
]


def test_trials_on_which_models_differ_are_counted_and_their_answers_shared_out():
    built = build_lists(STUDY, ITEMS, 1, TABLE)
    # A list shows all eight frames once: four differ, against eight times a fifth.
    assert count_differing_trials(built) == pytest.approx((4.0, 1.6))
    answers = (norm.ppf(0.975) + norm.ppf(0.8)) ** 2 * 0.96 / 0.04
    [sentence] = describe_separating(STUDY, built, options(PLAN, 5))
    assert sentence.startswith(
        "Items that separate models: on average 4.0 trials of a session are ones on which two of "
        "the models differ (1.6 if frames were drawn at random). If people choose there what one "
        "of them chooses in 60.0% of independent answers, "
        f"{ceil(answers / 4)} participants show that it is nearer with a power of .80 "
        f"({ceil(answers / 1.6)} participants at random)."
    )
    assert [*describe_separating(STUDY, replace(built, inclusion=()), options(PLAN, 5))] == []
    # Who reads chooses no version.
    read = STUDY.model_copy(update={"response": "self_paced"})
    assert [*describe_separating(read, built, options(PLAN, 5))] == []
