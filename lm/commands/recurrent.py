"""Training of recurrent models from the shell: progress, Ctrl-C, memory."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, cast

import click
import torch
from tqdm import tqdm

from lm.commands.train import TrainRequest, explain_memory_errors, show_progress
from lm.corpora.folder import Corpus, CorpusChoices, prepare
from lm.devices import DeviceChoice, Processes, choose_device, choose_precision, join_processes
from lm.errors import LmError
from lm.training.checkpoint import Progress
from lm.training.history import TrainingHistory, refuse_missing_history
from lm.training.loop import Trainer
from lm.training.plan import TrainingPlan, read_tag_data
from lm.training.run import CheckpointWriter, finish_training, is_finished, start_or_resume
from lm.training.settings import TrainingSettings, get_preset

STOPPED_STATUS = 130
_DEFAULT_MINUTES = 10.0


def train_recurrent(request: TrainRequest) -> None:
    """Train a recurrent model or resume its training, unless its folder already holds it."""
    options = request.options
    device = choose_device(cast(DeviceChoice, options.get("device") or "auto"))
    with join_processes(device) as processes, explain_memory_errors():
        plan = plan_training(request, device, processes)
        per_doubling = cast(int | None, options.get("keep_checkpoints"))
        history = TrainingHistory(plan, per_doubling) if per_doubling else None
        if is_finished(plan):
            if history:
                refuse_missing_history(plan)
            _echo_once(f"{plan.out}: already trained on {plan.corpus.described}", processes)
            return
        minutes = options.get("checkpoint_minutes") or _DEFAULT_MINUTES
        with _watch_for_stop() as stop, _ProgressBar(plan, processes) as bar:
            is_due = _make_timer(60 * cast(float, minutes))
            writer = CheckpointWriter(plan, processes, bar.window, bar.epoch, is_due, stop, history)
            resume = bool(options.get("resume"))
            trainer = start_or_resume(plan, writer, device, processes, resume)
            bar.begin(trainer)
            ended = trainer.run()
        if not ended:
            _echo_once(f"Stopped; {plan.out} is kept. Add --resume to continue.", processes)
            click.get_current_context().exit(STOPPED_STATUS)
        writer.on_end(trainer.progress)
        if processes.leads:
            finish_training(plan, trainer.progress)
            _echo_once(_summarise_training(plan, trainer.progress), processes)


def plan_training(
    request: TrainRequest, device: torch.device, processes: Processes
) -> TrainingPlan:
    """Return the training plan of a request, with its texts prepared.

    Raises:
        LmError: A setting, a text or a tagged text cannot be used.
    """
    settings = _choose_settings(request, device)
    corpus = _read_corpus(request, settings, processes)
    tags = request.options.get("tags")
    if (settings.type == "multitask") != (tags is not None):
        raise LmError(
            "only the multi-task model uses supertags, and it needs them: give `--tags "
            "FOLDER` with `--type multitask` or a multi-task preset, and with no other model."
        )
    tag_data = read_tag_data(cast(Path, tags), corpus) if tags else None
    return TrainingPlan(settings, corpus, tag_data, request.name, request.out)


def _choose_settings(request: TrainRequest, device: torch.device) -> TrainingSettings:
    base = get_preset(request.preset) if request.preset else TrainingSettings()
    chosen = {name: request.options.get(name) for name in asdict(base) if name != "type"}
    if chosen["precision"] in (None, "auto"):
        chosen["precision"] = choose_precision(device)
    return base.changed(**chosen, type=request.type or None)


def _read_corpus(request: TrainRequest, settings: TrainingSettings, processes: Processes) -> Corpus:
    choices = CorpusChoices(request.max_words, request.min_count, settings.seed)
    cache = cast(Path | None, request.options.get("cache"))
    # The first process prepares the texts; the others then find them in the cache.
    if processes.leads:
        corpus = prepare(request.data, choices, cache, show_progress)
    if processes.world > 1:
        torch.distributed.barrier()
    if not processes.leads:
        corpus = prepare(request.data, choices, cache)
    _echo_once(
        ", ".join(f"{name}: {len(ids):,} tokens" for name, ids in corpus.splits.items())
        + f"; {len(corpus.vocabulary.words):,} words",
        processes,
    )
    return corpus


def _echo_once(text: str, processes: Processes) -> None:
    if processes.leads:
        click.echo(text)


def _summarise_training(plan: TrainingPlan, progress: Progress) -> str:
    best = progress.rows[progress.best_epoch - 1]
    return (
        f"{plan.out}: {plan.config()['name']} trained on {plan.corpus.described}: best epoch "
        f"{progress.best_epoch} of {len(progress.rows)}, validation perplexity "
        f"{best['valid_perplexity']:.2f} ({best['valid_perplexity_known']:.2f} without unknown "
        "words)"
    )


def _make_timer(seconds: float) -> Callable[[], bool]:
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        if time.monotonic() - last < seconds:
            return False
        last = time.monotonic()
        return True

    return due


@contextmanager
def _watch_for_stop() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C was pressed; a second Ctrl-C aborts at once."""
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    previous_handler = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, previous_handler)


class _ProgressBar:
    """A progress bar over the whole training: tokens per second, time left, epoch and loss."""

    def __init__(self, plan: TrainingPlan, processes: Processes) -> None:
        self._epochs, self._leads = plan.settings.epochs, processes.leads
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> "_ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def begin(self, trainer: Trainer) -> None:
        words, progress = trainer.texts.train[0], trainer.progress
        per_epoch = words.rows * words.batch * trainer.processes.world
        done = (progress.epoch - 1 + progress.window / len(words)) * per_epoch
        # None hides the bar if the output is not a terminal; other processes never show one.
        self._bar = tqdm(
            total=per_epoch * self._epochs,
            initial=round(done),
            unit=" tokens",
            unit_scale=True,
            disable=None if self._leads else True,
        )

    def window(self, progress: Progress, tokens: int) -> None:
        assert self._bar is not None
        loss = sum(progress.losses) / max(progress.window, 1)
        self._bar.set_description(f"Epoch {progress.epoch}/{self._epochs}", refresh=False)
        self._bar.set_postfix_str(f"loss {loss:.3f}", refresh=False)
        self._bar.update(tokens)

    def epoch(self, row: dict[str, float]) -> None:
        tqdm.write(
            f"epoch {row['epoch']:2.0f}  lr {row['lr']:<8.4g} train {row['train_loss_nats']:.4f}  "
            f"valid {row['valid_loss_nats']:.4f}  perplexity {row['valid_perplexity']:.2f}  "
            f"{row['tokens_per_second']:,.0f} tokens/s"
        )
