"""An English treebank's sentences: natural counts, in which nothing has to fall back."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from lm.ngram.arpa import write_arpa
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.ngram.model import KenlmScorer, NgramScorer
from tests import published_data
from tests.prerequisites import KENLM


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    treebank = published_data.require(published_data.ENGLISH_WEB_TREEBANK)
    found: list[list[str]] = [[]]
    with gzip.open(treebank, "rt", encoding="utf-8") as file:
        for line in file:
            columns = line.split("\t")
            if len(columns) == 1 and found[-1]:
                found.append([])
            elif columns[0].isdecimal():
                found[-1].append(columns[1].replace(" ", "_"))
            if len(found) > 3_000:
                break
    return found[:-1]


def test_every_order_has_discounts_of_its_own(sentences: list[list[str]]):
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    counted = list(count_ngrams(encode(sentences, vocabulary), vocabulary, 5, 10_000))
    for discounts in estimate(counted, vocabulary).discounts:
        assert discounts.estimated
        assert 0 < discounts.d1 < discounts.d2


def test_kenlm_reads_the_same_probabilities(sentences: list[list[str]], tmp_path: Path):
    KENLM.require()
    known, unseen = sentences[:2_000], sentences[2_000:]
    vocabulary = vocabulary_by_frequency(count_words(known))
    counted = list(count_ngrams(encode(known, vocabulary), vocabulary, 5))
    table = estimate(counted, vocabulary, [0, 0, 1]).table
    write_arpa(table, tmp_path / "model.arpa")
    (tmp_path / "config.json").write_text("{}")
    requests = [("", " ".join(tokens)) for tokens in unseen]
    ours = NgramScorer(table, name="ours", trained_on="the treebank").score(requests)
    theirs = KenlmScorer.load(tmp_path).score(requests)
    for one, other in zip(ours, theirs, strict=True):
        assert one.unknown.tolist() == other.unknown.tolist()
        assert np.allclose(one.logprobs_nats, other.logprobs_nats, rtol=0, atol=1e-5)
