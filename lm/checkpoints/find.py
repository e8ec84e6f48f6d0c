"""The checkpoints of one model: in a folder, or as revisions of a Hugging Face repository."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zipfile import is_zipfile

from safetensors import SafetensorError, safe_open

from lm.errors import LmError
from lm.model_folder import CONFIG, read_config
from lm.registry import HF_PREFIX

ALL_REVISIONS = "all"
_HISTORY_FOLDER = "checkpoints"
_STEP = re.compile(r"(?:checkpoint|step|global_step)[-_]?(\d+)")
_TOKENS = re.compile(r"tokens[-_]?(\d+)([MBT])")
_UNIT_LETTERS = {"M": 10**6, "B": 10**9, "T": 10**12}
_SEED = re.compile(r"(.+)-seed(\d+)")
_INDEX, _WEIGHTS = "model.safetensors.index.json", "*.safetensors"
_OTHER_WEIGHTS = "pytorch_model*.bin"


@dataclass(frozen=True, slots=True, order=True)
class Checkpoint:
    """A model at one point of its training.

    Attributes:
        tokens_seen: The number of tokens that the model had read, repeated ones included.
        name: The folder's or revision's name.
        model: The model as ``load_scorer`` takes it.
    """

    tokens_seen: int
    name: str
    model: str


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Published models with revisions of their training.

    Attributes:
        names: A pattern of the repositories' names.
        tokens_per_step: The tokens that a step reads.
        doubling: The last of the steps 1, 2, 4 ... that are revisions.
        every: The distance of later revisions.
        last: The last step.
    """

    names: str
    tokens_per_step: int
    doubling: int
    every: int
    last: int

    def revisions(self) -> list[str]:
        """Return the names of the revisions."""
        steps = [0, *(2**power for power in range(self.doubling.bit_length()))]
        return [f"step{step}" for step in (*steps, *range(self.every, self.last + 1, self.every))]


FAMILIES = (ModelFamily(r"EleutherAI/pythia-[\w.-]+", 2_097_152, 512, 1_000, 143_000),)


@dataclass(frozen=True, slots=True)
class Training:
    """One training with its checkpoints, in the order of the tokens seen.

    Attributes:
        name: The model's name; trainings with other seeds have the same.
        seed: The training's seed; empty if it is not known.
        checkpoints: At least two.
    """

    name: str
    seed: str
    checkpoints: tuple[Checkpoint, ...]

    @property
    def label(self) -> str:
        """The name with the seed, unique among the trainings of a comparison."""
        return f"{self.name}, seed {self.seed}" if self.seed else self.name


def find_in_folder(model: str, tokens_per_step: int | None = None) -> Training:
    """Return the checkpoints in a folder, or in the ``checkpoints`` of a model trained here.

    Args:
        model: The folder, after ``hf:`` if its checkpoints are Hugging Face models.
        tokens_per_step: The tokens that each step read, if the checkpoints do not say.

    Raises:
        LmError: There are fewer than two checkpoints, one is incomplete, or the number of tokens
            that it has seen is not known.
    """
    prefix = HF_PREFIX if model.startswith(HF_PREFIX) else ""
    root = Path(model.removeprefix(HF_PREFIX))
    folder = root / _HISTORY_FOLDER if (root / _HISTORY_FOLDER).is_dir() else root
    paths = [path for path in folder.iterdir() if _is_checkpoint(path)] if folder.is_dir() else []
    checkpoints = []
    for path in paths:
        refuse_half_written(path)
        seen = _tokens_in_files(path) or _tokens_by_name(path.name, tokens_per_step)
        checkpoints.append(Checkpoint(seen, path.name, f"{prefix}{path}"))
    first = read_config(paths[0]) if checkpoints and not prefix else {}
    training = first.get("training")
    seed = training.get("seed", "") if isinstance(training, dict) else ""
    name, seed_in_name = _split_seed(root.resolve().name)
    return _in_order(
        Training(str(first.get("name", name)), str(seed) or seed_in_name, tuple(checkpoints)),
        f"{folder} (folders such as step1000 or checkpoint-1000)",
    )


def find_revisions(
    model: str, revisions: Sequence[str], tokens_per_step: int | None = None
) -> Training:
    """Return revisions of a Hugging Face repository as checkpoints.

    Args:
        model: ``hf:`` and the repository's name.
        revisions: The revisions; ``all`` for every one that is named after a step.
        tokens_per_step: The tokens that each step read; needed only if neither the revisions' names
            nor a known family says so.

    Raises:
        LmError: A revision does not exist, or the number of tokens that it has seen is not known.
    """
    repository = model.removeprefix(HF_PREFIX)
    if not model.startswith(HF_PREFIX) or Path(repository).exists():
        raise LmError(
            f"--revisions are those of a Hugging Face repository, and {model} is none. Write hf: "
            "and its name; for folders on this machine, use --checkpoints."
        )
    family = next((f for f in FAMILIES if re.fullmatch(f.names, repository)), None)
    if list(revisions) == [ALL_REVISIONS]:
        revisions = family.revisions() if family else _list_branches(repository)
    else:
        for revision in revisions:
            _refuse_missing(repository, revision)
    per_step = tokens_per_step or (family.tokens_per_step if family else None)
    checkpoints = tuple(
        Checkpoint(_tokens_by_name(name, per_step), name, f"{HF_PREFIX}{repository}@{name}")
        for name in dict.fromkeys(revisions)
    )
    name, seed = _split_seed(Path(repository).name)
    return _in_order(Training(name, seed, checkpoints), f"the revisions of {repository}")


