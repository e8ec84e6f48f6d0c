"""Training checkpoints in one file: weights, hidden states and the loop's numbers."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lm.errors import LmError
from lm.model_folder import atomic_write
from lm.rnn.network import State

_WEIGHT, _STATE, _PROGRESS, _REMEMBERED = "network.", "state.", "progress", "optimizer."


@dataclass(slots=True)
class Progress:
    """The progress of a training run.

    Attributes:
        lr: The current learning rate.
        epoch: The current epoch, from 1.
        window: The number of completed windows in it.
        step: The total number of updates.
        losses: For each task, the sum of the windows' losses in this epoch.
        seconds: The computing time of this epoch so far.
        best: The lowest validation loss of all epochs so far, in nats.
        best_epoch: The epoch with the lowest loss; 0: none yet.
        rows: The finished epochs' lines of metrics.csv.
    """

    lr: float
    epoch: int = 1
    window: int = 0
    step: int = 0
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    best: float | None = None
    best_epoch: int = 0
    rows: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The state from which a training run is resumed.

    Attributes:
        progress: The numbers.
        weights: The network's current weights, not those of the best epoch.
        states: For each task, the hidden state over all columns; empty at the start of an epoch.
        identity: The settings and data of the training, compared before it is resumed.
        remembered: The optimizer's state, by name; empty for gradient descent.
    """

    progress: Progress
    weights: Mapping[str, Tensor]
    states: list[State]
    identity: Mapping[str, object]
    remembered: Mapping[str, Tensor] = field(default_factory=dict)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically.

    Raises:
        LmError: The file cannot be written.
    """
    tensors = {_WEIGHT + name: tensor for name, tensor in checkpoint.weights.items()}
    for task, state in enumerate(checkpoint.states):
        tensors |= {f"{_STATE}{task}.{part}": tensor for part, tensor in enumerate(state)}
    tensors |= {_REMEMBERED + name: tensor for name, tensor in checkpoint.remembered.items()}
    saved = {"progress": asdict(checkpoint.progress), "identity": dict(checkpoint.identity)}
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic_write(path) as temporary:
        save_file(on_cpu, temporary, metadata={_PROGRESS: json.dumps(saved)})


def load_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint in a file.

    Raises:
        LmError: The file is missing or damaged.
    """
    weights: dict[str, Tensor] = {}
    parts: dict[int, dict[int, Tensor]] = {}
    remembered: dict[str, Tensor] = {}
    try:
        with safe_open(path, framework="pt") as file:
            saved = json.loads(file.metadata()[_PROGRESS])
            for name in file.keys():  # noqa: SIM118
                if name.startswith(_WEIGHT):
                    weights[name.removeprefix(_WEIGHT)] = file.get_tensor(name)
                elif name.startswith(_REMEMBERED):
                    remembered[name.removeprefix(_REMEMBERED)] = file.get_tensor(name)
                else:
                    task, part = map(int, name.removeprefix(_STATE).split("."))
                    parts.setdefault(task, {})[part] = file.get_tensor(name)
        progress = Progress(**saved["progress"])
    except (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
        raise LmError(
            f"cannot read the checkpoint {path} ({error}). The best weights so far are in the "
            "folder's weights.safetensors; to start again, choose another folder."
        ) from error
    states = [tuple(parts[task][part] for part in sorted(parts[task])) for task in sorted(parts)]
    return Checkpoint(progress, weights, states, saved["identity"], remembered)
