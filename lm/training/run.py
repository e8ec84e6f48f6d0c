"""A training run in its model folder: start or resume, write, finish."""

import csv
from collections.abc import Callable

import torch

from lm.devices import Processes
from lm.errors import LmError
from lm.model_folder import atomic_write, read_config, refuse_overwrite, write_config
from lm.rnn.folder import CHECKPOINT, FILES, METRICS, WEIGHTS, copy_weights
from lm.rnn.folder import save_weights as write_weights
from lm.rnn.network import build_network
from lm.training.checkpoint import Checkpoint, Progress, load_checkpoint, save_checkpoint
from lm.training.history import TrainingHistory
from lm.training.loop import Trainer
from lm.training.objective import Objective
from lm.training.plan import TAGS_SHA256, TrainingPlan


class CheckpointWriter:
    """Writes a training run to its model folder: the ``TrainingHooks`` of all commands.

    Only the leading process writes.

    Args:
        plan: The training plan.
        processes: The processes that share the work.
        on_window: Called with the progress and the tokens read since the last call.
        on_epoch: Called with the finished epoch's row of metrics.csv.
        due: Returns whether to write a checkpoint; called after every window.
        stop: Returns whether the user wants to stop; called after every window.
        history: Keeps the model as it is on the way; None for the result alone.
    """

    def __init__(
        self,
        plan: TrainingPlan,
        processes: Processes,
        on_window: Callable[[Progress, int], None],
        on_epoch: Callable[[dict[str, float]], None],
        due: Callable[[], bool],
        stop: Callable[[], bool],
        history: TrainingHistory | None = None,
    ) -> None:
        self._plan, self._leads = plan, processes.leads
        self._on_window, self._on_epoch = on_window, on_epoch
        self.should_save, self.should_stop = due, stop
        self._history = history
        self.objective: Objective | None = None

    def on_begin(self, progress: Progress) -> None:
        """Keep the untrained model, if the training has a history."""
        if self._leads and self._history and progress.step == 0:
            assert self.objective is not None
            self._history.keep(self.objective.network, progress)

    def on_window_end(self, progress: Progress, tokens: int) -> None:
        """Show progress after a window, and keep the model if its history wants it."""
        if not self._leads:
            return
        self._on_window(progress, tokens)
        if self._history:
            assert self.objective is not None
            self._history.keep_if_due(self.objective.network, progress)

    def on_end(self, progress: Progress) -> None:
        """Keep the model at the last step, if the training has a history."""
        if self._leads and self._history:
            assert self.objective is not None
            self._history.keep(self.objective.network, progress)

    def on_epoch_end(self, progress: Progress, improved: bool) -> None:
        """Write metrics.csv, and the weights if they are the best so far."""
        if not self._leads:
            return
        assert self.objective is not None
        if improved:
            write_weights(self.objective.network, self._plan.out / WEIGHTS)
        with (
            atomic_write(self._plan.out / METRICS) as temporary,
            temporary.open("w", encoding="utf-8", newline="") as file,
        ):
            writer = csv.DictWriter(file, list(progress.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(progress.rows)
        self._on_epoch(progress.rows[-1])

    def save(self, make_checkpoint: Callable[[], Checkpoint]) -> None:
        """Write the checkpoint."""
        if self._leads:
            save_checkpoint(self._plan.out / CHECKPOINT, make_checkpoint())


def is_finished(plan: TrainingPlan) -> bool:
    """Return whether the folder contains the plan's model, completely trained."""
    try:
        config = read_config(plan.out)
    except LmError:
        return False
    planned = plan.config()
    if TAGS_SHA256 not in config:
        # Models of two tasks trained before supertags were hashed count as finished.
        planned.pop(TAGS_SHA256, None)
    is_same = planned.items() <= config.items()
    return is_same and "best_epoch" in config and (plan.out / WEIGHTS).is_file()


def start_or_resume(
    plan: TrainingPlan,
    writer: CheckpointWriter,
    device: torch.device,
    processes: Processes,
    resume: bool,
) -> Trainer:
    """Return the training run, at its start or at its checkpoint.

    Raises:
        LmError: The folder contains other files, or its checkpoint and ``resume`` do not match.
    """
    refuse_overwrite(plan.out, FILES)
    checkpoint_path = plan.out / CHECKPOINT
    if checkpoint_path.is_file() and not resume:
        raise LmError(
            f"{plan.out} holds an unfinished training. Add `--resume` to continue it, or "
            "choose another folder to start again."
        )
    if (plan.out / WEIGHTS).is_file() and not checkpoint_path.is_file():
        raise LmError(
            f"{plan.out} holds a finished model with other settings or of another text. "
            "Choose another folder, or remove that one if it is not needed."
        )
    torch.manual_seed(plan.settings.seed)
    network = build_network(plan.shape())
    checkpoint = _checkpoint(plan) if checkpoint_path.is_file() else None
    if checkpoint:
        copy_weights(network, dict(checkpoint.weights), checkpoint_path)
    writer.objective = Objective(network.to(device))
    trainer = Trainer(
        writer.objective,
        plan.texts(processes),
        plan.settings,
        plan.identity(),
        writer,
        processes,
        checkpoint,
    )
    # The processes wait for each other above, so that none reads the folder while it is written.
    if processes.leads:
        plan.begin_folder()
        writer.on_begin(trainer.progress)
    return trainer


def _checkpoint(plan: TrainingPlan) -> Checkpoint:
    checkpoint = load_checkpoint(plan.out / CHECKPOINT)
    expected = plan.identity()
    differ = [key for key in expected if checkpoint.identity.get(key) != expected[key]]
    if differ:
        raise LmError(
            f"{plan.out / CHECKPOINT} belongs to another training: {', '.join(differ)} differ. "
            "Give the same data and settings as before, or choose another folder."
        )
    begun = read_config(plan.out).get("training")
    if isinstance(begun, dict) and begun.get("lr") != plan.settings.lr:
        checkpoint.progress.lr = plan.settings.lr
    return checkpoint


def finish_training(plan: TrainingPlan, progress: Progress) -> None:
    """Write the results to config.json, and remove the checkpoint."""
    best = progress.rows[progress.best_epoch - 1]
    result = {
        "best_epoch": progress.best_epoch,
        "epochs_trained": len(progress.rows),
        "valid_perplexity": best["valid_perplexity"],
        "valid_perplexity_known": best["valid_perplexity_known"],
    }
    write_config(plan.out, plan.config() | result)
    (plan.out / CHECKPOINT).unlink(missing_ok=True)
