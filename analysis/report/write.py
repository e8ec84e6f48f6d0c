"""Write a comparison as a folder that appears complete or not at all."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from analysis.figures.drawing import Drawing, save_drawing
from analysis.report.html import render_report
from analysis.result import Comparison
from analysis.tables.provenance import ModelFacts
from analysis.tables.render import save_table
from experiment.tables.atomic_write import atomic_folder

RESULTS = "results.json"
REPORT = "report.html"
README = "README.md"
TABLES, FIGURES = "tables", "figures"
_FOLDERS = {
    "mixed_model": "holds the choices, and scripts that fit the model again in R.",
    "human_baseline": "holds the checklist for human baselines, and the items side by side.",
}


def written_before(folder: Path) -> set[str]:
    """Return the names of files and folders that an earlier comparison left in a folder.

    A subfolder with any other file contains user data and is not included.
    """
    try:
        files = set(json.loads((folder / RESULTS).read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    strange = {path.parts[0] for path in found if path.as_posix() not in files}
    return {Path(name).parts[0] for name in files} - strange


def write_comparison(
    comparison: Comparison, folder: Path, *, figures: bool = True
) -> tuple[Path, ...]:
    """Write tables, figures, report and results, replacing an earlier comparison.

    Args:
        comparison: The comparison to write.
        folder: The folder to write.
        figures: Whether to draw figures, the slowest part.

    Returns:
        The files, the report first.

    Raises:
        WritingError: The folder contains other files, or cannot be written.
    """
    with atomic_folder(folder, written_before(folder)) as temporary:
        names = _write_files(comparison, temporary, figures=figures)
    return tuple(folder / name for name in names)


def _write_files(comparison: Comparison, folder: Path, *, figures: bool) -> list[str]:
    paths, drawn = [folder / REPORT], {}
    (folder / TABLES).mkdir()
    for table in comparison.tables:
        paths += save_table(table, folder / TABLES)
    drawings = comparison.drawings if figures else ()
    if drawings:
        (folder / FIGURES).mkdir()
    for drawing in drawings:
        saved = save_drawing(drawing, folder / FIGURES)
        drawn[drawing.name] = saved[0].read_text("utf-8")
        paths += saved
    for name, write in comparison.folders.items():
        (folder / name).mkdir()
        paths += write(folder / name)
    (folder / REPORT).write_text(
        render_report(comparison, drawn, libraries()), "utf-8", newline="\n"
    )
    (folder / README).write_text(_readme(comparison, drawings), "utf-8", newline="\n")
    paths += [folder / README, folder / RESULTS]
    names = [path.relative_to(folder).as_posix() for path in paths]
    (folder / RESULTS).write_text(_results(comparison, names), "utf-8", newline="\n")
    return names


def _readme(comparison: Comparison, drawings: Sequence[Drawing]) -> str:
    """Return a description of each file in the folder."""
    run = comparison.provenance.run
    lines = [
        f"# People and models: {comparison.study.study.title}",
        "",
        f"Study {run.study} {run.study_version}, run {run.run}. {comparison.provenance.warning}",
        "",
        f"- `{REPORT}`: the report on one page; begin here.",
        f"- `{RESULTS}`: every number and its origin, for programs.",
        "",
        f"## Tables (`{TABLES}/`, each as .csv, .md, .tex and .txt)",
        "",
        *(
            f"- `{table.name}`: {table.title}. {_first(table.caption)}"
            for table in comparison.tables
        ),
    ]
    if drawings:
        lines += ["", f"## Figures (`{FIGURES}/`, each as .svg, .pdf and .png)", ""]
        lines += [f"- `{one.name}`: {one.title}." for one in drawings]
    for name in comparison.folders:
        lines += ["", f"`{name}/` {_FOLDERS[name]}"]
    lines += ["", "In a paper, `.tex` needs the package booktabs and pdfLaTeX or newer."]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _first(text: str) -> str:
    """Return the first sentence of a caption."""
    return text.split(". ")[0].rstrip(".") + "."


def _results(comparison: Comparison, files: list[str]) -> str:
    """Return all numbers and their origin as JSON; ``files`` lists the written files."""
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


@cache
def libraries() -> dict[str, str]:
    """Return the versions of Python and of the libraries used."""
    names = ("numpy", "pandas", "scipy", "statsmodels", "pyarrow", "matplotlib")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
