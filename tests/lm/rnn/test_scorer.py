from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lm.corpora.vocab import Vocabulary
from lm.rnn.folder import TrainedNetwork
from lm.rnn.network import NetworkShape, RecurrentNetwork, build_network
from lm.rnn.scorer import RecurrentScorer

WORDS = ["<unk>", "<eos>", "der", "Löwe", "schläft", "睡", "."]
SHAPES = {
    "lstm": {"kind": "lstm"},
    "srn": {"kind": "srn"},
    "tied": {"kind": "lstm", "softmax": "tied"},
    "one layer": {"kind": "lstm", "layers": 1},
    "window": {"kind": "lstm", "window": 3},
    "adaptive": {"kind": "lstm", "softmax": "adaptive"},
}
TEXTS = st.lists(st.sampled_from([*WORDS[1:], "zebra", "</s>", "🦁"]), max_size=6).map(" ".join)
REQUESTS = st.lists(st.tuples(TEXTS, TEXTS), max_size=8)


def trained(shape: str) -> TrainedNetwork:
    """A small random network, its weights wide, so that probabilities differ as a trained one's."""
    torch.manual_seed(1)
    words = [*WORDS, *(f"w{n}" for n in range(2100))] if shape == "adaptive" else WORDS
    sizes = {"embedding_size": 12, "hidden_size": 12, "layers": 2, "vocabulary_size": len(words)}
    network = build_network(NetworkShape(**{**sizes, **SHAPES[shape]})).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(5)
    return TrainedNetwork(network, Vocabulary(words), (), "toy", "nothing")


MODELS = {shape: trained(shape) for shape in SHAPES}


@torch.inference_mode()
def one_by_one(model: TrainedNetwork, context: str, continuation: str) -> list[float]:
    """The definition: the whole text alone, all words' probabilities at every step."""
    network, vocabulary = model.network, model.vocabulary
    ids = [vocabulary.begin, *(vocabulary[word] for word in f"{context} {continuation}".split())]
    hidden, _ = network(torch.tensor(ids)[:, None], network.initial_state(1))
    logprobs = network.logprobs(hidden[:, 0])
    start = len(ids) - len(continuation.split())
    return [float(logprobs[place - 1, ids[place]]) for place in range(start, len(ids))]


@pytest.mark.parametrize("shape", SHAPES)
@settings(deadline=None, max_examples=4)
@given(requests=REQUESTS)
def test_scores_are_those_of_texts_read_one_by_one(shape: str, requests: Sequence[tuple[str, str]]):
    model = MODELS[shape]
    for budget_bytes in (1, 10_000, 2**30):
        scored = RecurrentScorer(model, budget_bytes=budget_bytes).score(requests)
        for request, scores in zip(requests, scored, strict=True):
            assert scores.logprobs_nats == pytest.approx(one_by_one(model, *request), abs=1e-4)


def test_texts_that_begin_one_another_and_repeat_are_scored_each():
    texts = ["der", "der Löwe", "der", "der Löwe schläft .", "Löwe"]
    scored = RecurrentScorer(MODELS["lstm"]).score([("", text) for text in texts])
    for text, scores in zip(texts, scored, strict=True):
        assert scores.tokens == tuple(text.split())
        assert scores.logprobs_nats == pytest.approx(one_by_one(MODELS["lstm"], "", text), abs=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_two_words_after_one_context_compare_without_a_normaliser(shape: str):
    choices = [("der Löwe", "schläft", "."), ("", "der", "zebra"), ("睡 睡", "der", "der")]
    found = RecurrentScorer(MODELS[shape]).differences_nats(choices)
    expected = [
        one_by_one(MODELS[shape], context, first)[0] - one_by_one(MODELS[shape], context, second)[0]
        for context, first, second in choices
    ]
    assert found == pytest.approx(expected, abs=1e-4)


def test_no_choices_have_no_differences():
    assert RecurrentScorer(MODELS["lstm"]).differences_nats([]).shape == (0,)


def test_the_fast_mode_is_near_the_exact_one():
    scorer = RecurrentScorer(MODELS["lstm"])
    requests = [("", "der Löwe schläft ."), ("der", "Löwe 睡 .")]
    for exact, fast in zip(scorer.score(requests), scorer.fast().score(requests), strict=True):
        assert fast.tokens == exact.tokens
        assert exact.errors_nats is None
        off = np.abs(fast.logprobs_nats - exact.logprobs_nats)
        assert (off <= fast.errors_nats).all()
        assert fast.errors_nats.max() < 1


@torch.inference_mode()
def as_one_stream(model: TrainedNetwork, groups: Sequence[Sequence[str]]) -> list[list[float]]:
    """The plain loop: each version after everything before it, the first version read on."""
    network, vocabulary = model.network, model.vocabulary
    before, found = [], []
    for group in groups:
        for text in group:
            words = [vocabulary.begin, *(vocabulary[word] for word in text.split())]
            ids = [*before, *words]
            hidden, _ = network(torch.tensor(ids)[:, None], network.initial_state(1))
            logprobs = network.logprobs(hidden[:, 0])
            starts = range(len(before) + 1, len(ids))
            found.append([float(logprobs[place - 1, ids[place]]) for place in starts])
        before += [vocabulary.begin, *(vocabulary[word] for word in group[0].split())]
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stream_carries_what_it_read_on_from_group_to_group(shape: str):
    groups = [["der Löwe schläft .", "der Löwe 睡"], ["", "zebra"], ["der Löwe schläft ."]]
    scorer = RecurrentScorer(MODELS[shape])
    first, state = scorer.score_stream(groups[:2])
    second, _ = scorer.score_stream(groups[2:], state)
    scored = [one for group in [*first, *second] for one in group]
    expected = as_one_stream(MODELS[shape], groups)
    texts = [text for group in groups for text in group]
    for scores, plain, text in zip(scored, expected, texts, strict=True):
        assert scores.tokens == tuple(text.split())
        assert scores.logprobs_nats == pytest.approx(plain, abs=1e-4)
    if shape != "window":
        [alone] = scorer.score([("", groups[2][0])])
        assert np.abs(alone.logprobs_nats - scored[-1].logprobs_nats).max() > 1e-3


def test_each_beginning_is_read_once(monkeypatch: pytest.MonkeyPatch):
    model = MODELS["window"]
    read = []
    forward = type(model.network).forward

    def counted(self: RecurrentNetwork, ids: torch.Tensor, state: tuple[torch.Tensor, ...]):
        read.append(ids.shape[1])
        return forward(self, ids, state)

    monkeypatch.setattr(type(model.network), "forward", counted)
    RecurrentScorer(model).score([("", "der Löwe schläft ."), ("", "der Löwe 睡 ."), ("", "der")])
    # <eos>, "der", "der Löwe", and the two that the period follows.
    assert sum(read) == 5


def test_weights_that_are_no_numbers_give_scores_that_are_none():
    model = trained("lstm")
    with torch.no_grad():
        model.network.decoder.weight[2, 0] = float("nan")
    [scores] = RecurrentScorer(model).score([("", "der")])
    assert np.isnan(scores.logprobs_nats).all()
