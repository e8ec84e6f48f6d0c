"""What Linux alone has is used only where docs/decisions/linux-facilities.md lists it."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import folder_graph
from tests.experiment.test_machine import without
from tests.test_architecture import ROOT

PAGE = ROOT / "docs" / "decisions" / "linux-facilities.md"
_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios"}
_CALLS = {
    "chown", "fork", "forkpty", "geteuid", "getgid", "getloadavg", "getuid", "kill", "killpg",
    "link", "mkfifo", "nice", "sched_getaffinity", "setsid", "setuid", "statvfs", "symlink",
    "sysconf", "uname", "waitpid",
}  # fmt: skip
_SIGNALS = {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGRTMIN", "SIGUSR1", "SIGUSR2"}
_PLACES = re.compile(r"/(proc|dev|sys|etc|var|usr|tmp|bin|home)(/|$)")
_TEXT_MODES = {"w", "a", "x", "w+", "a+"}


def trees() -> dict[str, ast.Module]:
    files = folder_graph.sources(ROOT)
    return {path.relative_to(ROOT).as_posix(): folder_graph.tree(path) for path in files}


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield what a file uses that not every system has."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in _MODULES)
            case ast.ImportFrom(module=module, names=names):
                yield from (each.name for each in names if each.name in _MODULES)
                if module in _MODULES:
                    yield module
            case ast.Attribute(value=ast.Name(id="os"), attr=attr) if attr in _CALLS:
                yield f"os.{attr}"
            case ast.Attribute(attr=attr) if attr in _SIGNALS:
                yield f"signal.{attr}"
            case ast.Attribute(attr="symlink_to" | "hardlink_to" as attr):
                yield attr
            case ast.Call(func=ast.Name(id="get_context"), args=[ast.Constant(value="fork")]):
                yield 'get_context("fork")'
            case ast.keyword(arg="shell" | "preexec_fn" | "start_new_session" as arg):
                yield f"{arg}="
            case ast.Constant(value=str(text)) if _PLACES.match(text):
                yield text


def test_the_page_lists_every_use_and_no_other():
    found = {(name, use) for name, tree in trees().items() for use in uses(tree)}
    rows = re.findall(r"^\| `([^`]+\.py)` \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    listed = {(name, use) for name, all_ in rows for use in re.findall(r"`([^`]+)`", all_)}
    assert found - listed == set()
    assert listed - found == set()


def writes_text(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "write_text":
        return len(node.args) < 3
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "mode")]
    modes = {each.value for each in given if isinstance(each, ast.Constant)}
    return node.func.attr in ("open", "fdopen") and bool(modes & _TEXT_MODES)


def test_every_text_that_is_written_names_its_line_ends():
    """Windows writes others unless told, and nothing would have the same bytes and hashes there."""
    unnamed = [
        f"{name}:{node.lineno}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if writes_text(node) and not any(each.arg == "newline" for each in node.keywords)
        if "zipfile" not in ast.unparse(node) and "ZipFile" not in ast.unparse(node)
    ]
    assert unnamed == []


# Windows's line ends for whatever does not name its own, and none of Linux's places.
_ELSEWHERE = """
import builtins, io
plain, stat = io.open, os.stat
def no_proc(path, **how):
    if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith("/proc/"):
        raise FileNotFoundError(2, "there is none", path)
    return stat(path, **how)
os.stat = no_proc
def elsewhere(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *rest):
    if isinstance(file, (str, os.PathLike)) and os.fspath(file).startswith("/proc/"):
        raise FileNotFoundError(2, "there is none", file)
    if newline is None and "b" not in mode and set(mode) & set("wax+"):
        newline = "\\r\\n"
    return plain(file, mode, buffering, encoding, errors, newline, *rest)
io.open = builtins.open = elsewhere
def no_links(*_):
    raise PermissionError(1, "this disk knows no links")
os.link = os.symlink = no_links
import shutil
room = shutil.disk_usage("/")
shutil.disk_usage = lambda place: room
for name in ("statvfs", "sysconf"):
    delattr(os, name)
import parallax
parallax.main()
"""


def run(program: list[str], instance: Path, *arguments: str) -> str:
    environment = os.environ | {"PARALLAX_INSTANCE": str(instance)}
    command = [sys.executable, *program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


_COMMANDS = (
    ("study", "new", "OUT/mine"),
    ("lists", "build", "minimal", "--seed", "1", "--out", "OUT/lists"),
    ("study", "static", "minimal", "--simulated", "--seed", "1", "--out", "OUT/site"),
)


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[Path, Path]:
    """The same commands' folders: of this system, and of one with none of what Linux has."""
    here, there = (tmp_path_factory.mktemp(name) for name in ("here", "there"))
    for place, program in ((here, ["-m", "parallax"]), (there, [without(there, _ELSEWHERE)])):
        (place / "out").mkdir()
        for command in _COMMANDS:
            run(
                program,
                place / "instance",
                *(word.replace("OUT", f"{place}/out") for word in command),
            )
    return here / "out", there / "out"


def test_what_is_written_has_the_same_bytes_on_every_system(both):
    here, there = map(files_of, both)
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_the_doctor_looks_at_a_system_that_lacks_all_of_it(tmp_path):
    environment = os.environ | {"PARALLAX_INSTANCE": str(tmp_path / "instance")}
    command = [sys.executable, without(tmp_path, _ELSEWHERE), "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "Traceback" not in done.stderr
    assert "MiB are free" in done.stdout


_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def test_every_file_has_a_name_that_every_system_takes(both):
    names = list(files_of(both[0]))
    assert len({name.casefold() for name in names}) == len(names)
    for part in {part for name in names for part in name.split("/")}:
        assert not re.search(r'[<>:"|?*\\]|[. ]$', part), part
        assert not _RESERVED.match(part), part


def test_a_study_with_windows_line_ends_is_the_same_study(tmp_path, both):
    """As an editor or git makes it there."""
    study = tmp_path / "mine"
    for name, content in files_of(both[0] / "mine").items():
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).write_bytes(content.replace(b"\n", b"\r\n"))
    lists = tmp_path / "lists"
    run(
        ["-m", "parallax"],
        tmp_path / "i",
        "lists",
        "build",
        str(study),
        "--seed",
        "1",
        "--out",
        str(lists),
    )
    assert (lists / "lists.csv").read_bytes() == (both[0] / "lists" / "lists.csv").read_bytes()


def test_the_way_in_which_line_ends_are_taken_away_takes_them_away(tmp_path):
    program = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('a\\nb')"
    file = tmp_path / "text"
    script = _ELSEWHERE.replace("import parallax\nparallax.main()\n", program)
    subprocess.run([sys.executable, without(tmp_path, script), str(file)], check=True)
    assert file.read_bytes() == b"a\r\nb"
