"""Ask every command of the installed Parallax for its help; name those that give none."""

import contextlib
import io
import sys
from collections.abc import Iterator

import click

import parallax


def commands(context: click.Context, group: click.Group) -> Iterator[list[str]]:
    """Yield the words of every command below a group, the group's own first."""
    words = context.command_path.split()[1:]
    yield words
    for name in group.list_commands(context):
        try:
            command = group.get_command(context, name)
        except ModuleNotFoundError:  # of an extra that is not installed: the command itself says so
            command = None
        if isinstance(command, click.Group):
            below = click.Context(command, info_name=name, parent=context)
            yield from commands(below, command)
        else:
            yield [*words, name]


def answer(words: list[str]) -> str:
    """Return the first line that ``parallax WORDS --help`` prints, on either stream."""
    said = io.StringIO()
    sys.argv = ["parallax", *words, "--help"]
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        contextlib.suppress(SystemExit),
    ):
        parallax.main()
    return said.getvalue().partition("\n")[0]


answers = {
    " ".join(words): answer(words)
    for words in commands(click.Context(parallax.cli, info_name="parallax"), parallax.cli)
}
wanting = {name: said for name, said in answers.items() if "pip install 'parallax" in said}
mute = [
    name for name, said in answers.items() if not said.startswith("Usage: ") and name not in wanting
]
print(f"{len(answers)} commands asked for their help; {len(mute)} without.")
for name, said in wanting.items():
    print(f"  parallax {name}: {said}")
sys.exit(f"No help: {', '.join(mute)}" if mute else 0)
