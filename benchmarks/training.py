"""Compare our training loop with the plain one of PyTorch's word language model, in one run.

Usage: python benchmarks/training.py [--steps 6] [--words 50000] [--hidden 650] [--bf16]

Both loops train the same network, from the same initial weights, on the same random text, 128
columns of 35 words at a time, with stochastic gradient descent and clipped gradients. The two take
turns, step by step, so that other work on the machine slows both equally. The output has the best
and the median tokens/s of each, their ratio, the largest relative difference of their losses, and
each loop's share of this machine's measured matrix-multiply peak.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from lm.rnn.network import NetworkShape, build_network
from lm.scoring.packed_linear import PackedLinear
from lm.training.batches import Window
from lm.training.objective import Objective

TIME, LR, CLIP, LAYERS = 35, 20.0, 0.25, 2
Step = Callable[[Window], float]


class PlainModel(nn.Module):
    """The example's model: all scores of a window at once, then a log-softmax over them."""

    def __init__(self, words: int, hidden: int) -> None:
        super().__init__()
        self.encoder = nn.Embedding(words, hidden)
        self.rnn = nn.LSTM(hidden, hidden, LAYERS)
        self.decoder = nn.Linear(hidden, words)

    def forward(
        self, ids: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the log-probabilities, shape ``(time * batch, words)``, and the state."""
        output, state = self.rnn(self.encoder(ids), state)
        return nn.functional.log_softmax(self.decoder(output).flatten(0, 1), dim=1), state


def plain_step(model: PlainModel, zeros: Tensor, low: bool) -> Step:
    state = (zeros, zeros)

    def step(window: Window) -> float:
        nonlocal state
        model.zero_grad()
        state = (state[0].detach(), state[1].detach())
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            logprobs, state = model(window.inputs, state)
            loss = nn.functional.nll_loss(logprobs, window.targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-LR)
        return loss.item()

    return step


def our_step(objective: Objective, batch: int, low: bool) -> Step:
    states = [objective.network.initial_state(batch)]
    optimizer = torch.optim.SGD(objective.parameters(), lr=LR)

    def step(window: Window) -> float:
        nonlocal states
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            losses, states = objective([window], states)
        losses.sum().backward()
        nn.utils.clip_grad_norm_(objective.parameters(), CLIP)
        optimizer.step()
        return losses.item()

    return step


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def peak_flops() -> float:
    """Return the most floating-point operations per second of a large packed product."""
    x, weight = torch.randn(2048, 1024), torch.randn(4096, 1024)
    product = PackedLinear(weight, None, len(x))
    product(x)
    return 2 * x.numel() * len(weight) / min(seconds(lambda: product(x)) for _ in range(5))


def flops_per_token(words: int, hidden: int) -> float:
    """Return the multiplications and additions of matrices per token, forward and backward."""
    return 3 * 2 * (words * hidden + LAYERS * 4 * hidden * 2 * hidden)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--hidden", type=int, default=650)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--bf16", action="store_true", help="both loops with 16-bit products")
    options = parser.parse_args()
    torch.manual_seed(1)
    objective = Objective(
        build_network(NetworkShape("lstm", options.words, options.hidden, options.hidden, LAYERS))
    )
    plain = PlainModel(options.words, options.hidden)
    with torch.no_grad():
        ours = objective.network.state_dict().values()
        for one, other in zip(plain.state_dict().values(), ours, strict=True):
            one.copy_(other)
    steps = {
        "plain": plain_step(
            plain, torch.zeros(LAYERS, options.batch, options.hidden), options.bf16
        ),
        "ours": our_step(objective, options.batch, options.bf16),
    }
    compare(steps, options)


def compare(steps: dict[str, Step], options: argparse.Namespace) -> None:
    """Let the loops take turns and print what came out."""
    text = (
        torch.randint(options.words, (options.steps + 1, TIME + 1, options.batch)).pow(2)
        // options.words
    )
    times: dict[str, list[float]] = {name: [] for name in steps}
    losses: dict[str, list[float]] = {name: [] for name in steps}
    for number, rows in enumerate(text):
        for name, step in steps.items():
            started = time.perf_counter()
            losses[name].append(step(Window(rows[:-1], rows[1:])))
            # The first step pays for what the others find ready.
            if number:
                times[name].append(TIME * options.batch / (time.perf_counter() - started))
    peak = peak_flops()
    need = flops_per_token(options.words, options.hidden)
    for name, of in times.items():
        reached = max(of) * need / peak
        print(f"{name:6} best {max(of):7,.0f}  median {statistics.median(of):7,.0f} tokens/s  "
              f"{reached:.0%} of {peak / 1e9:,.0f} GFLOP/s")  # fmt: skip
    ratios = [a / b for a, b in zip(times["ours"], times["plain"], strict=True)]
    apart = max(abs(a - b) / b for a, b in zip(losses["ours"], losses["plain"], strict=True))
    print(f"ratio  best {max(times['ours']) / max(times['plain']):.2f}, "
          f"median of steps {statistics.median(ratios):.2f}; losses differ by {apart:.4%} at most; "
          f"last {losses['ours'][-1]:.4f} and {losses['plain'][-1]:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
