"""``parallax reading``: compute surprisals of the texts that participants read in steps."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import click

from analysis.errors import AnalysisError
from experiment.materials.formats.regions import join_regions
from experiment.materials.read import load_items
from experiment.materials.render import split_lower_case_tokens
from experiment.records import Item
from experiment.responses.base import ResponseType
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from experiment.tables.atomic_write import atomic_write
from lm.registry import Device, load_scorer
from lm.scorer import HasSubwords, Scorer
from lm.surprisal import NATS_PER_BIT, surprisals


@click.command()
@click.argument("model")
@click.argument("source", metavar="STUDY_OR_EXPORT")
@click.option("--out", type=click.Path(path_type=Path), required=True,
              help="The table to write (.tsv); its name is the model's in a report.")  # fmt: skip
@click.option("--device", type=click.Choice(get_args(Device)), default="auto", show_default=True)
def surprisal(model: str, source: str, out: Path, device: Device) -> None:
    """Write MODEL's surprisal of every word or region that participants of a study read.

    STUDY_OR_EXPORT is a study that is read step by step, or the folder of an exported run. Give the
    table to `parallax compare --surprisal`.
    """
    study_folder = Path(source) / "study"
    study = load_study(str(study_folder) if study_folder.is_dir() else source)
    response = response_of(study, own_code=False)
    if not response.step_table:
        raise AnalysisError(
            f'the study "{study.name}" is not read step by step: its response is "{response.name}"',
            where=source,
            expected='the response "self_paced" or "maze", or a task with one of them',
        )
    scorer = load_scorer(model, device)
    texts = list(_list_steps_by_version(response, load_items(study)))
    model_inputs = [[_step_as_model_input(scorer, text) for text in steps] for _, steps in texts]
    # Scripts without spaces between words have no spaces between steps either.
    spaces = any(join_regions(steps) == " ".join(steps) for _, steps in texts)
    step_surprisals = surprisals(scorer, model_inputs, spaces=spaces)
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["text_id", "position", "text", "surprisal_bits", "n_tokens", "n_unknown"])
        for (name, steps), sentence_surprisals in zip(texts, step_surprisals, strict=True):
            for number, (text, step_surprisal) in enumerate(
                zip(steps, sentence_surprisals, strict=True), start=1
            ):
                bits = f"{step_surprisal.surprisal_nats / NATS_PER_BIT:.6f}"
                writer.writerow(
                    [name, number, text, bits, step_surprisal.n_tokens, step_surprisal.n_unknown]
                )
    click.echo(
        f"{out}: {sum(map(len, step_surprisals)):,} steps of {len(texts):,} sentences by "
        f"{scorer.name}"
    )


def _list_steps_by_version(
    response: ResponseType, items: Iterable[Item]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each version in the tables, and the version's steps."""
    for item in items:
        item_type = response.of_item(item)
        if not isinstance(item_type, Read):
            continue
        for version in item_type.versions(item):
            steps = [step.text for step in item_type.steps(item, version)]
            yield f"{item.item_id}:{version}", steps


def _step_as_model_input(scorer: Scorer, text: str) -> str:
    """Return a step as model input; word-level models need punctuation as separate words."""
    if isinstance(scorer, HasSubwords):
        return text
    return split_lower_case_tokens(text) or text
