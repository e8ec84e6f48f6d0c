"""What the networks promise to whoever reads texts with them."""

import pytest
import torch

from lm.errors import LmError
from lm.rnn.network import NetworkShape, RecurrentNetwork, build_network

SHAPES = {
    "lstm": NetworkShape("lstm", 30, 6, 6, 2),
    "srn": NetworkShape("srn", 30, 5, 6, 2),
    "windowed": NetworkShape("lstm", 30, 5, 6, 2, window=5),
    "tied": NetworkShape("lstm", 30, 6, 6, 1, softmax="tied"),
    "adaptive": NetworkShape("lstm", 2_500, 6, 16, 1, softmax="adaptive"),
}


@pytest.fixture(params=SHAPES)
def network(request: pytest.FixtureRequest) -> RecurrentNetwork:
    torch.manual_seed(1)
    return build_network(SHAPES[request.param]).eval()


def test_reading_step_by_step_is_reading_at_once(network: RecurrentNetwork):
    ids = torch.randint(30, (9, 4))
    whole, _ = network(ids, network.initial_state(4))
    state = network.initial_state(4)
    for step, row in enumerate(ids):
        hidden, state = network(row[None], state)
        assert torch.allclose(hidden[0], whole[step], atol=1e-6)


def test_the_words_share_a_probability_of_one(network: RecurrentNetwork):
    hidden, _ = network(torch.randint(30, (3, 2)), network.initial_state(2))
    logprobs = network.logprobs(hidden)
    assert logprobs.shape == (3, 2, network.shape.vocabulary_size)
    assert torch.allclose(logprobs.exp().sum(-1), torch.ones(3, 2), atol=1e-5)


def test_columns_do_not_meet(network: RecurrentNetwork):
    ids = torch.randint(30, (6, 3))
    together, _ = network(ids, network.initial_state(3))
    alone, _ = network(ids[:, 1:2], network.initial_state(1))
    assert torch.allclose(together[:, 1:2], alone, atol=1e-6)


def outputs_after(shape: NetworkShape, *texts: list[int]) -> list[torch.Tensor]:
    torch.manual_seed(1)
    network = build_network(shape).eval()
    read = [network(torch.tensor(text)[:, None], network.initial_state(1)) for text in texts]
    return [hidden[-1, 0] for hidden, _ in read]


def test_a_window_of_five_sees_four_words():
    near, far, same = outputs_after(
        SHAPES["windowed"], [1, 2, 3, 4, 5], [9, 2, 3, 4, 5], [9, 9, 3, 4, 5]
    )
    assert torch.equal(near, far)
    assert not torch.allclose(near, same)
    first, second = outputs_after(SHAPES["lstm"], [1, 2, 3, 4, 5], [9, 2, 3, 4, 5])
    assert not torch.allclose(first, second)


def test_a_window_that_is_not_full_is_the_plain_network():
    [windowed] = outputs_after(SHAPES["windowed"], [3, 4])
    [plain] = outputs_after(NetworkShape("lstm", 30, 5, 6, 2), [3, 4])
    assert torch.allclose(windowed, plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"softmax": "tied"}, "embeddings .5. as large as the hidden layers .6."),
        ({"kind": "transformer"}, 'no network "transformer"'),
        ({"window": 1}, "has no context"),
        ({"size": 3}, "in config.json is damaged: size is missing or unknown"),
    ],
)
def test_a_network_that_cannot_be_is_refused(change: dict[str, object], said: str):
    with pytest.raises(LmError, match=said):
        NetworkShape.from_config(NetworkShape("lstm", 30, 5, 6, 2).to_config() | change)


def test_an_adaptive_softmax_of_few_words_is_refused():
    with pytest.raises(LmError, match="more than 2,000 words"):
        build_network(NetworkShape("lstm", 30, 5, 6, 2, softmax="adaptive"))
