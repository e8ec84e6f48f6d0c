"""Surprisals by region: each token in the region in which it begins."""

import numpy as np
import pytest

from lm.baselines.score_table import FixedScorer
from lm.huggingface.load import load_hf
from lm.surprisal import region_surprisals, surprisals
from tests.lm.blimp_shaped import write_gpt2


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    return load_hf(str(write_gpt2(tmp_path_factory.mktemp("gpt2"))))


def test_a_model_of_words_gives_each_region_its_words():
    table = {("", "the key to it is ."): (-1.0, -2.0, -3.0, -4.0, -5.0, -6.0)}
    scorer = FixedScorer(table, name="t", trained_on="x", source="here")
    (found,) = region_surprisals(scorer, [["the key", "", "to it", "is", "."]])
    assert [region.tolist() for region in found] == [[1, 2], [], [3, 4], [5], [6]]


def test_a_model_of_subwords_gives_each_region_the_tokens_that_begin_in_it(gpt2):
    regions = ["The cat near", "", "Tim's senators", "swim every day", "."]
    (found,) = region_surprisals(gpt2, [regions])
    (pieces,) = surprisals(gpt2, [[text for text in regions if text]], correct=False)
    sums = [float(region.sum()) for region in found]
    assert sums[1] == 0
    np.testing.assert_allclose(
        [sums[0], *sums[2:]], [piece.surprisal_nats for piece in pieces], rtol=1e-6
    )


def test_a_space_that_is_a_token_belongs_to_what_it_stands_before(gpt2):
    (ends,) = [gpt2.token_ends("The cat .")]
    (found,) = region_surprisals(gpt2, [["The cat", "."]])
    assert ends[-2] > len("The cat") - 1 and found[1].size == 2
