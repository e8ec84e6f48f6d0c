"""The shell's door: one command group whose subcommands are loaded when they are called."""

import hashlib
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiment.commands.lazy_group import Lazy, LazyGroup
from experiment.errors import ParallaxError
from lm.errors import LmError
from marketplace.errors import MarketplaceError

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

_SEED = "1"
_PANELS = "besample classroom connect direct prolific_link respondent sona sona_redirect testable"
# How `parallax lm train` makes each model of the main job, and those that --models adds.
_NGRAM = {"ngram": ("--type", "ngram")}
_MORE = {"unigram": ("--type", "unigram"), "srn": ("demo_srn",), "lstm": ("demo_lstm",)}


def _print_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    """Print the version and, in a checkout, the commit; then exit."""
    if asked and not context.resilient_parsing:
        from experiment.version import code_version

        click.echo(f"parallax {code_version()}")
        context.exit()


# Each command with where it is and its line in --help, which a test compares with its own help.
_STUDY = {
    "materials": Lazy("experiment.commands.materials", "Write and check the items of a study."),
    "treebank": Lazy(
        "experiment.commands.treebank", "Make agreement test sentences from a treebank."
    ),
    "lists": Lazy("experiment.commands.lists", "Build and audit the lists of a study."),
}
_AT = "experiment.commands.study"
_OWN_STUDY = {
    "new": Lazy(_AT, "Write a complete study folder NAME, ready to launch."),
    "check": Lazy(_AT, "List every mistake in STUDY before you launch it."),
    "show": Lazy(_AT, "Print STUDY's design, counts, cost, and an example of every trial."),
    "preview": Lazy(
        "webapp.commands.preview", "Show one trial of each kind of STUDY in the browser."
    ),
    "privacy": Lazy(
        "webapp.commands.study_privacy",
        "Draft STUDY's consent annex, record of processing and data flow.",
    ),
    "schema": Lazy(_AT, "Write the JSON Schema of study.toml, for editors."),
}
_RUN = {
    "launch": Lazy("webapp.commands.runs", "Launch STUDY as a new run."),
    "open": Lazy("webapp.commands.runs:open_", "Reopen RUN to new participants."),
    "close": Lazy("webapp.commands.runs", "Close RUN to new participants."),
    "runs": Lazy("webapp.commands.runs", "List the runs and how far each has come."),
    "publish": Lazy("webapp.commands.recruitment", "Offer RUN's open places on its platform."),
    "recruitment": Lazy("webapp.commands.recruitment", "Show and control how a run fills."),
    "links": Lazy("webapp.commands.links", "Manage links, access codes and QR codes."),
    "simulate": Lazy(
        "webapp.commands.runs", "Send simulated participants through the pages of RUN."
    ),
    "exclude": Lazy(
        "webapp.commands.runs", "Apply the study's exclusion rules to everyone who finished RUN."
    ),
    "integrity": Lazy(
        "webapp.commands.integrity", "Show which sessions of RUN look like a program's."
    ),
    "erase": Lazy("webapp.commands.erase", "Erase what a participant of RUN gave, by their CODE."),
    "forget": Lazy("webapp.commands.forget:forget_", "Remove all data that identify WHO."),
    "export": Lazy(
        "webapp.commands.runs", "Write everything RUN has gathered as a folder of tables."
    ),
}
_PAY = {
    "review": Lazy(
        "webapp.commands.payments", "Show who took part in RUN and what they were paid."
    ),
    "approve": Lazy(
        "webapp.commands.payments", "Pay the reward to everyone who finished RUN and submitted."
    ),
    "reject": Lazy("webapp.commands.payments", "Reject WHO's work: do not pay the reward."),
    "bonus": Lazy(
        "webapp.commands.payments", "Pay bonuses to participants of RUN whose reward is paid."
    ),
    "compensate": Lazy(
        "webapp.commands.reconcile", "Offer pay to someone who worked but could not submit."
    ),
    "settle": Lazy("webapp.commands.payments", "Record whether a PAYMENT in doubt was made."),
    "reconcile": Lazy(
        "webapp.commands.reconcile", "Compare RUN's records, its platform and its ledger."
    ),
}
_ANALYSIS = {
    "compare": Lazy(
        "analysis.compare:command", "Compare the people of an exported run with models."
    ),
    "power": Lazy(
        "analysis.commands.power", "Simulate STUDY to find how many participants it needs."
    ),
}
_IMPORT = {
    "judgments": Lazy(
        "analysis.commands.import_judgments",
        "Read judgments from FILE, whichever program collected them.",
    ),
    "scores": Lazy("analysis.commands.import_scores", "Read models' scores from FILE."),
}
_SERVER = {
    "serve": Lazy(
        "webapp.commands.serve", "Serve participants, until interrupted or in the background."
    ),
    "doctor": Lazy("webapp.commands.doctor", "Check the installation and say what to repair."),
    "stop": Lazy("webapp.commands.serve", "Stop the server in the background."),
    "reload": Lazy("webapp.commands.serve", "Reload the server's settings and code."),
    "users": Lazy("webapp.commands.users", "Manage who may sign in to the researcher's pages."),
    "keys": Lazy("webapp.commands.keys", "List, rotate and drop the installation's keys."),
    "work": Lazy("webapp.commands.work", "Do the periodic jobs, if no server does them."),
    "settings": Lazy(
        "webapp.commands.serve", "Print every setting, its value and where it comes from."
    ),
    "marketplace": Lazy(
        "marketplace.command",
        "Run a local marketplace that speaks Mechanical Turk's API, or Prolific's.",
    ),
}
_DB = {
    "status": Lazy("webapp.commands.db", "Show the database's schema version."),
    "upgrade": Lazy(
        "webapp.commands.db:upgrade_", "Upgrade the database to the schema of this version."
    ),
    "backup": Lazy("webapp.commands.backup", "Write everything the database holds to FILE."),
    "restore": Lazy(
        "webapp.commands.backup:restore_", "Restore the database from the backup FILE."
    ),
    "drill": Lazy("webapp.commands.backup:drill_", "Restore FILE into a scratch database."),
}
_LM = {
    "text": Lazy(
        "analysis.commands.text", "Generate simple English with STUDY's words to train on."
    ),
    "train": Lazy("lm.commands", "Train a language model on a text and keep it in a folder."),
    "score": Lazy("analysis.commands.score", "Score every version of every item with each MODEL."),
    "accuracy": Lazy(
        "analysis.commands.accuracy", "Print how often each model prefers the expected version."
    ),
    "benchmark": Lazy("analysis.commands.benchmark", "Print accuracies on a published set."),
    "export": Lazy("analysis.commands.export_scores", "Write SCORES for other programs."),
    "schema": Lazy("analysis.commands.export_scores", "Print the JSON Schema of score files."),
    "perplexity": Lazy("lm.commands.perplexity", "Print the perplexity of TEXT under MODEL."),
    "surprisal": Lazy(
        "lm.commands.surprisal", "Write the surprisal of every word of TEXTS under MODEL."
    ),
    "reading-times": Lazy("analysis.commands.reading_times:join", "Join TIMES to SURPRISAL."),
    "tag": Lazy("lm.commands.tag", "Print how many words get the right supertag from MODEL."),
    "search": Lazy("lm.commands.search", "Train every model of SPEC and list their perplexities."),
    "convert": Lazy("lm.commands.convert", "Turn a published CHECKPOINT into a model folder."),
}

