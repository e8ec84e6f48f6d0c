"""The house's rules that a reader could break without noticing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("experiment", "webapp", "lm", "analysis")
MAY_IMPORT = {
    "experiment": {"experiment"},
    "lm": {"lm"},
    "webapp": {"webapp", "experiment"},
    "analysis": {"analysis", "experiment", "lm"},
    "wsgi": {"webapp"},
    "parallax": set(PACKAGES),
}
# Who alone may import a library: a change of library then touches one room.
MONOPOLIES = {
    "boto3": ("webapp/recruiters/mturk/",),
    "botocore": ("webapp/recruiters/mturk/", "webapp/marketplace/"),
    "torch": ("lm/",),
    "transformers": ("lm/hf.py",),
    "pandas": ("analysis/",),
    "sqlalchemy": ("webapp/",),
    "alembic": ("webapp/schema.py", "webapp/migrations/"),
    "flask": ("webapp/",),
}
LONGEST_FILE = 300
LONGEST_FUNCTION = 60


def sources() -> list[Path]:
    files = [ROOT / "parallax.py", ROOT / "wsgi.py"]
    for package in PACKAGES:
        files += sorted((ROOT / package).rglob("*.py"))
    return files


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Every module named by an import, wherever in the file it stands, strings excepted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.lineno, node.module or ""


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", sources(), ids=relative)
def test_imports_go_only_in_the_allowed_directions(path: Path):
    owner = relative(path).split("/")[0].removesuffix(".py")
    ours = set(PACKAGES) | {"wsgi", "parallax"}
    wrong = [
        f"line {line}: {module}"
        for line, module in imported(path)
        if (top := module.split(".")[0]) in ours and top not in MAY_IMPORT[owner]
    ]
    assert not wrong


@pytest.mark.parametrize("path", sources(), ids=relative)
def test_a_library_is_imported_only_in_its_own_room(path: Path):
    wrong = [
        f"line {line}: {module}"
        for line, module in imported(path)
        for library, rooms in MONOPOLIES.items()
        if module.split(".")[0] == library and not relative(path).startswith(rooms)
    ]
    assert not wrong


@pytest.mark.parametrize("path", sources(), ids=relative)
def test_files_and_functions_stay_small(path: Path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno
        and node.end_lineno - node.lineno >= LONGEST_FUNCTION
    ]
    assert not long


def test_the_top_level_holds_nothing_but_the_fixed_rooms():
    allowed = {
        *PACKAGES, "tests", "instance", "docs", "benchmarks", ".ci", "wsgi.py", "parallax.py",
        "pyproject.toml", "constraints.txt", "Makefile", "README.md", "CHANGELOG.md",
        "CONTRIBUTING.md", "LICENSE", "CITATION.cff", ".gitignore",
    }  # fmt: skip
    generated = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".hypothesis", ".pytest_cache"}
    seen = {path.name for path in ROOT.iterdir() if path.suffix != ".egg-info"}
    assert seen - generated - {"__pycache__", ".coverage"} <= allowed
