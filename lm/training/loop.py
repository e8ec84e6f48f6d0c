"""The training loop of all recurrent models.

Truncated back-propagation through time, as in PyTorch's word language model, which both papers
used: stochastic gradient descent (or Adam); gradients truncated after some words and clipped to a
largest norm; the learning rate divided after each epoch that did not improve the validation loss;
the weights of the best epoch kept.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lm.devices import Processes, gather_from_all, is_set_anywhere, sum_over_all
from lm.errors import LmError
from lm.rnn.network import State, drop_shared_duplicates
from lm.training.batches import TextColumns, Window
from lm.training.checkpoint import Checkpoint, Progress
from lm.training.objective import Objective, get_optimizer_state, make_optimizer
from lm.training.settings import TrainingSettings


@dataclass(frozen=True, slots=True)
class Validation:
    """A network's losses on validation text.

    Attributes:
        word_loss: Mean loss per token, unknown tokens included, in nats.
        known_loss: Mean loss per known token, in nats.
        tag_loss: Mean loss per supertag, in nats; ``None`` if the model predicts no supertags.
    """

    word_loss: float
    known_loss: float
    tag_loss: float | None = None

    @property
    def loss(self) -> float:
        """The loss that the best epoch minimises: the word loss, or the sum of both losses."""
        return self.word_loss + (self.tag_loss or 0.0)

    def to_row(self) -> dict[str, float]:
        """Return the values for the columns of metrics.csv."""
        row = {
            "valid_loss_nats": self.word_loss,
            "valid_perplexity": math.exp(min(self.word_loss, 700)),
            "valid_perplexity_known": math.exp(min(self.known_loss, 700)),
        }
        return row if self.tag_loss is None else row | {"valid_tag_loss_nats": self.tag_loss}


def validate(
    objective: Objective, texts: Sequence[TextColumns], unknown: int, processes: Processes
) -> Validation:
    """Return the losses on each task's validation text; afterwards the network is in training mode.

    Args:
        objective: The network and its losses.
        texts: For each task, this process's columns of the text.
        unknown: The number of the unknown word.
        processes: The processes that share the work.
    """
    objective.eval()
    means = [
        _compute_mean_losses(objective, task, text, unknown, processes)
        for task, text in enumerate(texts)
    ]
    objective.train()
    (word_loss, known_loss), *tags = means
    return Validation(word_loss, known_loss, tags[0][0] if tags else None)


def _compute_mean_losses(
    objective: Objective, task: int, text: TextColumns, unknown: int, processes: Processes
) -> tuple[float, float]:
    """Return the mean loss of all targets and of those that are known words."""
    device = next(objective.parameters()).device
    state = objective.network.initial_state(text.batch)
    sums = torch.zeros(4, dtype=torch.float64)
    for number in range(len(text)):
        window = text.window(number)
        window = Window(window.inputs.to(device), window.targets.to(device))
        losses, state = objective.token_losses(task, window, state)
        is_known = window.targets != unknown
        parts = [losses.sum(), (losses * is_known).sum(), is_known.sum()]
        sums += torch.tensor([losses.numel(), *(part.item() for part in parts)])
    n, total, total_known, n_known = sum_over_all(
        sums.to(_choose_reduction_device(device)), processes
    ).tolist()
    return total / n, total_known / max(n_known, 1)


def _choose_reduction_device(device: torch.device) -> torch.device:
    # MPS has no 64-bit numbers, and never shares work among processes.
    return device if device.type == "cuda" else torch.device("cpu")


_STEPS_BETWEEN_CHECKS = 20


class TrainingHooks(Protocol):
    """The callbacks of a training run, which write its results and show its progress."""

    def on_window_end(self, progress: Progress, tokens: int) -> None:
        """Record that all processes together have read a window."""
        ...

    def on_epoch_end(self, progress: Progress, improved: bool) -> None:
        """Write the finished epoch's metrics, and its weights if they are the best so far."""
        ...

    def save(self, make_checkpoint: Callable[[], Checkpoint]) -> None:
        """Write a checkpoint."""
        ...

    def should_save(self) -> bool:
        """Return whether to write a checkpoint within the epoch."""
        ...

    def should_stop(self) -> bool:
        """Return whether the user has asked to stop."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The training columns of each task, words first, and the validation texts, likewise."""

    train: Sequence[TextColumns]
    valid: Sequence[TextColumns]
    unknown: int


