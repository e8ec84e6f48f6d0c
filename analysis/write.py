"""Writing a comparison as a folder that appears whole or not at all."""

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from analysis.comparison import Comparison
from analysis.figures.drawing import save_drawing
from analysis.provenance import ModelFacts
from analysis.report import render_report
from analysis.typeset import SETTINGS
from experiment.writing import replacing_folder

RESULTS = "results.json"
REPORT = "report.html"


def written_before(folder: Path) -> set[str]:
    """Return the names that an earlier comparison left in a folder."""
    try:
        return set(json.loads((folder / RESULTS).read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def write_comparison(
    comparison: Comparison, folder: Path, *, figures: bool = True
) -> tuple[Path, ...]:
    """Write tables, figures, report and results; an earlier comparison there is replaced.

    Args:
        comparison: What to write.
        folder: Where to.
        figures: Whether figures are drawn, which takes longer than all else.

    Returns:
        The files, the report first.

    Raises:
        WritingError: The folder holds something else, or cannot be written.
    """
    with replacing_folder(folder, written_before(folder)) as temporary:
        names = _write_files(comparison, temporary, figures=figures)
    return tuple(folder / name for name in names)


def _write_files(comparison: Comparison, folder: Path, *, figures: bool) -> list[str]:
    names, drawn = [REPORT], {}
    for table in comparison.tables:
        for suffix, setting in SETTINGS.items():
            (folder / f"{table.name}{suffix}").write_text(setting(table), "utf-8")
            names.append(f"{table.name}{suffix}")
    for drawing in comparison.drawings if figures else ():
        paths = save_drawing(drawing, folder)
        drawn[drawing.name] = paths[0].read_text("utf-8")
        names += [path.name for path in paths]
    (folder / REPORT).write_text(render_report(comparison, drawn, libraries()), "utf-8")
    names.append(RESULTS)
    (folder / RESULTS).write_text(_results(comparison, names), "utf-8")
    return names


def _results(comparison: Comparison, files: list[str]) -> str:
    """Return every number and its origin as JSON; ``files`` says what a comparison wrote."""
    origin = comparison.provenance
    content = {
        "provenance": {
            "simulated": origin.simulated,
            "run": origin.run.model_dump(mode="json"),
            "participants": asdict(origin.flow),
            "n_judgments": origin.n_judgments,
            "n_items": origin.n_items,
            "models": [_model(model) for model in origin.models],
            "metric": origin.metric,
            "resamples": origin.resamples,
            "seed": origin.seed,
            "code_version": origin.code_version,
            "libraries": libraries(),
        },
        "accuracy": {
            "by_construction": _records(comparison.by_construction),
            "by_condition": _records(comparison.by_condition),
        },
        "tables": {table.name: _records(table.frame) for table in comparison.tables},
        "statistics": {name: _records(frame) for name, frame in comparison.statistics.items()},
        "left_out": comparison.left_out,
        "files": files,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _model(model: ModelFacts) -> dict[str, object]:
    counts = {"n_items": model.n_items, "n_ties": model.n_ties, "n_unknown": model.n_unknown}
    return model.facts.model_dump() | counts


def _records(frame: pd.DataFrame) -> object:
    return json.loads(frame.to_json(orient="records", double_precision=10))


def libraries() -> dict[str, str]:
    """Return the versions of Python and of the libraries that computed."""
    names = ("numpy", "pandas", "scipy", "statsmodels", "pyarrow", "matplotlib")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
