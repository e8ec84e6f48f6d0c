"""Each wing of the house comes off: nothing else imports it while it is itself imported."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import folder_graph
from tests.folder_graph import PACKAGES
from tests.patience import PATIENCE_S
from tests.programs import start

ROOT = Path(__file__).parent.parent


class Wing(NamedTuple):
    """An optional part of Parallax.

    Attributes:
        folders: What is deleted to take it away, as dotted names.
        command: A command that needs it, with arguments; empty where none does.
    """

    folders: tuple[str, ...]
    command: tuple[str, ...] = ()


WINGS = {
    "stand-ins of platforms": Wing(("marketplace",), ("marketplace",)),
    "Prolific": Wing(("webapp.recruiters.prolific",)),
    "Mechanical Turk": Wing(("webapp.recruiters.mturk",)),
    "studies without a server": Wing(
        ("webapp.serverless", "webapp.commands.static"),
        ("study", "static", "minimal", "--seed", "1", "--out", "static"),
    ),
    "treebanks": Wing(
        (
            "experiment.materials.treebank",
            "experiment.commands.treebank",
            "experiment.commands.treebank_study",
        ),
        ("treebank", "extract", "treebank.conllu"),
    ),
    "researcher pages": Wing(("webapp.researcher", "webapp.coding_pages")),
    "n-gram models": Wing(
        ("lm.ngram",), ("lm", "train", "--type", "ngram", "--data", "text.txt", "--out", "model")
    ),
    "training": Wing(
        ("lm.training", "lm.commands.search", "lm.commands.recurrent"),
        ("lm", "search", "spec.toml", "--data", "text.txt", "--out", "models"),
    ),
    "other programs' data": Wing(
        (
            "analysis.readers",
            "analysis.commands.import_judgments",
            "analysis.commands.import_scores",
        ),
        ("import", "judgments", "results.csv", "--out", "imported"),
    ),
    "the checklist for human baselines": Wing(("analysis.baseline",)),
    "the Maze's analysis and distractors": Wing(
        ("analysis.maze",), ("maze", "audit", "maze.csv", "model")
    ),
    "model participants": Wing(
        (
            "analysis.takers",
            "experiment.takers",
            "lm.answering",
            "lm.commands.serve",
            "lm.huggingface.chat",
        ),
        ("take", "minimal", "--model", "model", "--reading", "sentence", "--out", "taken"),
    ),
    "several languages in one analysis": Wing(
        ("analysis.pooled",), ("pool", "reports/de", "reports/fr", "--out", "pooled")
    ),
    "native speakers' page": Wing(
        ("analysis.natives",),
        ("natives", "page", "items.csv", "--language", "de", "--out", "page.html"),
    ),
    "models over time": Wing(
        ("analysis.over_time", "lm.checkpoints"),
        ("lm", "score", "model", "minimal", "--checkpoints", "--out", "scores.parquet"),
    ),
    "stopping": Wing(
        (
            "experiment.stopping",
            "analysis.findings.stopping",
            "analysis.power.sequential",
            "analysis.power.stopping_figure",
            "webapp.runs.stopping",
            "webapp.commands.stopping",
        ),
        ("stopping", "run"),
    ),
    "power": Wing(("analysis.power",), ("power", "minimal")),
    "archives": Wing(
        ("analysis.archive",),
        ("archive", "write", "export"),
    ),
}


def gone(module: str, wing: Wing) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in wing.folders)


def imports_at_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports that run when a module is imported: those outside of functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports_at_import(child)


def imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in imports_at_import(folder_graph.tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in modules else node.module or ""


@cache
def all_imported() -> dict[str, tuple[str, ...]]:
    """Return what each module imports when it is imported."""
    modules = folder_graph.modules(ROOT)
    return {name: tuple(imported(path, modules)) for name, path in modules.items()}


@pytest.mark.parametrize("name", WINGS)
def test_nothing_else_imports_a_wing_when_it_is_imported(name: str):
    wing, modules = WINGS[name], folder_graph.modules(ROOT)
    assert all(any(gone(module, Wing((part,))) for module in modules) for part in wing.folders)
    leaning = [
        f"{module} imports {other}"
        for module, others in all_imported().items()
        if not gone(module, wing)
        for other in others
        if gone(other, wing)
    ]
    assert not leaning


@pytest.fixture(scope="module")
def without_wings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program without any wing."""
    copy = tmp_path_factory.mktemp("bare")
    for package in PACKAGES:
        # What is compiled stays compiled.
        shutil.copytree(ROOT / package, copy / package)
    for door in folder_graph.DOORS:
        shutil.copy(ROOT / door, copy)
    for wing in WINGS.values():
        for folder in wing.folders:
            path = copy.joinpath(*folder.split("."))
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.with_suffix(".py").unlink()
    return copy


# The libraries may have been read, but no module of this checkout; an editable installation would
# find there what the copy lacks. What the program starts is a new interpreter.
ALONE = f"""
import os, sys
os.environ.pop({start.ADDRESS!r}, None)
os.environ["PYTHONPATH"] = copy = sys.argv.pop(1)
for name in [*sys.modules]:
    if name.partition(".")[0] in {(*PACKAGES, "parallax", "wsgi", "tests")!r}:
        del sys.modules[name]
sys.path[:] = [copy, *(path for path in sys.path if not {str(ROOT)!r} == path.rstrip("/"))]
sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in repr(each).lower()]
"""
COMMAND = ALONE + "import parallax; parallax.main()"


def run(copy: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    own = {"PATH": "/usr/bin:/bin", "HOME": str(copy)}
    shared = start.read_at_start(os.environ)
    if start.ADDRESS in os.environ:
        shared[start.ADDRESS] = os.environ[start.ADDRESS]
    return subprocess.run(
        [sys.executable, start.GIVEN, program, str(copy), *arguments],
        cwd=copy,
        env=shared | own,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_the_rest_imports_without_any_wing(without_wings: Path):
    names = [
        name
        for name, path in folder_graph.modules(without_wings).items()
        if "migrations" not in name and path.name != "gunicorn_settings.py"
    ]
    script = f"""{ALONE}
import importlib
for name in {names!r}:
    importlib.import_module(name)
ours = [each for each in sys.modules.values() if each.__name__.partition(".")[0] in {PACKAGES!r}]
print(sum(each.__spec__.origin.startswith(copy) for each in ours), len(ours))
"""
    result = run(without_wings, script)
    assert result.returncode == 0, result.stderr[-2000:]
    of_the_copy, read = map(int, result.stdout.split())
    assert len(names) - 10 < of_the_copy == read


@pytest.mark.parametrize("name", [name for name, wing in WINGS.items() if wing.command])
def test_a_command_of_a_wing_says_that_it_is_not_there(without_wings: Path, name: str):
    result = run(without_wings, COMMAND, *WINGS[name].command)
    assert result.returncode == 2
    assert "a part of Parallax that is not in this installation" in result.stderr


def test_the_main_job_runs_without_any_wing(without_wings: Path):
    instance = without_wings / "instance"
    result = run(without_wings, COMMAND, "demo", "minimal", "--instance", str(instance))
    assert result.returncode == 0, result.stderr[-2000:]
    assert "lm.ngram" in result.stdout, "it says why it scores another model"
    assert "report.html" in result.stdout
