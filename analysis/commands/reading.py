"""``parallax reading``: surprisals of the texts that participants read, by models and people."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from analysis.commands.completions import load_answers
from analysis.errors import AnalysisError
from analysis.scores.scoring_inputs import choose_text_rendering
from analysis.typed.next_words import count_next_words, normalise_beginning
from analysis.typed.same_answers import load_same_answers
from analysis.typed.variants import read_variants
from experiment.materials.formats.regions import join_regions
from experiment.materials.read import load_items
from experiment.records import Item, join_context
from experiment.responses.base import ResponseType
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of
from experiment.studies.load import load_study
from experiment.tables.atomic_write import atomic_write
from lm.loading_options import loading_options
from lm.registry import Device, load_scorer
from lm.surprisal import NATS_PER_BIT, surprisals
from lm.weights import Weights

_PATH = click.Path(path_type=Path)
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A version of an item that is read step by step.

    Attributes:
        name: Its name in the tables.
        context: The context that is shown before it, as a whole.
        steps: Its words or regions.
    """

    name: str
    context: str
    steps: list[str]


@click.command()
@click.argument("model")
@click.argument("source", metavar="STUDY_OR_EXPORT")
@click.option("--out", type=_PATH, required=True,
              help="The table to write (.tsv); its name is the model's in a report.")  # fmt: skip
@loading_options
def surprisal(model: str, source: str, out: Path, device: Device, weights: Weights) -> None:
    """Write MODEL's surprisal of every word or region that participants of a study read.

    STUDY_OR_EXPORT is a study that is read step by step, or the folder of an exported run. Give the
    table to `parallax compare --surprisal`.
    """
    texts = _load_texts(source)
    scorer = load_scorer(model, device, how=weights)
    rendering = choose_text_rendering(scorer)
    model_inputs = [[rendering(step) or step for step in text.steps] for text in texts]
    # Scripts without spaces between words have no spaces between steps either.
    spaces = any(join_regions(text.steps) == " ".join(text.steps) for text in texts)
    step_surprisals = surprisals(scorer, model_inputs, spaces=spaces)
    rows = [
        (f"{step.surprisal_nats / NATS_PER_BIT:.6f}", step.n_tokens, step.n_unknown)
        for steps in step_surprisals
        for step in steps
    ]
    _write_table(out, texts, ("surprisal_bits", "n_tokens", "n_unknown"), rows)
    click.echo(f"{out}: {len(rows):,} steps of {len(texts):,} sentences by {scorer.name}")


@click.command()
@click.argument("source", metavar="STUDY_OR_EXPORT")
@click.option("--run", type=_PATH, help="The exported run of typed answers.")
@click.option("--judgments", type=_PATH, help="An import of typed answers instead of a run.")
@click.option("--items", type=_PATH, help="The texts of that import.")
@click.option(
    "--variants",
    type=_PATH,
    help="A table of texts that count as another answer, as for `parallax compare`.",
)
@click.option(
    "--out",
    type=_PATH,
    required=True,
    help="The table to write (.tsv); its name is that of people in a report.",
)
def cloze(
    source: str,
    run: Path | None,
    judgments: Path | None,
    items: Path | None,
    variants: Path | None,
    out: Path,
) -> None:
    """Write people's surprisal of the words that participants of a study read.

    STUDY_OR_EXPORT is a study that is read step by step, or the folder of an exported run. A word
    has a surprisal if other people completed exactly the text before it, in a study of typed
    answers. Give the table to `parallax compare --surprisal`, with those of models.
    """
    texts, typed = _load_texts(source), load_answers(run, judgments, items)
    same = load_same_answers(typed.study, read_variants(variants) if variants else {})
    completed = count_next_words(typed, same)
    rows, matched, n_untyped = list[tuple[object, ...]](), set[str](), 0
    for beginning, word in (step for text in texts for step in _list_beginnings(text)):
        answers = completed.get(beginning) if len(word.split()) == 1 else None
        if answers is None:
            rows.append(("", "", ""))
            continue
        matched.add(beginning)
        n_untyped += not answers.count(word)
        bits = f"{answers.surprisal_bits(word):.6f}"
        rows.append((bits, answers.count(word), answers.n_people))
    if not matched:
        raise AnalysisError(
            f"no word of the study comes after a text that people completed, of {len(completed):,} "
            "texts that end with their gap",
            where=source,
            expected="single words, and typed texts that are the same up to the gap, with the same "
            "punctuation and context",
        )
    _write_table(out, texts, ("surprisal_bits", "n", "n_people"), rows)
    n_matched = sum(row[0] != "" for row in rows)
    click.echo(
        f"{out}: {n_matched:,} of {len(rows):,} steps of {len(texts):,} sentences; nobody typed "
        f"{n_untyped:,} of these words"
    )
    if others := [next_.texts[0] for text, next_ in completed.items() if text not in matched]:
        click.echo(
            f"After {len(others):,} of {len(completed):,} completed texts, no word was read: "
            + ", ".join(others[:_MOST_NAMED])
            + (" ..." if len(others) > _MOST_NAMED else "")
        )


def _list_beginnings(text: _ReadText) -> Iterator[tuple[str, str]]:
    """Yield each step of a text, after the form of the text before it that is compared."""
    for number, step in enumerate(text.steps):
        before = join_context(text.context, join_regions(text.steps[:number]))
        yield normalise_beginning(before), step


def _load_texts(source: str) -> list[_ReadText]:
    """Return the texts of a study, or of an exported run, that are read step by step.

    Raises:
        AnalysisError: The study is not read step by step.
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
    return list(_list_texts(response, load_items(study)))


def _list_texts(response: ResponseType, items: Iterable[Item]) -> Iterator[_ReadText]:
    """Yield each version in the tables, with its steps."""
    for item in items:
        item_type = response.of_item(item)
        if not isinstance(item_type, Read):
            continue
        context = "" if item_type.context == "read" else item.context
        for version in item_type.versions(item):
            steps = [step.text for step in item_type.steps(item, version)]
            yield _ReadText(f"{item.item_id}:{version}", context, steps)


def _write_table(
    out: Path, texts: Iterable[_ReadText], columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a table of surprisals, with a row for each step of each text."""
    values = iter(rows)
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["text_id", "position", "text", *columns])
        for text in texts:
            for number, step in enumerate(text.steps, start=1):
                writer.writerow([text.name, number, step, *next(values)])
