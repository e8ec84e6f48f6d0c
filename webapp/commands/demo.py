"""``parallax demo``: the main job, from the lists of a study to its report."""

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from experiment.studies.files import TRAINING_TEXT, training_text
from experiment.studies.load import load_study
from experiment.version import code_version
from webapp.commands.demo_takers import take_sessions
from webapp.commands.demonstration import demonstrations, take_part_at_stand_in
from webapp.commands.options import with_instance
from webapp.core.instance import open_instance
from webapp.server.process import running

_SEED = "1"
_SIMULATOR = "simulator"
# How `parallax lm train` makes each model of the main job, and those that --models adds.
_NGRAM = {"ngram": ("--type", "ngram")}
_MORE = {"unigram": ("--type", "unigram"), "srn": ("demo_srn",), "lstm": ("demo_lstm",)}


@click.command()
@click.argument("name", metavar="STUDY", default="marvin_linzen_2018")
@click.option("--port", help="The server's port.  [default: the setting port]")
@click.option(
    "--recruiter",
    type=click.Choice([_SIMULATOR, *demonstrations()]),
    default=_SIMULATOR,
    show_default=True,
    help="Who sends the simulated people; any but simulator starts a stand-in.",
)
@click.option("--models", is_flag=True, help="Also train unigram and recurrent models.")
@click.option("--takers", is_flag=True, help="Let models trained here take the sessions too.")
@click.option("--keep", is_flag=True, help="Keep the server on, to take part yourself.")
@with_instance
def demo(
    name: str,
    port: str | None,
    recruiter: str,
    models: bool,
    takers: bool,
    keep: bool,
    instance: Path,
) -> None:
    """Do the main job on STUDY, from its lists to its report.

    Simulated people and a 5-gram model are set side by side; people alone where no text is there.

    Each step is a command that could be typed by itself. What an earlier call made from the same
    study with the same code is used again.
    """
    open_instance(instance)  # before anything is written there
    made = instance / "studies" / _identity(name)
    here = ("--instance", str(instance))
    listen = ("serve", "--background", *(("--port", port) if port else ()), *here)
    _make(made / "items.parquet", "materials", "write", name, "--out")
    _make(made / "lists", "lists", "build", name, "--seed", _SEED, "--out")
    suffix = "" if recruiter == _SIMULATOR else f"_{recruiter}"
    export = made / f"export{suffix}"
    report = f"report{'_of_models' * models}{'_of_takers' * takers}{suffix}"
    if not export.exists():
        if recruiter == _SIMULATOR:
            _take_part(name, made, listen, here)
        else:
            take_part_at_stand_in(name, recruiter, made, _run, _SEED)
    judges = [part for file in _scores(name, made, models) for part in ("--scores", str(file))]
    if takers:
        folders = take_sessions(name, made, export, _make)
        judges += [part for folder in folders for part in ("--takers", str(folder))]
    _compare(export, made / report, judges)
    if keep:
        _open_door(name, made, listen, here)
    else:
        click.echo("\nTo take part yourself: make study KEEP=1, then open the link it prints.")
    click.echo("To stop the server afterwards: make stop")


def _identity(name: str) -> str:
    """Return a name for what is made from a study, another one when study or code change."""
    study = load_study(name)
    digest = hashlib.sha256(code_version().encode())
    for path in sorted(path for path in study.folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(study.folder).as_posix().encode() + path.read_bytes())
    return f"{study.name}-{digest.hexdigest()[:12]}"


def _scores(name: str, made: Path, models: bool) -> list[Path]:
    """Return the score files of the models trained on the study's text."""
    folder = load_study(name).folder
    if (text := training_text(folder)) is None:
        click.echo(
            f"\nThe report is about people alone: {folder} has no text to train a model on.\nFor "
            f"a small model, put a text of its language there as {TRAINING_TEXT}, a sentence per "
            "line,\nand run this again. Or score the study with a model that you have:\n  "
            f"parallax lm score MODEL {folder} --out scores.parquet"
        )
        return []
    wanted: dict[str, tuple[str, ...]] = {**_NGRAM, **(_MORE if models else {})}
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
        click.echo(f"{path} already exists.")
    else:
        _run(*command, str(path))


def _compare(export: Path, report: Path, judges: Sequence[str]) -> None:
    if not report.exists():
        _run("compare", "--run", str(export), *judges, "--out", str(report))
        return
    # Sessions of several tasks have a report for each.
    for page in sorted(report.rglob("report.html")):
        table = page.parent / "tables" / "table_1.txt"
        click.echo(f"\n{table.read_text(encoding='utf-8')}")
        for path in (page, *sorted(page.parent.glob("figures/*.svg"))):
            click.echo(path)


def _run(*command: str) -> object:
    """Show a command of this command line, run it and return what it returns."""
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    commands = click.get_current_context().find_root().command
    return commands.main(command, standalone_mode=False)


def _launched(name: str, recruiter: str, made: Path, here: Sequence[str]) -> str:
    """Return the reference of the run of that recruiter, launched now if it is not there."""
    note = made / f"{recruiter}_run"
    if not note.exists():
        run = _run("launch", name, "--seed", _SEED, "--recruiter", recruiter, *here)
        note.write_text(str(run), encoding="utf-8", newline="\n")
    return note.read_text(encoding="utf-8")


def _take_part(name: str, made: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    run = _launched(name, _SIMULATOR, made, here)
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
    if running(Path(here[-1])) is None:
        _run(*listen)
    server, run = running(Path(here[-1])), _launched(name, "direct", made, here)
    click.echo(f"\nTo try it yourself: {server and server.url}/run/{run}")
