"""``parallax lm paired``: compare models with each other on one benchmark, on one page."""

import json
from pathlib import Path

import click
from markdown_it import MarkdownIt

from analysis.errors import AnalysisError
from analysis.findings.benchmark import compare_model_pairs, paired_tables
from analysis.tables.accuracy_table import Table
from analysis.tables.render import save_table, to_markdown, to_text
from experiment.tables.atomic_write import atomic_folder
from experiment.version import code_version

PAGE, NUMBERS = "paired.html", "paired.json"
_SUFFIXES = (".csv", ".md", ".tex", ".txt")
_OWN = {PAGE, NUMBERS} | {
    name + suffix for name in ("paired", "paired_by_paradigm") for suffix in _SUFFIXES
}
_HTML = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Models against models</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 72rem;
margin: 2rem auto; padding: 0 1rem; }} table {{ border-collapse: collapse; font-size: .86rem;
font-variant-numeric: tabular-nums; display: block; overflow-x: auto; margin: 1rem 0; }}
td, th {{ padding: .25rem .5rem; border-bottom: 1px solid #ccc; text-align: right;
vertical-align: bottom; }} td {{ white-space: nowrap; }} th {{ font-weight: 600; }}
td:first-child, th:first-child {{ text-align: left; }} ul {{ color: #444; font-size: .86rem;
padding-left: 1.2rem; max-width: 60rem; }} li {{ overflow-wrap: anywhere; }}</style>
<h1>Models against models</h1>
{body}
</html>
"""


@click.command("paired")
@click.argument("logs", metavar="MODEL=LOG...", nargs=-1, required=True)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder to write.")
@click.option(
    "--metric", default="", help="The metric of samples.  [default: acc, else exact_match]"
)
@click.option("--by", default="", metavar="FIELD", help="The field that names a sample's paradigm.")
@click.option(
    "--margin",
    default=0.02,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Treat accuracies that differ by less than this as equivalent.",
)
def paired_command(logs: tuple[str, ...], out: Path, metric: str, by: str, margin: float) -> None:
    """Compare models with each other on one benchmark.

    MODEL=LOG is a model's name and its log of items: a score file, or what lm_eval --log_samples
    writes, a file or the folder of one evaluation. No people are needed.
    """
    named = dict(_named(one) for one in logs)
    if len(named) < 2:
        raise AnalysisError(
            f"{len(named)} model is named", expected="at least two, each with a name of its own"
        )
    # An installation may lack the readers of other programs' data.
    from analysis.readers.item_logs import read_item_log, same_items

    read = {name: read_item_log(path, metric, by) for name, path in named.items()}
    same_items(read)
    found = compare_model_pairs(read, margin)
    origin = [
        *(f"{name}: {path}, {len(read[name]):,} items." for name, path in named.items()),
        f"Code: {code_version()}.",
    ]
    tables = paired_tables(found, margin, origin)
    with atomic_folder(out, _OWN) as folder:
        for table in tables:
            save_table(table, folder)
        (folder / PAGE).write_text(_page(tables), "utf-8", newline="\n")
        rows = json.loads(found.to_json(orient="records", double_precision=10))
        text = json.dumps({"margin": margin, "origin": origin, "pairs": rows}, indent=1)
        (folder / NUMBERS).write_text(text + "\n", "utf-8", newline="\n")
    click.echo(to_text(tables[0]))
    click.echo(out / PAGE)


def _named(text: str) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    if not (name and sign and path):
        raise AnalysisError(
            f'"{text}" names no model', expected="MODEL=LOG, such as gpt2=scores/gpt2.parquet"
        )
    return name, Path(path)


def _page(tables: tuple[Table, ...]) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return _HTML.format(body="\n".join(markdown.render(to_markdown(one)) for one in tables))
