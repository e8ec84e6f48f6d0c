"""A command group that imports a command's module only when the command is called."""

import importlib
import re
from collections.abc import Mapping
from typing import NamedTuple

import click

from experiment.errors import ParallaxError

# Longer than any one-line help, so that none is truncated.
_LONGEST_HELP = 1_000
_DISTRIBUTION = "parallax-experiments"
_PACKAGES = {"analysis", "experiment", "lm", "marketplace", "webapp"}
_EXTRA_REQUIREMENT = re.compile(r"(?P<library>[\w.-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
# Extras for developers of Parallax rather than for users.
_DEVELOPER_EXTRAS = {"dev", "docs"}


class Lazy(NamedTuple):
    """A command that is imported only when called, not when the group's help lists it.

    Attributes:
        target: The command's location as ``"module:attribute"``; ``"module"`` if the attribute has
            the command's name.
        help: The command's one-line help, the first sentence of its own.
    """

    target: str
    help: str


class MissingPartError(ParallaxError):
    """A command needs a part of Parallax that was taken out of this installation."""


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only when that subcommand is called.

    Args:
        sections: The commands below each heading, in the order of ``--help``.
        renamed: Earlier names of commands, with the current names.
        was_command: The current name of the command that formerly had the group's name; any unknown
            command name results in a message with this name.
        **attributes: The arguments of a click group.
    """

    def __init__(
        self,
        *,
        sections: Mapping[str, Mapping[str, Lazy]],
        renamed: Mapping[str, str] | None = None,
        was_command: str = "",
        **attributes: object,
    ) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        self._renamed, self._was_command = renamed or {}, was_command
        self._lazy = {name: command for part in sections.values() for name, command in part.items()}
        self._sections = {title: list(commands) for title, commands in sections.items()}

    def add_command(
        self, cmd: click.Command, name: str | None = None, section: str = "Commands"
    ) -> None:
        """Add a command that is already imported at the end of a section."""
        super().add_command(cmd, name)
        self._sections.setdefault(section, []).append(name or cmd.name or "")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in order of definition."""
        return [name for names in self._sections.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing its module if necessary."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._lazy[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute or cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand.

        Raises:
            ParallaxError: The command needs a library of an extra, or a part of Parallax, that is
                not installed.
        """
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:
            raise missing_library(error) or error from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to run; for a misspelled name, raise an error with suggestions."""
        command_names, name = self.list_commands(ctx), args[0]
        if name in command_names or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if now := self._renamed.get(name):
            raise click.UsageError(f'"{ctx.command_path} {name}" is now "{now}".', ctx=ctx)
        if self._was_command:
            raise click.UsageError(
                f'"{name}" is not a command of this group: "{ctx.command_path} ..." is now '
                f'"{self._was_command} ...".',
                ctx=ctx,
            )
        raise click.exceptions.NoSuchCommand(name, possibilities=command_names, ctx=ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below their headings, without importing any command."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self._sections.items():
            # Padding names to the group's widest name aligns the sections.
            rows = [(name.ljust(width), self._one_line_help(name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def _one_line_help(self, name: str) -> str:
        if name in self._lazy:
            return self._lazy[name].help
        return self.commands[name].get_short_help_str(limit=_LONGEST_HELP)


def find_extras() -> dict[str, str]:
    """Return each library that only an extra installs, with that extra, from pyproject.toml."""
    # Called only after a failure, because --help must stay fast.
    from importlib.metadata import requires

    matches = filter(None, map(_EXTRA_REQUIREMENT.match, requires(_DISTRIBUTION) or []))
    pairs = [(match["library"].lower(), match["extra"]) for match in matches]
    return {
        library: extra
        for library, extra in reversed(pairs)
        if extra not in _DEVELOPER_EXTRAS and library != _DISTRIBUTION
    }


def missing_library(error: ModuleNotFoundError) -> ParallaxError | None:
    """Return the error for a library of an extra, or for a missing part of Parallax.

    Args:
        error: The exception of an import.

    Returns:
        The error to show, or None if the missing module is neither.
    """
    library = (error.name or "").partition(".")[0]
    if library in _PACKAGES:
        return MissingPartError(
            f"this command needs {error.name}, a part of Parallax that is not in this installation",
            remedy=(
                "Install all parts of Parallax to use this command; all other commands work "
                "without it"
            ),
        )
    extra = find_extras().get(library.lower().replace("_", "-"))
    if extra is None:
        return None
    return ParallaxError(
        f"this command needs a library that is not installed: {library}",
        remedy=f"Install it with: pip install '{_DISTRIBUTION}[{extra}]'",
    )
