"""``parallax demo``: a whole study, from its lists to its report."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from experiment.commands.lazy_group import MissingPartError
from experiment.errors import StudyError
from experiment.studies.files import TEXT_GRAMMAR, TRAINING_TEXT, training_text
from experiment.studies.load import load_study
from experiment.version import code_version
from webapp.commands.demonstration import demonstrations, run_demonstration, show_step
from webapp.commands.options import add_new_instance_option
from webapp.core.instance import open_instance
from webapp.server.server_control import find_running_server

_SEED = "1"
_SIMULATOR = "simulator"
# The options of `parallax lm train` for each model of the main job, and for those of --models.
_NGRAM = {"ngram": ("--type", "ngram")}
_UNIGRAM = {"unigram": ("--type", "unigram")}
_EXTRA_MODELS = {**_UNIGRAM, "srn": ("demo_srn",), "lstm": ("demo_lstm",)}


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
@click.option("--keep", is_flag=True, help="Keep the server running, to take part yourself.")
@add_new_instance_option
def demo(
    name: str,
    port: str | None,
    recruiter: str,
    models: bool,
    takers: bool,
    keep: bool,
    instance: Path,
) -> None:
    """Run STUDY with simulated participants, from its lists to its report.

    The report compares them with a 5-gram model, if there is a text to train it on. Each step
    is a command that you could type. Results of an earlier call with the same study and code
    are reused.
    """
    open_instance(instance)  # before anything is written there
    study_folder = instance / "studies" / _name_results(name)
    instance_option = ("--instance", str(instance))
    listen = ("serve", "--background", *(("--port", port) if port else ()), *instance_option)
    _make(study_folder / "items.parquet", "materials", "write", name, "--out")
    _make(study_folder / "lists", "lists", "build", name, "--seed", _SEED, "--out")
    suffix = "" if recruiter == _SIMULATOR else f"_{recruiter}"
    export = study_folder / f"export{suffix}"
    report = f"report{'_of_models' * models}{'_of_takers' * takers}{suffix}"
    if not export.exists():
        if recruiter == _SIMULATOR:
            _take_part(name, study_folder, listen, instance_option)
        else:
            run_demonstration(name, recruiter, study_folder, _run, _SEED)
    judges = [
        part
        for file in _list_score_files(name, study_folder, models)
        for part in ("--scores", str(file))
    ]
    if takers:
        folders = take_sessions(name, study_folder, export, _make)
        judges += [part for folder in folders for part in ("--takers", str(folder))]
    _compare(export, study_folder / report, judges)
    if keep:
        _serve_link(name, study_folder, listen, instance_option)
    else:
        again = " ".join(("parallax", "demo", name, "--keep", *instance_option))
        click.echo(f"\nTo take part yourself: {again}, then open the link it prints.")
    click.echo(f"To stop the server afterwards: {' '.join(('parallax', 'stop', *instance_option))}")


def _name_results(name: str) -> str:
    """Return a name for a study's results that changes with the study and the code."""
    study = load_study(name)
    digest = hashlib.sha256(code_version().encode())
    for path in sorted(path for path in study.folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(study.folder).as_posix().encode() + path.read_bytes())
    return f"{study.name}-{digest.hexdigest()[:12]}"


def _list_score_files(name: str, out_folder: Path, models: bool) -> list[Path]:
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
    model_options: dict[str, tuple[str, ...]] = {**_NGRAM, **(_EXTRA_MODELS if models else {})}
    if not text.exists():
        text = out_folder / "text.txt"
        _make(text, "lm", "text", name, "--out")
        if models:
            # Only a generated text has supertags.
            _make(out_folder / "tags", "lm", "text", name, "--tagged", "--sentences", "5000",
                  "--seed", "2", "--out")  # fmt: skip
            model_options["multitask"] = ("demo_multitask", "--tags", str(out_folder / "tags"))
    try:
        _train(out_folder, _NGRAM, text)
    except MissingPartError as error:
        click.echo(f"{error} The report compares people with a unigram model instead.")
        del model_options["ngram"]
        model_options = _UNIGRAM | model_options
    _train(
        out_folder,
        {model: model_options[model] for model in model_options if model not in _NGRAM},
        text,
    )
    files = [out_folder / "scores" / f"{model}.parquet" for model in model_options]
    for model, file in zip(model_options, files, strict=True):
        _make(file, "lm", "score", f"{out_folder}/models/{model}", name, "--out")
    return files


def _train(out_folder: Path, models: Mapping[str, tuple[str, ...]], text: Path) -> None:
    for model, options in models.items():
        folder = out_folder / "models" / model
        _make(folder, "lm", "train", *options, "--data", str(text), "--out")


def _make(path: Path, *command: str) -> None:
    """Run a command that writes a file or folder, its last argument, unless it exists."""
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
    """Print a command of this command line, run it and return its result."""
    commands = click.get_current_context().find_root().command
    with show_step(command):
        return commands.main(command, standalone_mode=False)


