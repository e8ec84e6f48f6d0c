"""The shell's door: one command group whose subcommands are loaded when they are called."""

import csv
import hashlib
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from experiment.commands.lazy_group import LazyGroup
from experiment.errors import ParallaxError
from lm.errors import LmError

_SEED = "1"
# How `parallax lm train` makes each model of the main job, and those that --models adds.
_NGRAM = {"ngram": ("--type", "ngram")}
_MORE = {"unigram": ("--type", "unigram"), "srn": ("demo_srn",), "lstm": ("demo_lstm",)}


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
        "reload": "webapp.commands.serve:reload",
        "work": "webapp.commands.work:work",
        "publish": "webapp.commands.recruitment:publish",
        "recruitment": "webapp.commands.recruitment:recruitment",
        "simulate": "webapp.commands.runs:simulate",
        "exclude": "webapp.commands.runs:exclude",
        "export": "webapp.commands.runs:export",
        "settings": "webapp.commands.serve:settings",
        "review": "webapp.commands.payments:review",
        "approve": "webapp.commands.payments:approve",
        "reject": "webapp.commands.payments:reject",
        "bonus": "webapp.commands.payments:bonus",
        "compensate": "webapp.commands.reconcile:compensate",
        "reconcile": "webapp.commands.reconcile:reconcile",
        "marketplace": "webapp.commands.marketplace:marketplace",
        "compare": "analysis.compare:command",
        "convert": "analysis.commands.convert:convert",
        "power": "analysis.commands.power:power",
    },
)
cli.add_command(
    LazyGroup(
        name="db",
        help="The database: its schema, its backups.",
        entries={
            "status": "webapp.commands.db:status",
            "upgrade": "webapp.commands.db:upgrade_",
            "backup": "webapp.commands.db:backup",
            "restore": "webapp.commands.db:restore_",
        },
    )
)
cli.add_command(
    LazyGroup(
        name="lm",
        help="Train language models and score the materials with them.",
        entries={
            "text": "analysis.commands.text:text",
            "train": "lm.commands:train",
            "score": "analysis.commands.score:score",
            "accuracy": "analysis.commands.accuracy:accuracy",
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
@click.option(
    "--recruiter",
    type=click.Choice(["simulator", "mturk"]),
    default="simulator",
    show_default=True,
    help="mturk: the simulated people come through a local marketplace, and are paid there.",
)
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
def study(
    name: str, port: str | None, recruiter: str, models: bool, keep: bool, instance: Path
) -> None:
    """Do the main job on STUDY: simulated people and a 5-gram model, side by side.

    Each step is a command that could be typed by itself. What an earlier call made from the same
    study with the same code is used again.
    """
    made = instance / "studies" / _identity(name)
    here = ("--instance", str(instance))
    listen = ("serve", "--background", *(("--port", port) if port else ()), *here)
    _make(made / "items.parquet", "materials", "write", name, "--out")
    _make(made / "lists", "lists", "build", name, "--seed", _SEED, "--out")
    suffix = "" if recruiter == "simulator" else f"_{recruiter}"
    export, report = made / f"export{suffix}", f"report{'_of_models' * models}{suffix}"
    if not export.exists():
        if recruiter == "simulator":
            _take_part(name, made, listen, here)
        else:
            _take_part_at_marketplace(name, made)
    _compare(export, made / report, _scores(name, made, models))
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


def _compare(export: Path, report: Path, files: Sequence[Path]) -> None:
    scores = [part for file in files for part in ("--scores", str(file))]
    if not report.exists():
        _run("compare", "--run", str(export), *scores, "--out", str(report))
        return
    click.echo(f"\n{(report / 'table_1.txt').read_text(encoding='utf-8')}")
    for path in (report / "report.html", *sorted(report.glob("*.svg"))):
        click.echo(path)


def _run(*command: str) -> object:
    """Show a command, run it and return what it returns."""
    click.secho(f"\n$ parallax {shlex.join(command)}", bold=True)
    return cli.main(command, standalone_mode=False)


def _launched(name: str, recruiter: str, made: Path, here: Sequence[str]) -> str:
    """Return the reference of the run of that recruiter, launched now if it is not there.

    Whatever words come before the instance's option are options of the launch too.
    """
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


def _take_part_at_marketplace(name: str, made: Path) -> None:
    """Publish, take part, pay and reconcile in an installation and a marketplace of their own."""
    from webapp.marketplace import create_marketplace
    from webapp.marketplace.serving import in_thread

    place = made / "mturk"
    # What an interrupted call left is play money and simulated work: it is done again.
    shutil.rmtree(place, ignore_errors=True)
    here = ("--instance", str(place))
    with in_thread(create_marketplace(place / "marketplace")) as url:
        (place / "parallax.toml").write_text(f'mturk_endpoint = "{url}"\n', encoding="utf-8")
        click.echo(f"\nA marketplace, as parallax marketplace starts one, answers at {url}")
        _run("serve", "--background", "--port", "0", *here)
        try:
            _through_marketplace(name, place, here)
        finally:
            _run("stop", *here)
    (place / "export").rename(made / "export_mturk")


def _through_marketplace(name: str, place: Path, here: Sequence[str]) -> None:
    run = _launched(name, "mturk", place, ("--simulated", *here))
    _run("publish", run, "--yes", *here)
    _run("simulate", run, *here)
    _run("exclude", run, *here)
    _run("approve", run, "--yes", *here)
    _run("export", run, "--out", str(place / "export"), *here)
    _run("bonus", run, "--file", _bonus_for_the_first(place), "--yes", *here)
    _run("recruitment", "status", run, *here)
    _run("reconcile", run, *here)


def _bonus_for_the_first(place: Path) -> str:
    """Return a file that gives the first participant a bonus, whom the export names."""
    with (place / "export" / "participants.csv").open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))["participant"]
    bonuses = place / "bonuses.csv"
    bonuses.write_text(
        f"participant,amount_cents,reason\n{first},25,You were the first.\n", encoding="utf-8"
    )
    return str(bonuses)


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
