"""The shell's door: one command group whose subcommands are loaded when they are called."""

import hashlib
import importlib
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from experiment.errors import ParallaxError
from lm.errors import LmError

_SEED = "1"
# How `parallax lm train` makes each model of the main job, and those that --models adds.
_NGRAM = {"ngram": ("--type", "ngram")}
_MORE = {"unigram": ("--type", "unigram"), "srn": ("demo_srn",), "lstm": ("demo_lstm",)}


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
        "treebank": "experiment.commands.treebank:treebank",
        "lists": "experiment.commands.lists:lists",
        "launch": "webapp.commands.runs:launch",
        "close": "webapp.commands.runs:close",
        "open": "webapp.commands.runs:open_",
        "runs": "webapp.commands.runs:runs",
        "serve": "webapp.commands.serve:serve",
        "stop": "webapp.commands.serve:stop",
        "simulate": "webapp.commands.runs:simulate",
        "exclude": "webapp.commands.runs:exclude",
        "export": "webapp.commands.runs:export",
        "settings": "webapp.commands.serve:settings",
        "compare": "analysis.compare:command",
        "convert": "analysis.commands.convert:convert",
        "power": "analysis.commands.power:power",
    },
)
cli.add_command(
    LazyGroup(
        name="lm",
        help="Train language models and score the materials with them.",
        entries={
            "text": "analysis.commands.text:text",
            "train": "lm.commands:train",
            "score": "analysis.commands.score:score",
            "perplexity": "lm.commands.perplexity:perplexity",
            "tag": "lm.commands.tag:tag",
            "search": "lm.commands.search:search",
            "convert": "lm.commands.convert:convert",
        },
    )
)


@cli.command()
@click.argument("name", metavar="STUDY", default="marvin_linzen_2018")
@click.option("--port", help="The server's port.  [default: the setting port]")
@click.option("--models", is_flag=True, help="Train unigram and recurrent models as well.")
@click.option("--keep", is_flag=True, help="Leave the server on, to take part oneself.")
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    envvar="PARALLAX_INSTANCE",
    default=Path("instance"),
    show_default=True,
    help="The installation's folder.",
)
def study(name: str, port: str | None, models: bool, keep: bool, instance: Path) -> None:
    """Do the main job on STUDY: simulated people and a 5-gram model, side by side.

    Each step is a command that could be typed by itself. What an earlier call made from the same
    study with the same code is used again.
    """
    made = instance / "studies" / _identity(name)
    here = ("--instance", str(instance))
    listen = ("serve", "--background", *(("--port", port) if port else ()), *here)
    _make(made / "items.parquet", "materials", "write", name, "--out")
    _make(made / "lists", "lists", "build", name, "--seed", _SEED, "--out")
    if not (made / "export").exists():
        _take_part(name, made, listen, here)
    _compare(made, "report_of_models" if models else "report", _scores(name, made, models))
    if keep:
        _open_door(name, made, listen, here)
    else:
        click.echo("\nTo take part yourself: make study KEEP=1, then open the link it prints.")
        click.echo("To stop the server afterwards: make stop")


def _identity(name: str) -> str:
    """Return a name for what is made from a study, another one when study or code change."""
    from experiment.studies.load import load_study
    from experiment.version import code_version

    study = load_study(name)
    digest = hashlib.sha256(code_version().encode())
    for path in sorted(path for path in study.folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(study.folder).as_posix().encode() + path.read_bytes())
    return f"{study.name}-{digest.hexdigest()[:12]}"


def _scores(name: str, made: Path, models: bool) -> list[Path]:
    """Return the score files of the models trained on the study's text."""
    from experiment.studies.load import load_study

    text = load_study(name).folder / "training_text.txt"
    wanted: dict[str, tuple[str, ...]] = {**_NGRAM}
    if models:
        wanted |= _MORE
    if not text.exists():
        text = made / "text.txt"
        _make(text, "lm", "text", name, "--out")
        if models:
            # Only a generated text comes with supertags.
            _make(made / "tags", "lm", "text", name, "--tagged", "--sentences", "5000",
                  "--seed", "2", "--out")  # fmt: skip
            wanted["multitask"] = ("demo_multitask", "--tags", str(made / "tags"))
    for model, how in wanted.items():
        _make(made / "models" / model, "lm", "train", *how, "--data", str(text), "--out")
    files = [made / "scores" / f"{model}.parquet" for model in wanted]
    for model, file in zip(wanted, files, strict=True):
        _make(file, "lm", "score", f"{made}/models/{model}", name, "--out")
    return files


def _make(path: Path, *command: str) -> None:
    """Run a command that writes a path, given as its last word, unless the path is there."""
    if path.exists():
        click.echo(f"{path} is there already.")
    else:
        _run(*command, str(path))


def _compare(made: Path, folder: str, files: Sequence[Path]) -> None:
    report, scores = made / folder, [part for file in files for part in ("--scores", str(file))]
    if not report.exists():
        _run("compare", "--run", f"{made}/export", *scores, "--out", str(report))
        return
    click.echo(f"\n{(report / 'table_1.txt').read_text(encoding='utf-8')}")
    for path in (report / "report.html", *sorted(report.glob("*.svg"))):
        click.echo(path)


def _run(*command: str) -> object:
    """Show a command, run it and return what it returns."""
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    return cli.main(command, standalone_mode=False)


def _launched(name: str, recruiter: str, made: Path, here: Sequence[str]) -> str:
    """Return the reference of the run of that recruiter, launched now if it is not there."""
    note = made / f"{recruiter}_run"
    if not note.exists():
        run = _run("launch", name, "--seed", _SEED, "--recruiter", recruiter, *here)
        note.write_text(str(run), encoding="utf-8")
    return note.read_text(encoding="utf-8")


def _take_part(name: str, made: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    from webapp.server import running

    run = _launched(name, "simulator", made, here)
    serving = running(Path(here[-1])) is not None
    if not serving:
        _run(*listen)
    try:
        _run("simulate", run, *here)
    finally:
        if not serving:
            _run("stop", *here)
    _run("exclude", run, *here)
    _run("export", run, "--out", str(made / "export"), *here)


def _open_door(name: str, made: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    from webapp.server import running

    if running(Path(here[-1])) is None:
        _run(*listen)
    server, run = running(Path(here[-1])), _launched(name, "direct", made, here)
    click.echo(f"\nTo take part yourself, open: {server and server.url}/run/{run}")
    click.echo("To stop the server: make stop")


def main() -> None:
    """Run the command line; what the user can mend ends as one paragraph and exit code 2."""
    try:
        cli()
    except (ParallaxError, LmError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
