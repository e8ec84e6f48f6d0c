"""A model kept as it was during its training, at steps on a logarithmic grid."""

import math
from dataclasses import replace

from lm.errors import LmError
from lm.model_folder import atomic_folder
from lm.rnn.folder import HISTORY_FOLDER, WEIGHTS, save_weights
from lm.rnn.network import RecurrentNetwork
from lm.training.checkpoint import Progress
from lm.training.plan import TrainingPlan


def is_on_grid(step: int, per_doubling: int) -> bool:
    """Return whether a step is on the grid 0, 1, 2 ** (1 / n), 2 ** (2 / n) ..., each rounded."""
    if step == 0:
        return True
    exponent = round(per_doubling * math.log2(step))
    return any(
        round(2 ** (near / per_doubling)) == step
        for near in range(max(0, exponent - 1), exponent + 2)
    )


class TrainingHistory:
    """Keeps a network at steps on a grid, each as a model folder in ``checkpoints``.

    Args:
        plan: The training plan.
        per_doubling: The number of checkpoints in each doubling of the training.
    """

    def __init__(self, plan: TrainingPlan, per_doubling: int) -> None:
        self._plan, self._per_doubling = plan, per_doubling

    def keep_if_due(self, network: RecurrentNetwork, progress: Progress) -> None:
        """Write the network if its step is on the grid."""
        if is_on_grid(progress.step, self._per_doubling):
            self.keep(network, progress)

    def keep(self, network: RecurrentNetwork, progress: Progress) -> None:
        """Write the network, with the step and the tokens seen in its config.json.

        Raises:
            LmError: The folder cannot be written.
        """
        plan, seen = self._plan, {"step": progress.step, "tokens_seen": self._plan.seen(progress)}
        with atomic_folder(plan.out / HISTORY_FOLDER / f"step{progress.step}") as temporary:
            replace(plan, out=temporary).begin_folder(seen)
            save_weights(network, temporary / WEIGHTS)


def refuse_missing_history(plan: TrainingPlan) -> None:
    """Raise an error if a finished model was trained without keeping checkpoints.

    Raises:
        LmError: It was.
    """
    if not (plan.out / HISTORY_FOLDER).is_dir():
        raise LmError(
            f"{plan.out} holds this model without the checkpoints of its training. Choose another "
            "folder to train it again with `--keep-checkpoints`, or leave the option out."
        )
