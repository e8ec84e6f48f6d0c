"""The shell's door: one command group whose subcommands are loaded when they are called."""

import importlib
import sys
from collections.abc import Mapping

import click

from experiment.errors import ParallaxError
from lm.errors import LmError


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only when that subcommand is called.

    Args:
        entries: Subcommand name to ``"module:attribute"``, in the order ``--help`` lists them.
        **attributes: What any click group takes.
    """

    def __init__(self, *, entries: Mapping[str, str], **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        self._entries = dict(entries)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in their written order."""
        return [*self._entries, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now."""
        if cmd_name not in self._entries:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._entries[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


cli = LazyGroup(
    name="parallax",
    help="Put the same forced choice to people and to language models.",
    context_settings={"help_option_names": ["-h", "--help"]},
    entries={
        "materials": "experiment.commands.materials:materials",
        "lists": "experiment.commands.lists:lists",
        "launch": "webapp.commands.runs:launch",
        "runs": "webapp.commands.runs:runs",
        "serve": "webapp.commands.serve:serve",
        "stop": "webapp.commands.serve:stop",
        "simulate": "webapp.commands.runs:simulate",
        "exclude": "webapp.commands.runs:exclude",
        "export": "webapp.commands.runs:export",
        "settings": "webapp.commands.serve:settings",
        "compare": "analysis.commands:compare",
    },
)
cli.add_command(
    LazyGroup(
        name="lm",
        help="Train language models and score the materials with them.",
        entries={
            "text": "analysis.commands:text",
            "train": "lm.commands:train",
            "score": "analysis.commands:score",
        },
    )
)


def main() -> None:
    """Run the command line; what the user can mend ends as one paragraph and exit code 2."""
    try:
        cli()
    except (ParallaxError, LmError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
