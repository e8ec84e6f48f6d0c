"""The house's rules that a reader could break without noticing."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import folder_graph
from tests.folder_graph import PACKAGES

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "experiment": {"experiment"},
    "lm": {"lm"},
    "webapp": {"webapp", "experiment"},
    "analysis": {"analysis", "experiment", "lm"},
    # A stand-in is a guest: it knows a platform's protocol and nothing of us.
    "marketplace": {"marketplace"},
    "wsgi": {"webapp"},
    "parallax": set(PACKAGES),
}
# Who alone may import a library: a change of library then touches one room.
MONOPOLIES = {
    "boto3": ("webapp/recruiters/mturk/", "webapp/database/backup/bucket.py"),
    "botocore": (
        "webapp/recruiters/mturk/",
        "marketplace/mturk/",
        "webapp/database/backup/bucket.py",
    ),
    "torch": ("lm/",),
    "transformers": ("lm/huggingface/",),
    "pandas": ("analysis/",),
    "sqlalchemy": ("webapp/", "marketplace/"),
    "alembic": ("webapp/database/",),
    "flask": ("webapp/", "marketplace/"),
}
LONGEST_FILE, LONGEST_FUNCTION = 400, 60


def sources() -> list[Path]:
    return folder_graph.sources(ROOT)


class Read(NamedTuple):
    """What the tests below ask of a file, which is parsed once for all of them.

    Attributes:
        lines: How many it has.
        imports: Line and module of every import, wherever it stands, strings excepted.
        functions: Each function's name and how many lines it has.
    """

    lines: int
    imports: list[tuple[int, str]]
    functions: list[tuple[str, int]]


@cache
def read(path: Path) -> Read:
    found = Read(len(path.read_text(encoding="utf-8").splitlines()), [], [])
    for node in folder_graph.imports(path):
        if isinstance(node, ast.Import):
            found.imports.extend((node.lineno, alias.name) for alias in node.names)
        else:
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            found.imports.append((node.lineno, node.module or ""))
    for node in ast.walk(folder_graph.tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.functions.append((node.name, (node.end_lineno or 0) - node.lineno + 1))
    return found


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_go_only_in_the_allowed_directions():
    ours = set(PACKAGES) | {"wsgi", "parallax"}
    wrong = [
        f"{relative(path)}:{line} imports {module}"
        for path in sources()
        for line, module in read(path).imports
        if (top := module.split(".")[0]) in ours
        and top not in MAY_IMPORT[relative(path).split("/")[0].removesuffix(".py")]
    ]
    assert not wrong


def test_a_library_is_imported_only_in_its_own_room():
    wrong = [
        f"{relative(path)}:{line} imports {module}"
        for path in sources()
        for line, module in read(path).imports
        if (rooms := MONOPOLIES.get(module.split(".")[0])) and not relative(path).startswith(rooms)
    ]
    assert not wrong


def test_files_and_functions_stay_small():
    lengths = {relative(path): read(path).lines for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}
    long = [
        f"{relative(path)}: {name} has {lines} lines"
        for path in sources()
        for name, lines in read(path).functions
        if lines > LONGEST_FUNCTION
    ]
    assert not long


def test_no_two_folders_import_each_other_at_any_depth():
    assert folder_graph.circles(ROOT) == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_tests_stand_where_the_module_stands(package: str):
    folders = {path.parent for path in (ROOT / "tests" / package).rglob("test_*.py")}
    mirrored = {folder: ROOT / folder.relative_to(ROOT / "tests") for folder in folders}
    assert [folder for folder, original in mirrored.items() if not original.is_dir()] == []


def test_tests_have_one_patience_that_no_busy_machine_exhausts():
    own = [
        f"{relative(path)}:{node.value.lineno}"
        for path, tree in naming("timeout")
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "timeout"
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
    ]
    assert not own, "timeout=PATIENCE_S, from tests/patience.py"


def naming(word: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if word in (text := path.read_text(encoding="utf-8")):
            yield path, ast.parse(text)


def test_no_test_has_the_five_seconds_that_httpx_gives_by_itself():
    calls = (
        (path, node)
        for path, tree in naming("httpx")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    )
    hasty = [
        f"{relative(path)}:{node.lineno}"
        for path, node in calls
        if ast.unparse(node.func) in ("httpx.get", "httpx.post", "httpx.request", "httpx.Client")
        and "timeout" not in {keyword.arg for keyword in node.keywords}
    ]
    assert not hasty, "timeout=PATIENCE_S, from tests/patience.py"


def test_no_test_of_the_pages_waits_for_a_fixed_time():
    steps = sorted((ROOT / "tests" / "browser").rglob("*.py"))
    assert [path.name for path in steps if "wait_for_timeout" in path.read_text("utf-8")] == []


def test_the_top_level_holds_nothing_but_the_fixed_rooms():
    allowed = {
        *PACKAGES, "tests", "instance", "docs", "benchmarks", ".ci", "wsgi.py", "parallax.py",
        "pyproject.toml", "constraints.txt", "Makefile", "README.md", "CHANGELOG.md",
        "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "CITATION.cff", "codemeta.json",
        ".gitattributes", ".gitignore", ".git-blame-ignore-revs",
        # Where archives, editors and the release's runner look, and nowhere else.
        ".zenodo.json", ".devcontainer", ".github",
    }  # fmt: skip
    generated = {".git", ".venv", ".mypy_cache", ".ruff_cache", ".hypothesis", ".pytest_cache"}
    seen = {path.name for path in ROOT.iterdir() if path.suffix != ".egg-info"}
    assert seen - generated - {"__pycache__", ".coverage", "build"} <= allowed


# A platform's own rooms, and what else calls it.
PLATFORMS = {
    "mturk": r"mturk|mechanical ?turk",
    "prolific": r"\bprolific|prolific\b|_prolific",
}
# Who may name a platform outside its own rooms, and why.
MAY_NAME = {
    "webapp/recruiters/registry.py": "the line that registers it",
    "marketplace/command.py": "the line that starts its stand-in",
}
# The formats of data that its users bring, whoever collected them.
FORMATS = (
    "analysis/readers/",
    "experiment/materials/treebank/published/items.py",
    "experiment/panels/presets/prolific.toml",
)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platform_is_known_to_its_own_rooms_alone(platform: str):
    """Everything that a platform knows is answered by its recruiter."""
    rooms = (f"webapp/recruiters/{platform}/", f"marketplace/{platform}/", *FORMATS)
    kinds = ("*.py", "*.html", "*.js", "*.toml", "*.cfg")
    found = {
        relative(path): path.read_text(encoding="utf-8")
        for package in (*PACKAGES, ".")
        for kind in kinds
        for path in (ROOT.glob(kind) if package == "." else (ROOT / package).rglob(kind))
    }
    words = re.compile(PLATFORMS[platform], re.IGNORECASE)
    outside = {
        path: len([line for line in text.splitlines() if words.search(line)])
        for path, text in found.items()
        if not path.startswith(rooms) and words.search(text)
    }
    outside.pop("pyproject.toml", None)  # its extra, its keywords
    assert outside == dict.fromkeys(MAY_NAME, 1)


def test_every_recruiter_with_rooms_of_its_own_is_guarded():
    rooms = {path.name for path in (ROOT / "webapp" / "recruiters").iterdir() if path.is_dir()}
    assert rooms - {"__pycache__", "panel"} == set(PLATFORMS)


def test_no_panel_is_named_outside_its_preset():
    """A new panel is a file: nothing lists the panels, and nothing asks which one it is."""
    folder = ROOT / "experiment" / "panels" / "presets"
    names = sorted(path.stem for path in folder.glob("*.toml") if path.stem != "prolific")
    quoted = re.compile(rf"[\"'](?:{'|'.join(names)})[\"']")
    naming = {
        relative(path)
        for path in sources()
        if any(word not in COMMON_WORDS for word in quoted.findall(path.read_text("utf-8")))
    }
    assert naming == {"marketplace/panels/site.py"}, "the name space of SONA's own answer"


# Quoted for another reason: an event of SQLAlchemy's.
COMMON_WORDS = ('"connect"',)


def test_a_table_of_what_people_wrote_has_no_cell_that_a_spreadsheet_runs():
    forgotten = [
        f"{relative(path)}: a table that a spreadsheet opens goes through spreadsheet_safe"
        for path in sorted((ROOT / "webapp").rglob("*.py"))
        if re.search(r"csv\.(writer|DictWriter)", text := path.read_text(encoding="utf-8"))
        and "spreadsheet_safe(" not in text
    ]
    assert not forgotten, "\n".join(forgotten)


def test_migrations_stand_in_one_line():
    """Two that follow the same one would leave every database without a way forward."""
    folder = ROOT / "webapp" / "database" / "migrations" / "versions"
    found = {
        tuple(
            re.findall(rf'^{name} = "?(\w+)"?$', path.read_text(encoding="utf-8"), re.MULTILINE)[0]
            for name in ("down_revision", "revision")
        )
        for path in folder.glob("[0-9]*.py")
    }
    line = sorted(found, key=lambda arrow: arrow[1])
    assert [down for down, _ in line] == ["None", *(revision for _, revision in line[:-1])]
    assert len(found) == len(list(folder.glob("[0-9]*.py")))