cli = LazyGroup(
    name="parallax",
    help="Put the same forced choice to people and to language models.",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_print_version,
            help="Show the version and exit.",
        )
    ],
    sections={
        "Study": _STUDY,
        "Run": _RUN,
        "Pay": _PAY,
        "Models": {},
        "Analysis": _ANALYSIS,
        "Server": _SERVER,
    },
)
_GROUPS = (
    ("Study", "study", "Write, check, show and preview a study of your own.", _OWN_STUDY),
    ("Server", "db", "The database: its schema, its backups.", _DB),
    ("Analysis", "import", "Import what other programs collected.", _IMPORT),
    ("Models", "lm", "Train language models and score the materials with them.", _LM),
)
for _section, _name, _help, _commands in _GROUPS:
    _group = LazyGroup(name=_name, help=_help, sections={"Commands": _commands})
    cli.add_command(_group, section=_section)


@click.command()
@click.argument("name", metavar="STUDY", default="marvin_linzen_2018")
@click.option("--port", help="The server's port.  [default: the setting port]")
@click.option(
    "--recruiter",
    type=click.Choice(["simulator", "mturk", "prolific", *_PANELS.split(), "toloka"]),
    default="simulator",
    show_default=True,
    help="Who sends the simulated people; any but simulator starts a stand-in.",
)
@click.option("--models", is_flag=True, help="Also train unigram and recurrent models.")
@click.option("--keep", is_flag=True, help="Keep the server on, to take part yourself.")
@click.option(
    "--instance",
    type=click.Path(path_type=Path),
    envvar="PARALLAX_INSTANCE",
    default=Path("instance"),
    show_default=True,
    help="The installation's folder.",
)
def demo(
    name: str, port: str | None, recruiter: str, models: bool, keep: bool, instance: Path
) -> None:
    """Do the main job on STUDY, from its lists to its report.

    Simulated people and a 5-gram model are set side by side; people alone where no text is there.

    Each step is a command that could be typed by itself. What an earlier call made from the same
    study with the same code is used again.
    """
    from webapp.core.instance import open_instance

    open_instance(instance)  # before anything is written there
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
        elif recruiter in ("mturk", "prolific"):
            _take_part_at_stand_in(recruiter, name, made)
        else:
            from webapp.commands.demo import take_part_at_panel

            take_part_at_panel(name, made, recruiter, _run, _SEED)
    _compare(export, made / report, _scores(name, made, models))
    if keep:
        _open_door(name, made, listen, here)
    else:
        click.echo("\nTo take part yourself: make study KEEP=1, then open the link it prints.")
    click.echo("To stop the server afterwards: make stop")


