"""The estimator against the formulas, written out slowly and independently here."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm.corpora.text import count_words, encode
from lm.corpora.vocab import vocabulary_by_frequency
from lm.errors import LmError
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import FALLBACK_DISCOUNTS, Estimate, estimate, estimate_discounts
from lm.ngram.model import NgramScorer

TOY = [line.split() for line in ("a b c", "a b", "b c a", "c", "d a b b c", "a b")]


class Reference:
    """Interpolated modified Kneser-Ney, one probability at a time (Chen & Goodman 1998)."""

    def __init__(self, sentences: list[list[str]], order: int, prune: list[int] | None = None):
        self.order = order
        self.prune = prune or [0] * order
        padded = [["<s>", *tokens, "</s>"] for tokens in sentences]
        self.vocabulary = {word for tokens in padded for word in tokens} - {"<s>"} | {"<unk>"}
        self.raw = {n: self._grams(padded, n) for n in range(1, order + 1)}
        self.adjusted = {n: self._adjusted(padded, n) for n in range(1, order + 1)}
        self.discounts = {n: self._discounts(counts) for n, counts in self.adjusted.items()}
        self.after: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
        for counts in self.adjusted.values():
            for gram, count in counts.items():
                self.after[gram[:-1]][gram[-1]] = count

    def _grams(self, padded: list[list[str]], n: int) -> Counter[tuple[str, ...]]:
        grams = (tuple(s[i : i + n]) for s in padded for i in range(len(s) - n + 1))
        return Counter(gram for gram in grams if gram != ("<s>",))

    def _adjusted(self, padded: list[list[str]], n: int) -> dict[tuple[str, ...], int]:
        raw = self._grams(padded, n)
        if n == self.order:
            return dict(raw)
        left = Counter(gram[1:] for gram in self._grams(padded, n + 1))
        return {gram: raw[gram] if gram[0] == "<s>" else left[gram] for gram in raw}

    def _discounts(self, counts: dict[tuple[str, ...], int]) -> tuple[float, ...]:
        n1, n2, n3, n4 = (list(counts.values()).count(j) for j in (1, 2, 3, 4))
        if n1 and n2 and n3:
            y = n1 / (n1 + 2 * n2)
            found = 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
            if all(0 <= d <= j for j, d in enumerate(found, start=1)):
                return 0.0, *found
        return 0.0, 0.5, 1.0, 1.5

    def probability(self, word: str, context: tuple[str, ...]) -> float:
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        counts = self.after.get(context, {})
        if not counts:
            assert context, "the empty context is always seen"
            return self.probability(word, context[1:])
        total = sum(counts.values())
        freed = sum(self._freed(context, other) for other in counts) / total
        lower = self.probability(word, context[1:]) if context else 1 / len(self.vocabulary)
        own = counts[word] - self._freed(context, word) if word in counts else 0
        return own / total + freed * lower

    def _freed(self, context: tuple[str, ...], word: str) -> float:
        """What an n-gram's adjusted count is lowered by: all of it where it is pruned."""
        order, count = len(context) + 1, self.after[context][word]
        if self.raw[order][(*context, word)] <= self.prune[order - 1]:
            return count
        return self.discounts[order][min(count, 3)]


def estimated(sentences: list[list[str]], order: int, prune: Sequence[int] = ()) -> Estimate:
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    counted = list(count_ngrams(encode(sentences, vocabulary), vocabulary, order))
    return estimate(counted, vocabulary, prune)


def scorer(sentences: list[list[str]], order: int, prune: Sequence[int] = ()) -> NgramScorer:
    table = estimated(sentences, order, prune).table
    return NgramScorer(table, name="toy", trained_on="toy text")


