"""``parallax lm codes``: the categories that a model proposes for typed answers."""

import csv
import hashlib
import json
from pathlib import Path

import click
from tqdm import tqdm

from analysis.commands.completions import load_answers
from analysis.typed.model_codes import (
    COLUMNS,
    AnswerToCode,
    code_answers,
    get_coding,
    list_answers_to_code,
    write_prompt,
)
from experiment.tables.files import require_suffix, safe_cell
from experiment.version import code_version
from lm.loading_options import loading_options
from lm.model_folder import atomic_write, model_identity
from lm.registry import Device, load_scorer
from lm.weights import DEFAULT_WEIGHTS, Weights

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model")
@click.option("--run", type=_PATH, help="The folder that `parallax export` wrote.")
@click.option("--judgments", type=_PATH, help="An import of typed answers instead of a run.")
@click.option("--items", type=_PATH, help="The study of that import, with its categories.")
@loading_options
@click.option("--out", type=_PATH, required=True, help="The table to write (.csv).")
def codes(
    model: str,
    run: Path | None,
    judgments: Path | None,
    items: Path | None,
    device: Device,
    weights: Weights,
    out: Path,
) -> None:
    """Write the category that MODEL proposes for each different typed answer.

    MODEL reads what coders read. `parallax coding propose` takes the table; a record of the prompt
    and the model is written next to it (.json).
    """
    require_suffix(out, ".csv")
    people = load_answers(run, judgments, items)
    coding, answers = get_coding(people), list_answers_to_code(people)
    scorer = load_scorer(model, device, how=weights)
    n_coded = 0
    progress = tqdm(answers, desc="Coding", unit=" answers", disable=None)
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in code_answers(scorer, coding, progress):
            writer.writerow(map(safe_cell, row))
            n_coded += 1
    # The record has the prompt with places for each answer and its text.
    text = "{text}" if coding.show_text else ""
    record = {
        "model": scorer.name,
        "trained_on": scorer.trained_on,
        "identity": model_identity(model),
        "weights": weights.in_words or DEFAULT_WEIGHTS.dtype,
        "prompt": write_prompt(coding, AnswerToCode("", "", 1, text, "{answer}")),
        "code_version": code_version(),
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
    }
    with atomic_write(out.with_suffix(".json")) as temporary:
        written = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        temporary.write_text(written, encoding="utf-8", newline="\n")
    click.echo(f"{out}: codes of {n_coded:,} of {len(answers):,} answers by {scorer.name}")
