"""``parallax lm export`` and ``parallax lm schema``: convert score files for other programs."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import click
import pyarrow.parquet as pq

from analysis.data.facts import ScoreFacts
from analysis.data.load import read_score_facts
from analysis.errors import AnalysisError
from analysis.scores.scoring_inputs import find_materials
from experiment.records import Item, Variant
from experiment.tables.atomic_write import atomic_write
from experiment.tables.column import json_schema
from experiment.tables.schemas import SCORES

_PLAIN = ("model", "item_id", "construction", "condition", "variant", "text", "logprob_nats",
          "n_tokens", "n_unknown", "token_logprobs_nats")  # fmt: skip
_MINICONS_COLUMNS = ("sentence_id", "sentence", "n_tokens", "logprob")

Row = Mapping[str, object]


def export_scores(
    path: Path, facts: ScoreFacts, items: Mapping[str, Item], form: str, out: Path
) -> int:
    """Write a score file in another format, and return the number of rows written.

    Args:
        path: The score file.
        facts: Its metadata.
        items: The items by their ids.
        form: One of ``FORMS``.
        out: The file to write.

    Raises:
        AnalysisError: A scored item is not among the items.
    """
    rows = pq.read_table(path).to_pylist()
    if unknown := [row["item_id"] for row in rows if row["item_id"] not in items]:
        raise AnalysisError(
            f"{len(set(unknown))} scored item(s) are not among the items; the first: {unknown[0]}",
            where=str(path),
            expected="the items that were scored",
        )
    with (
        atomic_write(out) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        n_lines = 0
        for line in FORMS[form](rows, facts, items):
            file.write(line)
            n_lines += 1
    # The first line of a table contains the headers.
    return n_lines - (form != "lm_eval")


def _plain_lines(rows: list[Row], facts: ScoreFacts, items: Mapping[str, Item]) -> Iterator[str]:
    yield _format_csv_line(_PLAIN)
    for row in rows:
        added_columns = {
            "model": facts.model,
            "text": _text_of_version(items[str(row["item_id"])], row),
        }
        tokens = " ".join(f"{nats:.9g}" for nats in _convert_to_floats(row["token_logprobs_nats"]))
        filled_row = {**row, **added_columns, "token_logprobs_nats": tokens}
        yield _format_csv_line([filled_row[name] for name in _PLAIN])


def _minicons_lines(
    rows: list[Row], _facts: ScoreFacts, items: Mapping[str, Item]
) -> Iterator[str]:
    yield _format_csv_line(_MINICONS_COLUMNS)
    for number, row in enumerate(rows, start=1):
        text = _text_of_version(items[str(row["item_id"])], row)
        yield _format_csv_line([number, text, row["n_tokens"], row["logprob_nats"]])


def _sample_lines(rows: list[Row], _facts: ScoreFacts, items: Mapping[str, Item]) -> Iterator[str]:
    scores = {(str(row["item_id"]), str(row["variant"])): row["logprob_nats"] for row in rows}
    for number, item_id in enumerate(dict.fromkeys(str(row["item_id"]) for row in rows)):
        item = items[item_id]
        pair = [scores[item_id, version] for version in (Variant.GOOD, item.contrast)]
        delimiter = " " if item.context else ""
        arguments = {
            f"gen_args_{index}": {"arg_0": item.context, "arg_1": f"{delimiter}{text}"}
            for index, text in enumerate((item.good, item.alternative))
        }
        answers = [[str(nats), "False"] for nats in pair]
        sample = {
            "doc_id": number,
            "doc": {"item_id": item_id, "UID": item.construction, **dict(item.extra)},
            "target": "0",
            "arguments": arguments,
            "resps": [[answer] for answer in answers],
            "filtered_resps": answers,
            "filter": "none",
            "metrics": ["acc"],
            "acc": float(float(str(pair[0])) >= float(str(pair[1]))),
        }
        yield json.dumps(sample, ensure_ascii=False) + "\n"


def _convert_to_floats(values: object) -> list[float]:
    return [float(value) for value in values] if isinstance(values, list) else []


def _text_of_version(item: Item, row: Row) -> str:
    return item.after_context(item.version(str(row["variant"])))


class _ReturningWriter:
    def write(self, text: str) -> str:
        return text


def _format_csv_line(values: object) -> str:
    line: str = csv.writer(_ReturningWriter(), lineterminator="\n").writerow(values)  # type: ignore[arg-type]
    return line


FORMS: Mapping[str, Callable[[list[Row], ScoreFacts, Mapping[str, Item]], Iterator[str]]] = (
    MappingProxyType({"plain": _plain_lines, "minicons": _minicons_lines, "lm_eval": _sample_lines})
)


_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("scores", type=_PATH)
@click.argument("items", metavar="STUDY_OR_ITEMS")
@click.option("--out", required=True, type=_PATH, help="The file to write.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="plain",
    show_default=True,
    help="plain and minicons: CSV; lm_eval: samples (.jsonl).",
)
def export(scores: Path, items: str, out: Path, form: str) -> None:
    """Write SCORES for other programs.

    SCORES is a score file. STUDY_OR_ITEMS has the texts, which a score file lacks.
    """
    facts = read_score_facts(scores)
    items_by_id = {item.item_id: item for item in find_materials(items).items()}
    number = export_scores(scores, facts, items_by_id, form, out)
    click.echo(f"{out}: {number:,} rows of {facts.model}")


@click.command()
def schema() -> None:
    """Print the JSON Schema of score files.

    It describes the rows and the metadata.
    """
    click.echo(json.dumps(make_score_schema(), indent=2))


def make_score_schema() -> dict[str, object]:
    """Return the schema published as docs/score_schema.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A score file of Parallax",
        "description": "A Parquet file; metadata are its key-value pairs.",
        "type": "object",
        "properties": {
            "metadata": ScoreFacts.model_json_schema(),
            "rows": {"type": "array", "items": json_schema(SCORES)},
        },
        "required": ["metadata", "rows"],
    }
