"""A command group that costs nothing until one of its commands is called."""

import importlib
from collections.abc import Mapping

import click


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
