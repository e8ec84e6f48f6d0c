"""``parallax lm export`` and ``parallax lm schema``: convert score files for other programs."""

import json
from pathlib import Path

import click

from analysis.data.load import ScoreFacts, score_facts
from analysis.scores.exported import FORMS, export_scores
from analysis.scores.scoring_inputs import find_materials
from experiment.tables.column import json_schema
from experiment.tables.schemas import SCORES

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

    SCORES is a score file. STUDY_OR_ITEMS holds the texts, which a score file does not.
    """
    facts = score_facts(scores)
    known = {item.item_id: item for item in find_materials(items).items()}
    number = export_scores(scores, facts, known, form, out)
    click.echo(f"{out}: {number:,} rows of {facts.model}")


@click.command()
def schema() -> None:
    """Print the JSON Schema of score files.

    It says what a row and what the metadata holds.
    """
    click.echo(json.dumps(score_schema(), indent=2))


def score_schema() -> dict[str, object]:
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
