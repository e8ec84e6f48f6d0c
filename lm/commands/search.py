"""``parallax lm search``: train many models, and compare their perplexity on held-out text."""

import csv
import os
from collections.abc import Mapping
from concurrent.futures import as_completed
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from lm.commands.train import explain_memory_errors, show_progress
from lm.corpora.vocab import DEFAULT_MAX_WORDS
from lm.errors import LmError
from lm.model_folder import atomic_write, read_config
from lm.training.settings import TrainingSettings, read_grid

if TYPE_CHECKING:
    from lm.corpora.folder import Corpus, CorpusChoices
    from lm.devices import DeviceChoice

TABLE_FILE = "search.csv"
_RESULT_COLUMNS = ("valid_perplexity", "valid_perplexity_known", "best_epoch", "epochs_trained")
_PATH = click.Path(path_type=Path)
Row = dict[str, object]


@click.command()
@click.argument("spec")
@click.option("--data", type=_PATH, required=True, help="A text or a folder of texts.")
@click.option(
    "--out", type=_PATH, required=True, help="A folder to write the models and the table to."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many models to train at a time.",
)
@click.option("--max-words", type=click.IntRange(1), default=DEFAULT_MAX_WORDS, show_default=True)
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "mps"]), default="auto")
@click.option(
    "--cache", type=_PATH, help="Where to keep prepared texts.  [default: next to the text]"
)
def search(
    spec: str,
    data: Path,
    out: Path,
    jobs: int,
    max_words: int,
    device: "DeviceChoice",
    cache: Path | None,
) -> None:
    """Train every model of SPEC and list their perplexities.

    SPEC is a TOML file or a grid's name.

    Trained models are kept, and unfinished trainings continue.
    """
    # Imported only here and in the workers, so that --help needs no library of an extra.
    import torch

    from lm.corpora.folder import CorpusChoices, prepare

    models = read_grid(spec)
    choices = CorpusChoices(max_words)
    prepare(data, choices, cache, show_progress)
    threads = max(1, (os.cpu_count() or 1) // jobs)
    train = partial(_train_one, data, choices, cache, out, device)
    rows: dict[str, Row] = {}
    # The command's help needs none of the libraries for training.
    from lm.sharding import worker_pool

    with worker_pool(jobs, torch.set_num_threads, threads) as pool, tqdm(
        total=len(models), desc="Models", disable=None
    ) as bar:  # fmt: skip
        running = {pool.submit(train, name, models[name]): name for name in models}
        for done in as_completed(running):
            rows[running[done]] = done.result()
            _write(out / TABLE_FILE, models, rows)
            bar.update()
    click.echo(f"{out / TABLE_FILE}: {len(rows)} models; {_name_best_model(rows)}")


def _train_one(
    data: Path,
    choices: "CorpusChoices",
    cache: Path | None,
    out: Path,
    device: "DeviceChoice",
    name: str,
    settings: TrainingSettings,
) -> Row:
    """Train one model in its own process, and return its results or an error message."""
    from lm.corpora.folder import prepare

    try:
        with explain_memory_errors():
            return _train_model(prepare(data, choices, cache), out / name, device, name, settings)
    except LmError as error:
        return {"problem": str(error)}


def _train_model(
    corpus: "Corpus", folder: Path, device: "DeviceChoice", name: str, settings: TrainingSettings
) -> Row:
    from lm.devices import Processes, choose_device
    from lm.rnn.folder import CHECKPOINT
    from lm.training.plan import TrainingPlan
    from lm.training.run import CheckpointWriter, finish_training, is_finished, start_or_resume

    plan = TrainingPlan(settings, corpus, None, name, folder)
    if not is_finished(plan):
        never = bool
        single_process = Processes()
        writer = CheckpointWriter(
            plan, single_process, lambda *_: None, lambda _: None, never, never
        )
        resume = (folder / CHECKPOINT).is_file()
        trainer = start_or_resume(plan, writer, choose_device(device), single_process, resume)
        trainer.run()
        finish_training(plan, trainer.progress)
    config = read_config(folder)
    return {key: config[key] for key in _RESULT_COLUMNS}


def _write(path: Path, models: Mapping[str, TrainingSettings], rows: Mapping[str, Row]) -> None:
    settings = list(asdict(TrainingSettings()))
    with (
        atomic_write(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, ["model", *_RESULT_COLUMNS, "problem", *settings], restval="")
        writer.writeheader()
        for name in models:
            if name in rows:
                writer.writerow({"model": name} | asdict(models[name]) | rows[name])


def _name_best_model(rows: Mapping[str, Row]) -> str:
    perplexities = {
        name: row["valid_perplexity"] for name, row in rows.items() if "problem" not in row
    }
    if not perplexities:
        return "no model could be trained; the table says why"
    name, value = min(perplexities.items(), key=lambda pair: float(str(pair[1])))
    return f"the best is {name}, validation perplexity {float(str(value)):.2f}"