def _find_or_launch_run(name: str, recruiter: str, out_folder: Path, here: Sequence[str]) -> str:
    """Return the reference of the run of that recruiter, launching the run if it does not exist."""
    note = out_folder / f"{recruiter}_run"
    if not note.exists():
        run = _run("launch", name, "--seed", _SEED, "--recruiter", recruiter, *here)
        note.write_text(str(run), encoding="utf-8", newline="\n")
    return note.read_text(encoding="utf-8")


def _take_part(name: str, out_folder: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    run = _find_or_launch_run(name, _SIMULATOR, out_folder, here)
    serving = find_running_server(Path(here[-1])) is not None
    if not serving:
        _run(*listen)
    try:
        _run("simulate", run, *here)
    finally:
        if not serving:
            _run("stop", *here)
    _run("exclude", run, *here)
    _run("export", run, "--out", str(out_folder / "export"), *here)


def _serve_link(name: str, out_folder: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    if find_running_server(Path(here[-1])) is None:
        _run(*listen)
    server, run = (
        find_running_server(Path(here[-1])),
        _find_or_launch_run(name, "direct", out_folder, here),
    )
    click.echo(f"\nTo try it yourself: {server and server.url}/run/{run}")


# Takes a command line whose last word is the path to make.
MakeFile = Callable[..., None]
_READINGS = (
    "sentence",
    "difference",
    "after_instructions",
    "acceptability",
    "forced_choice",
    "rating",
)
_LINES = "60000"
_LAYERS = ("--hidden", "64", "--embedding", "32", "--layers", "1", "--dropout", "0")
# Stops early if an epoch does not improve on the held-out tenth of the text.
_OPTIMIZER = ("--optimizer", "adam", "--lr", "0.008", "--batch", "16", "--steps", "48",
             "--epochs", "4", "--patience", "1")  # fmt: skip
_N_SESSIONS = "10"
# Over HTTP each prompt is a separate call: one session, with its history in the prompts.
_HTTP_TERMS = ("--reading", "forced_choice", "--context", "zero_shot", "--context", "history",
           "--labels", "letters", "--sessions", "1", "--price-in", "0", "--price-out", "0",
           "--concurrency", "2")  # fmt: skip


def take_sessions(name: str, out_folder: Path, export: Path, make: MakeFile) -> list[Path]:
    """Train two models, let them take a run's sessions, and return the result folders.

    Args:
        name: The study.
        out_folder: The folder of all its results.
        export: The exported run of the human participants.
        make: Runs a command unless its result exists.

    Raises:
        StudyError: The study has no grammar of a text to train on.
    """
    if not (load_study(name).folder / TEXT_GRAMMAR).is_file():
        raise StudyError(
            "the study has no grammar that a text could be generated with, so no model can be "
            "trained for it",
            where=f"{load_study(name).folder / TEXT_GRAMMAR}",
            expected="a study such as marvin_linzen_2018",
            remedy="Let a model of yours take its sessions: parallax take STUDY --model MODEL",
        )
    make(out_folder / "text.txt", "lm", "text", name, "--out")
    make(
        out_folder / "prompts.txt", "lm", "text", name, "--prompts", "--sentences", _LINES, "--out"
    )
    models = out_folder / "models"
    make(models / "lstm", "lm", "train", "demo_lstm", "--data", f"{out_folder}/text.txt", "--out")
    make(models / "follower", "lm", "train", "--type", "lstm", *_LAYERS, *_OPTIMIZER,
         "--name", "follower", "--data", f"{out_folder}/prompts.txt", "--out")  # fmt: skip
    readings = [part for reading in _READINGS for part in ("--reading", reading)]
    folders = [out_folder / "takers" / name for name in ("lstm", "follower", "follower_served")]
    for folder in folders[:2]:
        make(folder, "take", str(export), "--model", f"{models / folder.name}", *readings,
             "--sessions", _N_SESSIONS, "--out")  # fmt: skip
    if not folders[2].exists():
        served = models / "follower_served"
        if not served.exists():
            shutil.copytree(models / "follower", served)
        with _serve_model(served) as address:
            make(folders[2], "take", str(export), "--model", address, *_HTTP_TERMS, "--out")
    return folders


@contextmanager
def _serve_model(model: Path) -> Iterator[str]:
    """Serve a model in a separate process, and yield the name by which it can be called."""
    command = ("lm", "serve", str(model), "--tier", "next", "--port", "0")
    click.secho(f"\n$ parallax {' '.join(command)} &", bold=True)
    started = [sys.executable, "-m", "parallax", *command]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            if not address:
                raise click.ClickException("The stand-in server did not start; it said why above.")
            click.echo(address)
            yield address
        finally:
            server.terminate()
