"""Which items are scored, and how each kind of model is given them."""

import pytest

from analysis.scores.scoring_inputs import choose_text_rendering, find_materials
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.baselines.score_table import FixedScorer
from lm.huggingface.load import load_hf
from lm.registry import load_scorer
from tests.analysis import small_run
from tests.lm.blimp_shaped import write_gpt2
from tests.lm.toy_models import TOY_MODELS


@pytest.fixture(scope="module")
def scorers(tmp_path_factory):
    """A model with its own tokenizer, one of cased words and one of lower-case words."""
    folder = tmp_path_factory.mktemp("models")
    TOY_MODELS["unigram"][1](folder / "unigram")
    cased = FixedScorer({("", "The cat"): (-1.0,)}, name="t", trained_on="x", source="here")
    return load_hf(str(write_gpt2(folder / "gpt2"))), cased, load_scorer(folder / "unigram")


def renderings(found, scorers):
    return [found.given_to(scorer).rendering for scorer in scorers]


def test_the_model_decides_how_it_is_given_a_file(tmp_path, scorers):
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")
    found = find_materials(str(tmp_path / "items.csv"))
    assert renderings(found, scorers) == ["as_written", "as_written", "split_lower_case_tokens"]


def test_words_with_capitals_are_given_to_models_that_know_them(scorers):
    texts = [choose_text_rendering(scorer)("Is Ann here?") for scorer in scorers]
    assert texts == ["Is Ann here?", "Is Ann here ?", "is ann here ?"]


def test_a_study_decides_for_models_of_words_and_people_for_the_others(scorers):
    found = find_materials("minimal")
    assert renderings(found, scorers) == ["sentence_case", *["lower_case_tokens"] * 2]


def test_a_rendering_that_is_asked_for_is_every_models(scorers):
    found = find_materials("minimal", "cased_tokens")
    assert renderings(found, scorers) == ["cased_tokens"] * 3


@pytest.mark.parametrize("name", TOY_MODELS)
def test_every_model_of_lower_case_words_knows_itself_as_such(tmp_path, name):
    TOY_MODELS[name][1](tmp_path / "model")
    scorer = load_scorer(tmp_path / "model")
    assert not getattr(scorer, "cased", False)