def refuse_half_written(folder: Path) -> None:
    """Raise an error if a checkpoint's files are incomplete.

    Raises:
        LmError: config.json or the weights are missing, or a file of weights is too short.
    """
    problem = "" if (folder / CONFIG).is_file() else f"{CONFIG} is missing"
    if not problem and "model" in read_config(folder):
        # Its weights are elsewhere, and loading says whether they are whole.
        return
    weights = sorted(folder.glob(_WEIGHTS))
    names: set[str] = set()
    try:
        if (folder / _INDEX).is_file():
            names = set(json.loads((folder / _INDEX).read_text("utf-8"))["weight_map"].values())
    except (ValueError, LookupError, TypeError) as error:
        problem = f"{_INDEX} cannot be read ({error})"
    if missing := sorted(names - {path.name for path in weights}):
        problem = f"{missing[0]} is missing"
    elif not weights and not any(folder.glob(_OTHER_WEIGHTS)):
        problem = "its weights are missing"
    for path in weights:
        try:
            # The library compares the file's length with the lengths that its header states.
            with safe_open(path, framework="np"):
                pass
        except (OSError, SafetensorError) as error:
            problem = f"{path.name} cannot be read ({error})"
    for path in folder.glob(_OTHER_WEIGHTS):
        # These files are ZIP archives, whose directory is written last.
        if _begins_as_zip(path) and not is_zipfile(path):
            problem = f"{path.name} is too short"
    if problem:
        raise LmError(
            f"the checkpoint {folder} is half-written: {problem}. Remove this folder, or wait "
            "until the training has written it."
        )


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _as_number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _is_checkpoint(path: Path) -> bool:
    return path.is_dir() and _STEP.fullmatch(path.name) is not None


def _split_seed(name: str) -> tuple[str, str]:
    match = _SEED.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _tokens_in_files(folder: Path) -> int | None:
    """Return the tokens that a checkpoint's own files state; None if they do not."""
    state = folder / "trainer_state.json"
    try:
        seen = read_config(folder).get("tokens_seen")
        if seen is None and state.is_file():
            # The library writes 0 unless it was asked to count.
            seen = json.loads(state.read_text("utf-8")).get("num_input_tokens_seen") or None
    except (ValueError, AttributeError) as error:
        raise LmError(f"{state} is not a JSON object ({error}). Remove this checkpoint.") from error
    return _as_number(seen)


def _tokens_by_name(name: str, tokens_per_step: int | None) -> int:
    if tokens := _TOKENS.search(name):
        return int(tokens[1]) * _UNIT_LETTERS[tokens[2]]
    step = _STEP.match(name)
    if step is None:
        raise LmError(
            f'the checkpoint "{name}" does not name its step. Expected a name such as step1000, '
            "checkpoint-1000 or step1000-tokens4B."
        )
    if tokens_per_step is None and int(step[1]):
        raise LmError(
            f"how many tokens {name} has seen is not known. Give the tokens that each step read "
            "(batch times length times devices) with --tokens-per-step."
        )
    return int(step[1]) * (tokens_per_step or 0)


def _in_order(trained: Training, where: str) -> Training:
    ordered = tuple(sorted(trained.checkpoints))
    if len(ordered) < 2:
        names = f"only {ordered[0].name}" if ordered else "no checkpoint"
        raise LmError(f"{where}: {names} was found. Expected two or more checkpoints.")
    for earlier, later in pairwise(ordered):
        if earlier.tokens_seen == later.tokens_seen:
            raise LmError(
                f"{where}: {earlier.name} and {later.name} have both seen {later.tokens_seen:,} "
                "tokens. Expected checkpoints that have each seen more tokens than the one before."
            )
    return Training(trained.name, trained.seed, ordered)


def _list_branches(repository: str) -> list[str]:
    from huggingface_hub import HfApi

    try:
        branches: Iterable[str] = (ref.name for ref in HfApi().list_repo_refs(repository).branches)
        return [name for name in branches if _STEP.match(name)]
    # Without a connection, the library raises the errors of its transport, which is another package
    # in each version.
    except Exception as error:
        raise LmError(
            f"the branches of {repository} cannot be listed ({type(error).__name__}). Name the "
            "revisions, as in --revisions step1000,step2000; those must be in the local cache "
            "if the hub cannot be reached."
        ) from error


def _refuse_missing(repository: str, revision: str) -> None:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    try:
        if isinstance(try_to_load_from_cache(repository, CONFIG, revision=revision), str):
            return
        hf_hub_download(repository, CONFIG, revision=revision)
    # Also ValueError for impossible names, and the errors of the library's transport.
    except Exception as error:
        raise LmError(
            f'{repository} has no revision "{revision}" here, in the local cache or in reach '
            f"({type(error).__name__}). Expected the name of a branch or a commit."
        ) from error
