"""What `--help` says, word for word; `pytest tests/test_help.py --force-regen` writes it anew."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import parallax
from experiment.commands.lazy_group import LazyGroup
from experiment.version import code_version

ROOT = Path(__file__).parent.parent
# Lines of a list are cut off beyond this many columns on the narrowest usual terminal.
NARROW = 80


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


EVERY_COMMAND = list(commands(parallax.cli, ("parallax",)))


def named(path: tuple[str, ...]) -> click.Command:
    command: click.Command = parallax.cli
    for name in path[1:]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)  # type: ignore[assignment]
    return command


LAZILY_LISTED = [path for path in EVERY_COMMAND[1:] if isinstance(named(path[:-1]), LazyGroup)]


@pytest.fixture(autouse=True)
def forgotten_help_options(monkeypatch):
    """Make Click build each help option anew.

    It keeps the one of a command's first call, which in another test may have been a call by
    itself: then only the program as a whole knows ``-h``.
    """
    for path in EVERY_COMMAND:
        monkeypatch.setattr(named(path), "_help_option", None)


@pytest.mark.parametrize("path", EVERY_COMMAND, ids="_".join)
def test_help_says_what_was_reviewed(path: tuple[str, ...], file_regression):
    helped = CliRunner().invoke(
        parallax.cli, [*path[1:], "--help"], prog_name="parallax", terminal_width=NARROW
    )
    assert helped.exit_code == 0
    file_regression.check(helped.output, basename="_".join(path), encoding="utf-8", newline="\n")


@pytest.mark.parametrize("path", LAZILY_LISTED, ids="_".join)
def test_the_line_in_the_list_is_the_first_sentence_of_the_commands_own_help(path: tuple[str, ...]):
    listed = CliRunner().invoke(named(path[:-1]), ["--help"], terminal_width=NARROW).output
    # A long sentence goes on under its beginning.
    (shown,) = re.findall(rf"^  {path[-1]} +(.*(?:\n {{4,}}.*)*)", listed, re.MULTILINE)
    assert " ".join(shown.split()) == named(path).get_short_help_str(limit=1_000)


def test_every_function_takes_the_options_of_its_command():
    for path in EVERY_COMMAND:
        command = named(path)
        if isinstance(command, click.Group) or command.callback is None:
            continue
        parameters = inspect.signature(command.callback).parameters.values()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            continue
        options = {option.name for option in command.params if option.expose_value}
        assert options == {parameter.name for parameter in parameters}, path


def test_no_line_of_a_list_is_cut_off():
    for path in EVERY_COMMAND:
        if isinstance(named(path), click.Group):
            helped = CliRunner().invoke(named(path), ["--help"], terminal_width=NARROW)
            assert "..." not in helped.output.partition("Options:")[2], path


def test_help_imports_no_command_and_no_heavy_library():
    code = (
        "import sys, parallax\n"
        "try: parallax.cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        "print(*sorted(name for name in sys.modules if '.commands.' in name), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    packages, commands_read = done.stderr.splitlines()[-2:]
    heavy = {"flask", "sqlalchemy", "pydantic", "numpy", "pandas", "pyarrow", "torch", "tqdm"}
    assert heavy & set(packages.split()) == set()
    assert "webapp" not in packages.split()
    light = ["experiment.commands.lazy_group"]
    assert commands_read.split() == light


def test_commands_that_train_show_their_help_where_nothing_to_train_with_is_installed():
    code = (
        "import sys, parallax\n"
        "sys.modules.update(dict.fromkeys(('torch', 'numpy', 'pandas', 'safetensors')))\n"
        "for name in ('train', 'tag', 'search', 'convert'):\n"
        "    parallax.cli(['lm', name, '--help'], standalone_mode=False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("Usage:")) == (0, 4), done.stderr


def test_version_names_the_package_and_its_commit():
    result = CliRunner().invoke(parallax.cli, ["--version"])
    assert (result.exit_code, result.output) == (0, f"parallax {code_version()}\n")