def assert_equal_to_reference(
    sentences: list[list[str]], order: int, contexts: list[str], prune: list[int] | None = None
):
    reference = Reference(sentences, order, prune)
    model = scorer(sentences, order, prune or ())
    for context in contexts:
        words = sorted(reference.vocabulary)
        scores = model.score([(context, word) for word in words])
        known = reference.vocabulary
        history = ("<s>", *(w if w in known else "<unk>" for w in context.split()))
        for word, score in zip(words, scores, strict=True):
            expected = math.log(reference.probability(word, history))
            # Up to three logarithms of seven decimals are added.
            assert score.logprobs_nats[0] == pytest.approx(expected, abs=5e-7), (context, word)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_a_toy_text_gets_the_probabilities_of_the_formulas(order: int):
    contexts = ["", "a", "a b", "b b c", "d a b b", "c </s>", "never seen", "a b never"]
    assert_equal_to_reference(TOY, order, contexts)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_a_larger_text_gets_the_probabilities_of_the_formulas(
    zipfian_sentences: list[list[str]], order: int
):
    contexts = ["", "w1", "w2 w1", "w1 w1 w3", "w198 w5", " ".join(zipfian_sentences[0])]
    assert_equal_to_reference(zipfian_sentences, order, contexts)


@pytest.mark.parametrize("prune", [[0, 0, 1], [0, 1, 2], [0, 2, 2], [0, 0, 9999], [0, 9999, 9999]])
def test_pruned_ngrams_hand_down_their_whole_count(
    zipfian_sentences: list[list[str]], prune: list[int]
):
    contexts = ["", "w1", "w2 w1", "w1 w1", " ".join(zipfian_sentences[0])]
    assert_equal_to_reference(zipfian_sentences, 3, contexts, prune)


def test_a_pruned_model_holds_only_what_is_frequent(zipfian_sentences: list[list[str]]):
    whole = estimated(zipfian_sentences, 3)
    pruned = estimated(zipfian_sentences, 3, [0, 1])
    assert pruned.discounts == whole.discounts
    sizes = [level.keys.size for level in pruned.table.levels]
    reference = Reference(zipfian_sentences, 3)
    frequent = [sum(count > 1 for count in reference.raw[n].values()) for n in (2, 3)]
    assert sizes[1:] == frequent
    assert sizes[0] == whole.table.levels[0].keys.size


@pytest.mark.parametrize("prune", [[1], [0, 2, 1], [1, 1, 1]])
def test_thresholds_that_would_leave_gaps_are_refused(prune: list[int]):
    with pytest.raises(LmError, match="n-grams cannot be pruned by"):
        estimated(TOY, 3, prune)


@pytest.mark.parametrize("tokens_at_a_time", [1, 7, 64, 500])
def test_a_text_counted_in_portions_has_the_same_counts(
    zipfian_sentences: list[list[str]], tokens_at_a_time: int
):
    sentences = zipfian_sentences[:20] if tokens_at_a_time < 9 else zipfian_sentences
    vocabulary = vocabulary_by_frequency(count_words(sentences))
    text = encode(sentences, vocabulary)
    whole = count_ngrams(text, vocabulary, 4)
    chunks = count_ngrams(text, vocabulary, 4, tokens_at_a_time)
    for one, other in zip(whole, chunks, strict=True):
        assert np.array_equal(one.keys, other.keys)
        assert np.array_equal(one.suffixes, other.suffixes)
        assert np.array_equal(one.counts, other.counts)
        assert np.array_equal(one.starts_sentence, other.starts_sentence)


def test_a_model_estimated_by_stretches_of_ngrams_is_the_same(
    zipfian_sentences: list[list[str]], monkeypatch: pytest.MonkeyPatch
):
    whole = estimated(zipfian_sentences, 4, [0, 0, 1]).table
    monkeypatch.setattr("lm.ngram.estimate._NGRAMS_AT_A_TIME", 50)
    parts = estimated(zipfian_sentences, 4, [0, 0, 1]).table
    for one, other in zip(whole.levels, parts.levels, strict=True):
        assert np.array_equal(one.logprobs_log10, other.logprobs_log10)
        assert np.array_equal(one.backoffs_log10, other.backoffs_log10)


def test_discounts_worked_out_by_hand():
    # Four n-grams occur once, two twice, one three times, one four times: Y = 4 / (4 + 2*2) = 1/2,
    # D1 = 1 - 2 * 1/2 * 2/4, D2 = 2 - 3 * 1/2 * 1/2, D3+ = 3 - 4 * 1/2 * 1/1.
    found = estimate_discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4]))
    assert (found.d1, found.d2, found.d3plus) == (0.5, 1.25, 1.0)
    assert found.estimated
    assert found.of(np.array([0, 1, 2, 3, 4, 9])).tolist() == [0, 0.5, 1.25, 1, 1, 1]