class Trainer:
    """A training run that can be started, stopped and resumed.

    Args:
        objective: The network and its losses, on its device.
        texts: The texts.
        settings: The training settings.
        identity: The settings and data of the training, as stored in checkpoints.
        hooks: The callbacks that write and show results.
        processes: The processes that share the work.
        resumed: The checkpoint to resume from; ``None``: start from the beginning.
    """

    def __init__(
        self,
        objective: Objective,
        texts: Texts,
        settings: TrainingSettings,
        identity: dict[str, object],
        hooks: TrainingHooks,
        processes: Processes,
        resumed: Checkpoint | None = None,
    ) -> None:
        self.objective, self.texts, self.settings = objective, texts, settings
        self.identity, self.hooks, self.processes = identity, hooks, processes
        self.device = next(objective.parameters()).device
        self.progress = resumed.progress if resumed else Progress(lr=settings.lr)
        self.states = self._own_columns(resumed.states) if resumed else []
        remembered = resumed.remembered if resumed else {}
        self._optimizer = make_optimizer(settings, objective, self.progress.lr, remembered)
        self._step_module: nn.Module = objective
        if processes.world > 1:
            self._step_module = DistributedDataParallel(objective)

    def run(self) -> bool:
        """Train until the end, or until the user stops the training.

        Returns:
            Whether the training is complete.

        Raises:
            LmError: The loss is no longer a number.
        """
        try:
            return self._run()
        finally:
            # The module references the group of processes, which ends with the training.
            self._step_module = self.objective

    def _run(self) -> bool:
        while not self._is_finished():
            if not self._run_epoch():
                return False
            result = validate(self.objective, self.texts.valid, self.texts.unknown, self.processes)
            self._end_epoch(result)
        return True

    def _is_finished(self) -> bool:
        progress, patience = self.progress, self.settings.patience
        waited = progress.epoch - 1 - progress.best_epoch
        return progress.epoch > self.settings.epochs or bool(patience and waited >= patience)

    def _run_epoch(self) -> bool:
        """Train for the rest of an epoch; return whether the epoch is complete."""
        progress = self.progress
        if progress.window == 0:
            self.states = [
                self.objective.network.initial_state(columns.batch) for columns in self.texts.train
            ]
            progress.losses = [0.0] * len(self.texts.train)
        self.objective.train()
        words = self.texts.train[0]
        pending: list[Tensor] = []
        while progress.window < len(words):
            started = time.perf_counter()
            windows = self._read_windows()
            pending.append(self._update(windows))
            progress.window += 1
            progress.step += 1
            last = progress.window == len(words)
            stop, due = self._poll_hooks() if not last else (False, False)
            if last or stop or due or progress.step % _STEPS_BETWEEN_CHECKS == 0:
                self._flush_losses(pending)
            progress.seconds += time.perf_counter() - started
            self.hooks.on_window_end(progress, windows[0].inputs.numel() * self.processes.world)
            if stop or due:
                self._save()
            if stop:
                return False
        return True

    def _poll_hooks(self) -> tuple[bool, bool]:
        flags = (self.hooks.should_stop(), self.hooks.should_save())
        stop, due = (is_set_anywhere(flag, self.device, self.processes) for flag in flags)
        return stop, due

    def _read_windows(self) -> list[Window]:
        """Return each task's next window; the text of a second task restarts when it ends."""
        windows = []
        for task, columns in enumerate(self.texts.train):
            number = self.progress.window if task == 0 else self.progress.step % len(columns)
            if task and number == 0:
                self.states[task] = self.objective.network.initial_state(columns.batch)
            window = columns.window(number)
            windows.append(Window(window.inputs.to(self.device), window.targets.to(self.device)))
        return windows

    def _update(self, windows: Sequence[Window]) -> Tensor:
        """Make one optimizer step, and return each task's loss, shape ``(tasks,)``."""
        _seed_dropout(self.device, self.settings.seed, self.progress.step, self.processes.rank)
        low = self.settings.precision == "bf16"
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=low):
            losses, self.states = self._step_module(windows, self.states)
            # The tasks' losses have equal weights, as in Marvin & Linzen (2018).
            losses.sum().backward()
        nn.utils.clip_grad_norm_(self.objective.parameters(), self.settings.clip)
        self._optimizer.step()
        return losses.detach()  # type: ignore[no-any-return]

    def _flush_losses(self, pending: list[Tensor]) -> None:
        """Add the losses since the last call to the epoch's sums; refuse non-finite losses."""
        summed_losses = sum_over_all(torch.stack(pending), self.processes) / self.processes.world
        # 64-bit sums of these 32-bit numbers are equal wherever the sum was interrupted.
        losses = summed_losses.cpu().double().sum(0).tolist()
        pending.clear()
        progress = self.progress
        if not np.isfinite(losses).all():
            raise LmError(
                f"the loss is no longer a number in epoch {progress.epoch}, window "
                f"{progress.window:,} (learning rate {progress.lr:g}). The last checkpoint "
                "and the best weights are unchanged. Continue from there with `--resume` and "
                "a smaller `--lr`, or start again with a smaller `--clip` or with "
                "`--precision float32`."
            )
        progress.losses = [
            total + loss for total, loss in zip(progress.losses, losses, strict=True)
        ]

    def _end_epoch(self, result: Validation) -> None:
        progress = self.progress
        improved = progress.best is None or result.loss < progress.best
        progress.rows.append(self._row(result))
        if improved:
            progress.best, progress.best_epoch = result.loss, progress.epoch
        else:
            progress.lr /= self.settings.anneal
            self._set_lr()
        self.hooks.on_epoch_end(progress, improved)
        progress.epoch, progress.window, progress.seconds = progress.epoch + 1, 0, 0.0
        progress.losses, self.states = [], []
        self._save()

    def _row(self, result: Validation) -> dict[str, float]:
        progress, words = self.progress, self.texts.train[0]
        means = [loss / len(words) for loss in progress.losses]
        tokens = words.rows * words.batch * self.processes.world
        row = {"epoch": progress.epoch, "lr": progress.lr, "train_loss_nats": means[0]}
        if len(means) > 1:
            row["train_tag_loss_nats"] = means[1]
        return row | {
            **result.to_row(),
            "seconds": round(progress.seconds, 2),
            "tokens_per_second": round(tokens / max(progress.seconds, 1e-9)),
        }

    def _set_lr(self) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = self.progress.lr

    def _own_columns(self, states: Sequence[State]) -> list[State]:
        """Return this process's columns of the states."""
        rank, world = self.processes.rank, self.processes.world
        return [
            tuple(part.tensor_split(world, dim=1)[rank].contiguous().to(self.device) for part in s)
            for s in states
        ]

    def _save(self) -> None:
        states: list[State] = [
            tuple(gather_from_all(part, self.processes) for part in state) for state in self.states
        ]
        network = self.objective.network
        weights = partial(drop_shared_duplicates, network.state_dict(), network.shape)
        optimizer_state = partial(get_optimizer_state, self._optimizer)
        self.hooks.save(
            lambda: Checkpoint(self.progress, weights(), states, self.identity, optimizer_state())
        )


def _seed_dropout(device: torch.device, seed: int, step: int, rank: int) -> None:
    """Seed dropout from the step alone, so that resuming needs no stored random state."""
    state: Any = np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)
    if device.type == "cpu":
        # torch.manual_seed would record each call, with its stack, for devices that do not exist.
        torch.default_generator.manual_seed(int(state[0]))
    else:
        torch.manual_seed(int(state[0]))
