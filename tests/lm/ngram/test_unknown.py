"""Words outside the vocabulary: counted as <unk> as by SRILM, or left out as by lmplz."""

import itertools
import math

import numpy as np
import pytest
from click.testing import CliRunner

from lm.commands.train import train
from lm.ngram.arpa import read_arpa
from lm.ngram.independent import logprobs_again
from lm.ngram.model import NgramScorer
from lm.registry import load_scorer

TEXT = """the cat sleeps
the cats sleep
a cat sees the cats
the cat sees
the dog sees a bird
the dogs see the birds
a bird sings
"""
# What `lmplz -o 2 --discount_fallback --limit_vocab_file VOCABULARY` (KenLM 4cb443e) gave, with
# VOCABULARY "the a cat cats sees bird", the words that occur more than once.
LMPLZ = {
    "<unk>": (-1.0362122, 0.0),
    "<s>": (0.0, -0.44715804),
    "</s>": (-0.59859943, 0.0),
    "the": (-1.0362122, -0.14612803),
    "cat": (-0.93554205, -0.17609124),
    "cats": (-0.9665763, -0.12493875),
    "a": (-0.93554205, -0.30103),
    "sees": (-0.93554205, -0.30103),
    "bird": (-0.9665763, -0.12493875),
    "cats </s>": (-0.35753548, 0.0),
    "sees </s>": (-0.53362674, 0.0),
    "bird </s>": (-0.35753548, 0.0),
    "<s> the": (-0.27338922, 0.0),
    "sees the": (-0.6723006, 0.0),
    "the cat": (-0.6464409, 0.0),
    "a cat": (-0.64846134, 0.0),
    "the cats": (-0.65757734, 0.0),
    "<s> a": (-0.73450834, 0.0),
    "sees a": (-0.64846134, 0.0),
    "cat sees": (-0.38651055, 0.0),
    "a bird": (-0.41191512, 0.0),
}


def trained(folder, *options):
    (folder / "text.txt").write_text(TEXT)
    arguments = ["--type", "ngram", "--order", "2", "--min-count", "2", *options]
    result = CliRunner().invoke(
        train,
        [*arguments, "--text", str(folder / "text.txt"), "--out", str(folder / "model")],
        catch_exceptions=False,
    )
    assert result.exit_code == 0, result.output
    return read_arpa(folder / "model" / "model.arpa")


def ngrams(table):
    unigrams, bigrams = table.levels
    values = zip(unigrams.logprobs_log10, unigrams.backoffs_log10, strict=True)
    found = {(word,): value for word, value in zip(table.words, values, strict=True)}
    for key, logprob in zip(bigrams.keys, bigrams.logprobs_log10, strict=True):
        found[table.words[key // len(table.words)], table.words[key % len(table.words)]] = (
            logprob,
            0.0,
        )
    return found


def test_left_out_words_leave_what_lmplz_leaves(tmp_path):
    ours = ngrams(trained(tmp_path, "--unknown", "lmplz"))
    assert {" ".join(words) for words in ours} == LMPLZ.keys()
    for words, (logprob, backoff) in ours.items():
        # lmplz writes 0 for <s>, which is never predicted.
        expected = LMPLZ[" ".join(words)]
        assert words == ("<s>",) or logprob == pytest.approx(expected[0], abs=2e-6)
        assert backoff == pytest.approx(expected[1], abs=2e-6)


def test_counted_unknown_words_are_a_word_like_any_other(tmp_path):
    table = trained(tmp_path)
    found = ngrams(table)
    # "the dog sees" and "the dogs see": <unk> was seen after "the" and before "sees".
    assert ("the", "<unk>") in found and ("<unk>", "sees") in found
    left_out = ngrams(trained(tmp_path, "--unknown", "lmplz"))
    assert not any("<unk>" in words for words in left_out if len(words) == 2)
    assert found["<unk>",][0] > left_out["<unk>",][0] + 0.3


@pytest.mark.parametrize("unknown", ["srilm", "lmplz"])
def test_probabilities_sum_to_1_after_every_context(tmp_path, unknown):
    table = trained(tmp_path, "--unknown", unknown)
    scorer = load_scorer(tmp_path / "model")
    words = [word for word in table.words if word != "<s>"]
    for context in ["", "the", "a cat", "sees zebra"]:
        scores = scorer.score([(context, word) for word in words])
        assert sum(np.exp(score.logprobs_nats[0]) for score in scores) == pytest.approx(1, abs=1e-5)


def test_a_whole_vocabulary_makes_the_two_the_same(tmp_path):
    both = [trained(tmp_path, "--min-count", "1", "--unknown", one) for one in ("srilm", "lmplz")]
    for one, other in itertools.pairwise(map(ngrams, both)):
        assert one == other


CAPITAL = """\\data\\
ngram 1=7
ngram 2=5

\\1-grams:
-1.2\t<UNK>\t-0.2
-99\t<s>\t-0.5
-0.9\t</s>
-0.8\tthe\t-0.3
-1.0\tdog\t-0.25
-1.1\tdogs\t-0.25
-1.3\tbark\t-0.1

\\2-grams:
-0.3\t<s> the
-0.6\tthe dog
-0.5\tthe dogs
-0.4\tdogs bark
-0.7\tbark </s>

\\end\\
"""


@pytest.mark.parametrize("spelt", ["<unk>", "<UNK>", "<Unk>"])
def test_the_unknown_word_of_a_file_may_be_written_in_any_case(tmp_path, spelt):
    (tmp_path / "model.arpa").write_text(CAPITAL.replace("<UNK>", spelt))
    (tmp_path / "config.json").write_text('{"type": "ngram", "name": "small"}')
    scorer = NgramScorer.load(tmp_path)
    assert not scorer.cased
    (scores,) = scorer.score([("", "the dogs zzz")])
    # -0.3 for "<s> the", -0.5 for "the dogs", and the back-off of "dogs" with the unknown word.
    assert scores.logprobs_nats.sum() == pytest.approx((-0.3 - 0.5 - 0.25 - 1.2) * math.log(10))
    (again,) = logprobs_again(str(tmp_path), ["the dogs zzz"])
    assert again == pytest.approx(scores.logprobs_nats)
