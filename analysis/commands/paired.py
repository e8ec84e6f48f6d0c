"""``parallax lm paired``: compare models item by item on one benchmark, on one page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd
from markdown_it import MarkdownIt

from analysis.data.categorical import decode
from analysis.data.join import decisions
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.findings.benchmark import compare_model_pairs, paired_tables
from analysis.tables.accuracy_table import Table
from analysis.tables.render import save_table, to_markdown, to_text
from experiment.materials.formats.raw import json_lines, read_text
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
    named = dict(_named(log) for log in logs)
    if len(named) < 2:
        raise AnalysisError(
            f"{len(named)} model is named", expected="at least two, each with a name of its own"
        )
    # An installation may lack the readers of other programs' data.
    from analysis.commands.paired import read_item_log, same_items

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
    return _HTML.format(body="\n".join(markdown.render(to_markdown(table)) for table in tables))


# The harness's metrics of correctness, in order of preference.
METRICS = ("acc", "exact_match", "acc_norm")
PARADIGM = "paradigm"


def read_item_log(path: Path, metric: str = "", by: str = "") -> pd.DataFrame:
    """Read a model's results by item: item_id, text, paradigm and correct.

    Args:
        path: A score file (.parquet), a file of samples (.jsonl), or a folder with such files, one
            for each task.
        metric: The harness's metric; the first of ``METRICS`` by default.
        by: The field of a sample's document that names its paradigm; the task by default.

    Returns:
        item_id, text (a hash of the item where the log has one, to compare), paradigm, correct.

    Raises:
        AnalysisError: The log does not exist, or has no correctness.
    """
    if path.suffix == ".parquet":
        return _of_scores(path)
    files = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise AnalysisError(
            "there is no log of items",
            where=str(path),
            expected="a score file (.parquet), or samples_*.jsonl as lm_eval --log_samples writes",
        )
    frame = pd.DataFrame([row for file in files for row in _samples(file, metric, by)])
    if doubled := int(frame["item_id"].duplicated().sum()):
        raise AnalysisError(
            f"{doubled} items are there twice",
            where=str(path),
            expected="one log of each task",
            remedy="Name the folder of one evaluation",
        )
    return frame


def _of_scores(path: Path) -> pd.DataFrame:
    found = decode(decisions(load_scores(path))[["item_id", "construction", "correct"]])
    return found.rename(columns={"construction": PARADIGM}).assign(text="")


def _samples(path: Path, metric: str, by: str) -> list[dict[str, object]]:
    task = path.stem.removeprefix("samples_").split("_20")[0]
    seen: dict[str, dict[str, object]] = {}
    for place, sample in json_lines(read_text(path)[0], path):
        number = str(sample.get("doc_id", len(seen)))
        # If several filters answered an item, the first one counts.
        if number not in seen:
            seen[number] = {
                "item_id": f"{task}/{number}",
                "text": str(sample.get("doc_hash", "")),
                PARADIGM: _paradigm(sample, by, task, place),
                "correct": _correct(sample, metric, place),
            }
    return list(seen.values())


def _paradigm(sample: Mapping[str, Any], by: str, task: str, place: str) -> str:
    if not by:
        return task
    document = sample.get("doc")
    if not isinstance(document, dict) or by not in document:
        raise AnalysisError(
            f'the sample\'s document has no "{by}"',
            where=place,
            expected=f"one of: {', '.join(document) if isinstance(document, dict) else 'none'}",
        )
    return str(document[by])


def _correct(sample: Mapping[str, Any], metric: str, place: str) -> bool:
    names: Sequence[str] = (metric,) if metric else METRICS
    name = next((model_name for model_name in names if model_name in sample), "")
    value = sample.get(name)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise AnalysisError(
            f"the sample does not say whether it is right ({name or 'no metric'}: "
            f"{json.dumps(value)})",
            where=place,
            expected=f"1 or 0 under {' or '.join(names)}",
            remedy="Name the metric of the log with --metric",
        )
    return bool(value)


def same_items(logs: Mapping[str, pd.DataFrame]) -> None:
    """Raise an AnalysisError if two logs use one name for different items, or share no item."""
    (first, own), *others = logs.items()
    for name, log in others:
        both = own.merge(log, on="item_id", suffixes=("", "_other"))
        if both.empty:
            raise AnalysisError(
                f"{first} and {name} have no item in common",
                expected="logs of one benchmark",
                remedy="Name files or folders of the same tasks",
            )
        known = both[(both["text"] != "") & (both["text_other"] != "")]
        wrong = known[known["text"] != known["text_other"]]
        if len(wrong):
            raise AnalysisError(
                f"{len(wrong)} items of {first} and {name} have one name and other contents, the "
                f"first {wrong['item_id'].iloc[0]}",
                expected="logs of the same version of the benchmark",
            )
