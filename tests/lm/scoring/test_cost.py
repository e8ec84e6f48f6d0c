"""What scoring a sentence may cost: multiplications and function calls, never the time.

The least that an exact way multiplies is known: every different beginning is read once, and all
words' logits are computed after it. How much more is multiplied, and how many functions Python and
PyTorch call for a sentence, stands in budgets a twentieth above what was measured, so that what
doubles the work is seen the same day.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lm.corpora.vocab import Vocabulary
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.scorer import HfScorer
from lm.rnn.folder import TrainedNetwork
from lm.rnn.network import NetworkShape, build_network
from lm.rnn.scorer import RecurrentScorer
from lm.scorer import Scorer
from lm.scoring.tree_packing import CheckedPacking
from tests.function_calls import counted
from tests.lm.scoring.test_packed_layers import needs_packing
from tests.lm.toy_models import WORDS, tiny_gpt2, word_tokenizer

CONTENT = [word for word in WORDS if word.isalpha()]
# Sentences of eight words that share beginnings as those of a template do.
SENTENCES = [
    f"the {one} the {other} the {third} sees ."
    for one, other, third in itertools.product(CONTENT[:8], CONTENT[:8], CONTENT[:8])
]
HIDDEN = 16


class Cost(NamedTuple):
    """What scoring costs.

    Attributes:
        multiplied: Multiplications of matrix products, as a multiple of the least.
        calls: Function calls of Python for each sentence.
        operators: PyTorch's operators for each sentence.
    """

    multiplied: float
    calls: float
    operators: float


class Products(TorchDispatchMode):
    """Counts PyTorch's operators, and the multiplications of those that are matrix products."""

    def __init__(self) -> None:
        super().__init__()
        self.multiplications = self.operators = 0
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        self.operators += 1
        name = func.name().partition("::")[2].partition(".")[0]
        self.names[name] += 1
        if name in ("mm", "linear", "_linear_pointwise", "bmm"):
            self.multiplications += found.numel() * args[0].shape[-1]
        elif name == "addmm":
            self.multiplications += found.numel() * args[1].shape[-1]
        return found


def cost_of(scorer: Scorer, least: int) -> Cost:
    """Return what the sentences cost once the model has been tried on them."""
    requests = [("", text) for text in SENTENCES]
    scorer.score(requests)
    calls, _ = counted(lambda: scorer.score(requests))
    with Products() as products:
        scorer.score(requests)
    n = len(SENTENCES)
    return Cost(products.multiplications / least, calls / n, products.operators / n)


def contexts() -> list[tuple[str, ...]]:
    """Return every different beginning that something follows, the empty one among them."""
    each = (text.split() for text in SENTENCES)
    return list({tuple(words[:n]) for words in each for n in range(len(words))})


def gpt2() -> tuple[Scorer, int]:
    """A transformer, and the multiplications of its layers and of all words' logits."""
    tokenizer = word_tokenizer(masked=False)
    model = tiny_gpt2(len(tokenizer))
    encoder = TextEncoder(tokenizer, window=32, masked=False, name="toy")
    layers = sum(weight.numel() for weight in model.transformer.h.parameters() if weight.ndim > 1)
    least = len(contexts()) * (layers + model.lm_head.weight.numel())
    return HfScorer(model, encoder, name="toy", trained_on="nothing"), least


def lstm() -> tuple[Scorer, int]:
    """A recurrent network, and the least that it multiplies.

    A context needs all words' logits and the second layer's input, a different word the first
    layer's input, and a context that one goes on from both layers' recurrent products.
    """
    words = Vocabulary(["<unk>", "<eos>", *CONTENT, ".", *(f"w{n}" for n in range(500))])
    torch.manual_seed(1)
    network = build_network(NetworkShape("lstm", len(words.words), HIDDEN, HIDDEN, 2)).eval()
    scorer = RecurrentScorer(TrainedNetwork(network, words, (), "toy", "nothing"))
    read = contexts()
    parents = {own[:-1] for own in read if own}
    least = len(read) * HIDDEN * (len(words.words) + 4 * HIDDEN)
    return scorer, least + len(parents) * 8 * HIDDEN**2


BUDGETS = {gpt2: Cost(1.02, 270, 0.73), lstm: Cost(1.02, 30, 2.6)}


@pytest.mark.parametrize("model", BUDGETS)
def test_scoring_costs_no_more_than_its_budget(model: Callable[[], tuple[Scorer, int]]):
    cost = cost_of(*model())
    assert cost.multiplied >= 1
    pairs = zip(Cost._fields, cost, BUDGETS[model], strict=True)
    assert {name: both for name, *both in pairs if both[0] > both[1]} == {}


@needs_packing
@pytest.mark.parametrize(("n", "packs"), [(70, True), (10, False)])
def test_plain_runs_of_many_tokens_use_packed_weights(n: int, packs: bool, monkeypatch):
    # Each sentence of eight words reads eight tokens: the beginning, and all words but the last.
    monkeypatch.setattr(CheckedPacking, "pays", lambda *_: False)
    scorer, _ = gpt2()
    with Products() as products:
        scorer.score([("", text) for text in SENTENCES[:n]])
    assert (products.names["_linear_pointwise"] > 0) is packs
    assert (products.names["addmm"] > 0) is not packs


def test_texts_that_share_nothing_are_seen_to_cost_more():
    scorer, least = gpt2()
    scorer.packing = False
    assert cost_of(scorer, least).multiplied > 3