def test_an_unpruned_order_of_probabilities_worked_out_by_hand():
    # One-word sentences: 15 words and 15 ends, so the counts are 4 3 2 2 1 1 1 1 and 15, whose
    # discounts are 1/2, 5/4 and 1.
    counts = {"a": 4, "b": 3, "c": 2, "d": 2, "e": 1, "f": 1, "g": 1, "h": 1}
    sentences = [[word] for word, count in counts.items() for _ in range(count)]
    freed = (4 * 0.5 + 2 * 1.25 + 3 * 1.0) / 30
    expected = {
        "a": (4 - 1) / 30 + freed / 10,
        "c": (2 - 1.25) / 30 + freed / 10,
        "e": (1 - 0.5) / 30 + freed / 10,
        "</s>": (15 - 1) / 30 + freed / 10,
        "zebra": freed / 10,
    }
    model = scorer(sentences, 1)
    for word, probability in expected.items():
        [scores] = model.score([("", word)])
        assert math.exp(scores.logprobs_nats[0]) == pytest.approx(probability, rel=1e-6)


def test_a_larger_text_has_discounts_of_its_own(zipfian_sentences: list[list[str]]):
    discounts = estimated(zipfian_sentences, 2).discounts
    assert all(d.estimated for d in discounts)
    reference = Reference(zipfian_sentences, 2)
    for order, d in enumerate(discounts, start=1):
        assert (0.0, d.d1, d.d2, d.d3plus) == pytest.approx(reference.discounts[order])


def test_a_worked_example():
    # "a b" and "a": after "a" come b and </s>, once each; adjusted counts of the unigrams are
    # a 1, b 1, </s> 2, so the fallback discounts stand everywhere.
    model = scorer([["a", "b"], ["a"]], 2)
    unigram_b = (1 - 0.5) / 4 + (0.5 + 0.5 + 1.0) / 4 * (1 / 4)
    [score] = model.score([("a", "b")])
    assert score.logprobs_nats[0] == pytest.approx(math.log((1 - 0.5) / 2 + 0.5 * unigram_b))


def test_unknown_words_get_the_uniform_share_of_the_unigrams():
    estimate_ = estimated(TOY, 1)
    counts = Counter(word for tokens in TOY for word in [*tokens, "</s>"])
    d = estimate_.discounts[0].of
    freed = d(np.array(list(counts.values()))).sum() / sum(counts.values())
    [score] = scorer(TOY, 1).score([("", "zebra")])
    share = freed / (len(counts) + 1)
    assert score.logprobs_nats[0] == pytest.approx(math.log(share), abs=3e-7)


@pytest.mark.parametrize(
    "counts",
    [[1, 2], [1, 1, 2, 3, 3, 3, 3, 3, 3, 3], []],
    ids=["no count of 3", "second discount below 0", "nothing"],
)
def test_discounts_fall_back_where_counts_cannot_say(counts: list[int]):
    assert estimate_discounts(np.array(counts, np.int64)) == FALLBACK_DISCOUNTS


def test_an_order_longer_than_any_sentence_changes_nothing():
    requests = [("", "a b c"), ("d a b", "b c </s>")]
    long, longer = scorer(TOY, 7).score(requests), scorer(TOY, 12).score(requests)
    for one, other in zip(long, longer, strict=True):
        assert one.logprobs_nats.tolist() == other.logprobs_nats.tolist()


texts = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=9)


# A busy machine's threads start late, so no example has a deadline.
@settings(deadline=None)
@given(texts, st.integers(1, 5), st.lists(st.sampled_from("abcdx"), max_size=6))
def test_the_words_after_any_context_share_a_probability_of_one(
    sentences: list[list[str]], order: int, context: list[str]
):
    model = scorer(sentences, order)
    words = sorted({word for tokens in sentences for word in tokens} | {"</s>", "<unk>"})
    scores = model.score([(" ".join(context), word) for word in words])
    assert sum(math.exp(s.logprobs_nats[0]) for s in scores) == pytest.approx(1, abs=1e-6)
    assert all(s.logprobs_nats[0] <= 0 for s in scores)