cli.add_command(demo, section="Study")


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
    from analysis.commands.text import training_text

    if (text := training_text(name)) is None:
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


def _compare(export: Path, report: Path, files: Sequence[Path]) -> None:
    scores = [part for file in files for part in ("--scores", str(file))]
    if not report.exists():
        _run("compare", "--run", str(export), *scores, "--out", str(report))
        return
    click.echo(f"\n{(report / 'tables' / 'table_1.txt').read_text(encoding='utf-8')}")
    for path in (report / "report.html", *sorted(report.glob("figures/*.svg"))):
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
    from webapp.server.process import running

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


def _take_part_at_stand_in(recruiter: str, name: str, made: Path) -> None:
    """Publish, take part, pay and reconcile in an installation and a stand-in of their own."""
    from marketplace.serving import in_thread
    from webapp.commands.main_job import SETTINGS, STEPS, study_for

    place = made / recruiter
    # What an interrupted call left is play money and simulated work: it is done again.
    shutil.rmtree(place, ignore_errors=True)
    here = ("--instance", str(place))
    with in_thread(_stand_in(recruiter, name, place / "marketplace")) as url:
        settings = f'{recruiter}_endpoint = "{url}"\n{SETTINGS[recruiter]}'
        (place / "parallax.toml").write_text(settings, encoding="utf-8")
        click.echo(f"\nA marketplace, as parallax marketplace starts one, answers at {url}")
        _run("serve", "--background", "--port", "0", *here)
        try:
            study = study_for(recruiter, name, place)
            run = _launched(study, recruiter, place, ("--simulated", *here))
            STEPS[recruiter](lambda *command: _run(*command, *here), run, place)
        finally:
            _run("stop", *here)
    (place / "export").rename(made / f"export_{recruiter}")


def _stand_in(recruiter: str, name: str, folder: Path) -> "WSGIApplication":
    from experiment.studies.load import load_study
    from marketplace.mturk import create_marketplace
    from marketplace.prolific import create_prolific

    if recruiter == "mturk":
        return create_marketplace(folder)
    return create_prolific(folder, currency=load_study(name).currency)


def _open_door(name: str, made: Path, listen: Sequence[str], here: Sequence[str]) -> None:
    from webapp.server.process import running

    if running(Path(here[-1])) is None:
        _run(*listen)
    server, run = running(Path(here[-1])), _launched(name, "direct", made, here)
    click.echo(f"\nTo try it yourself: {server and server.url}/run/{run}")


def main() -> None:
    """Run the command line; what the user can mend ends as one paragraph and an exit code."""
    try:
        cli()
    except (ParallaxError, LmError, MarketplaceError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(getattr(error, "exit_status", 2))


if __name__ == "__main__":
    main()
