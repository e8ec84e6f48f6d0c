"""The shell's door: one command group whose subcommands are loaded when they are called."""

import importlib
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from experiment.errors import ParallaxError
from lm.errors import LmError

_SEED = 1


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


@cli.command()
@click.argument("name", metavar="STUDY", default="marvin_linzen_2018")
@click.option("--port", type=click.IntRange(0, 65535), help="The server's port; the setting port.")
@click.option("--keep", is_flag=True, help="Leave the server on, to take part oneself.")
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    envvar="PARALLAX_INSTANCE",
    default=Path("instance"),
    show_default=True,
    help="The installation's folder.",
)
def study(name: str, port: int | None, keep: bool, instance: Path) -> None:
    """Run the main job on STUDY: simulated people, a 5-gram model, and both side by side.

    Each step is a command that could be typed by itself; what an earlier call left is used again.
    """
    from webapp import server

    here = ("--instance", str(instance))
    made = instance / "studies" / name.rstrip("/").rpartition("/")[2]
    _step("lists", "build", name, "--seed", str(_SEED), "--out", str(made / "lists"))
    if server.running(instance) is None:
        listening = () if port is None else ("--port", str(port))
        _step("serve", "--background", *listening, *here)
    try:
        run = _people(name, here, instance)
        _step("exclude", run, *here)
        _step("export", run, "--out", str(made / "export"), *here)
    finally:
        if not keep:
            _step("stop", *here)
    _models(name, made)
    _step("compare", "--run", str(made / "export"), "--scores", str(made / "scores.parquet"),
          "--out", str(made / "report"))  # fmt: skip
    _say_what_next(name, here, instance, keep)


def _step(*command: str) -> None:
    """Show a command and run it."""
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    cli.main(command, standalone_mode=False)


def _people(name: str, here: tuple[str, ...], instance: Path) -> str:
    """Fill a simulated run of the study, a new one if none is there; return its reference."""
    from webapp.flow.runs import launched_runs

    run = next(launched_runs(instance, name, _SEED, "simulator"), None)
    return "" if run is None else run.ref


def main() -> None:
    """Run the command line; what the user can mend ends as one paragraph and exit code 2."""
    try:
        cli()
    except (ParallaxError, LmError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
