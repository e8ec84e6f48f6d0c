"""``parallax lm paired``: compare models item by item on one benchmark, on one page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd

from analysis.data.categorical import decode_texts
from analysis.data.join import decisions
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.findings.benchmark import compare_model_pairs, paired_tables
from analysis.report.table_page import render_table_page
from analysis.tables.render import save_table, to_text
from experiment.materials.formats.raw import json_lines, read_text
from experiment.tables.atomic_write import atomic_folder
from experiment.version import code_version

PAGE, NUMBERS = "paired.html", "paired.json"
_SUFFIXES = (".csv", ".md", ".tex", ".txt")
_OUTPUT_FILES = {PAGE, NUMBERS} | {
    name + suffix for name in ("paired", "paired_by_paradigm") for suffix in _SUFFIXES
}


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
    log_paths = dict(_parse_log_argument(log) for log in logs)
    if len(log_paths) < 2:
        raise AnalysisError(
            f"{len(log_paths)} model is given",
            expected="two or more models, each with its own name",
        )
    # An installation may lack the readers of other programs' data.
    from analysis.commands.paired import read_item_log, require_same_items

    logs_by_model = {name: read_item_log(path, metric, by) for name, path in log_paths.items()}
    require_same_items(logs_by_model)
    pair_results = compare_model_pairs(logs_by_model, margin)
    origin = [
        *(
            f"{name}: {path}, {len(logs_by_model[name]):,} items."
            for name, path in log_paths.items()
        ),
        f"Code: {code_version()}.",
    ]
    tables = paired_tables(pair_results, margin, origin)
    with atomic_folder(out, _OUTPUT_FILES) as folder:
        for table in tables:
            save_table(table, folder)
        (folder / PAGE).write_text(
            render_table_page("Models against models", tables), "utf-8", newline="\n"
        )
        rows = json.loads(pair_results.to_json(orient="records", double_precision=10))
        text = json.dumps({"margin": margin, "origin": origin, "pairs": rows}, indent=1)
        (folder / NUMBERS).write_text(text + "\n", "utf-8", newline="\n")
    click.echo(to_text(tables[0]))
    click.echo(out / PAGE)


def _parse_log_argument(text: str) -> tuple[str, Path]:
    name, sign, path = text.partition("=")
    if not (name and sign and path):
        raise AnalysisError(
            f'"{text}" names no model', expected="MODEL=LOG, such as gpt2=scores/gpt2.parquet"
        )
    return name, Path(path)


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
        return _read_score_file(path)
    files = sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise AnalysisError(
            "the folder holds no log of items",
            where=str(path),
            expected="a score file (.parquet), or samples_*.jsonl as lm_eval --log_samples writes",
        )
    frame = pd.DataFrame([row for file in files for row in _read_sample_log(file, metric, by)])
    if doubled := int(frame["item_id"].duplicated().sum()):
        raise AnalysisError(
            f"{doubled} items occur twice",
            where=str(path),
            expected="one log of each task",
            remedy="Name the folder of one evaluation",
        )
    return frame


def _read_score_file(path: Path) -> pd.DataFrame:
    correct_items = decode_texts(
        decisions(load_scores(path))[["item_id", "construction", "correct"]]
    )
    return correct_items.rename(columns={"construction": PARADIGM}).assign(text="")


def _read_sample_log(path: Path, metric: str, by: str) -> list[dict[str, object]]:
    task = path.stem.removeprefix("samples_").split("_20")[0]
    rows: dict[str, dict[str, object]] = {}
    for location, sample in json_lines(read_text(path)[0], path):
        number = str(sample.get("doc_id", len(rows)))
        # If several filters answered an item, the first one counts.
        if number not in rows:
            rows[number] = {
                "item_id": f"{task}/{number}",
                "text": str(sample.get("doc_hash", "")),
                PARADIGM: _paradigm_of_sample(sample, by, task, location),
                "correct": _is_sample_correct(sample, metric, location),
            }
    return list(rows.values())


def _paradigm_of_sample(sample: Mapping[str, Any], by: str, task: str, location: str) -> str:
    if not by:
        return task
    document = sample.get("doc")
    if not isinstance(document, dict) or by not in document:
        raise AnalysisError(
            f'the sample\'s document has no "{by}"',
            where=location,
            expected=f"one of: {', '.join(document) if isinstance(document, dict) else 'none'}",
        )
    return str(document[by])


def _is_sample_correct(sample: Mapping[str, Any], metric: str, location: str) -> bool:
    names: Sequence[str] = (metric,) if metric else METRICS
    name = next((model_name for model_name in names if model_name in sample), "")
    value = sample.get(name)
    if not isinstance(value, int | float) or value not in (0, 1):
        raise AnalysisError(
            f"the sample does not say whether it is right ({name or 'no metric'}: "
            f"{json.dumps(value)})",
            where=location,
            expected=f"1 or 0 under {' or '.join(names)}",
            remedy="Name the metric of the log with --metric",
        )
    return bool(value)


def require_same_items(logs: Mapping[str, pd.DataFrame]) -> None:
    """Raise an AnalysisError if two logs use one name for different items, or share no item."""
    (first_name, first_log), *other_logs = logs.items()
    for name, log in other_logs:
        shared_items = first_log.merge(log, on="item_id", suffixes=("", "_other"))
        if shared_items.empty:
            raise AnalysisError(
                f"{first_name} and {name} have no item in common",
                expected="logs of one benchmark",
                remedy="Name files or folders of the same tasks",
            )
        with_texts = shared_items[(shared_items["text"] != "") & (shared_items["text_other"] != "")]
        wrong = with_texts[with_texts["text"] != with_texts["text_other"]]
        if len(wrong):
            raise AnalysisError(
                f"{len(wrong)} items of {first_name} and {name} have the same name but other "
                "contents, the "
                f"first {wrong['item_id'].iloc[0]}",
                expected="logs of the same version of the benchmark",
            )
