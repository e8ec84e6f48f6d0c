"""The command line: one command group whose subcommands are loaded on demand."""

import atexit
import gc
import sys

import click

from experiment.commands.lazy_group import Lazy, LazyGroup
from experiment.errors import ParallaxError
from lm.errors import LmError


def _print_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    """Print the version and, in a checkout, the commit; then exit."""
    if asked and not context.resilient_parsing:
        from experiment.version import code_version

        click.echo(f"parallax {code_version()}")
        context.exit()


# Each command's module and its line in --help; a test compares the line with the command's help.
_STUDY = {
    "materials": Lazy("experiment.commands.materials", "Write and check the items of a study."),
    "natives": Lazy("analysis.natives.command", "Let native speakers check a study's sentences."),
    "treebank": Lazy(
        "experiment.commands.treebank", "Make agreement test sentences from a treebank."
    ),
    "lists": Lazy("experiment.commands.lists", "Build and audit the lists of a study."),
    "demo": Lazy(
        "webapp.commands.demo",
        "Run STUDY with simulated participants, from its lists to its report.",
    ),
}
_AT = "experiment.commands.study"
_OWN_STUDY = {
    "new": Lazy(_AT, "Write a complete study folder NAME, ready to launch."),
    "check": Lazy(_AT, "List every mistake in STUDY before you launch it."),
    "show": Lazy(_AT, "Print STUDY's design, counts, cost, and an example of every trial."),
    "try-rules": Lazy(
        f"{_AT}:try_rules",
        "Count how many simulated participants STUDY's exclusion rules would exclude.",
    ),
    "preview": Lazy(
        "webapp.commands.preview", "Show one trial of each kind of STUDY in the browser."
    ),
    "texts": Lazy(
        "webapp.commands.texts",
        "Write the buttons and messages of STUDY's pages as a table, or read TABLE back.",
    ),
    "static": Lazy(
        "webapp.commands.static",
        "Write STUDY as a folder of static files, which any web host serves.",
    ),
    "privacy": Lazy(
        "webapp.commands.privacy",
        "Draft STUDY's consent annex, record of processing and data flow.",
    ),
    "freeze": Lazy("experiment.commands.study", "Freeze what STUDY plans, before anybody answers."),
    "schema": Lazy(_AT, "Write the JSON Schema of study.toml, for editors."),
}
_RUN = {
    "launch": Lazy("webapp.commands.runs", "Launch STUDY as a new run."),
    "open": Lazy("webapp.commands.runs:open_", "Reopen RUN to new participants."),
    "close": Lazy("webapp.commands.runs", "Close RUN to new participants."),
    "runs": Lazy("webapp.commands.runs", "List the runs and their progress."),
    "publish": Lazy("webapp.commands.recruitment", "Offer RUN's open places on its platform."),
    "recruitment": Lazy(
        "webapp.commands.recruitment", "Show and control the recruitment of a run."
    ),
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
    "summarise": Lazy(
        "webapp.commands.integrity",
        "Update the summaries by which researcher pages sort RUN's participants.",
    ),
    "erase": Lazy(
        "webapp.commands.privacy", "Erase the data of the participant of RUN who has CODE."
    ),
    "correct": Lazy(
        "webapp.commands.privacy:correct_",
        "Replace WHO's answer to the question FIELD by VALUE.",
    ),
    "restrict": Lazy(
        "webapp.commands.privacy:restrict_",
        "Keep WHO's data without using them, until they allow it again.",
    ),
    "forget": Lazy("webapp.commands.privacy:forget_", "Remove all data that identify WHO."),
    "stopping": Lazy(
        "webapp.commands.stopping",
        "Apply RUN's stopping rule, and close the run to new participants if the rule is met.",
    ),
    "unblind": Lazy(
        "webapp.commands.runs", "Unblind RUN, so that its results can be seen and exported."
    ),
    "export": Lazy("webapp.commands.runs", "Write all data of RUN as a folder of tables."),
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
    "statement": Lazy(
        "webapp.commands.payments",
        "State what each RUN spent and still owes, with the platform's fees.",
    ),
    "paying-copy": Lazy(
        "webapp.commands.paying_copy:group",
        "Show or move the right to pay, which one copy of an installation has.",
    ),
}
_ANALYSIS = {
    "compare": Lazy(
        "analysis.compare:command", "Compare the people of an exported run with models."
    ),
    "pool": Lazy(
        "analysis.pooled.command:command",
        "Pool the REPORTS of one study in several languages or at several sites.",
    ),
    "power": Lazy(
        "analysis.power.command", "Simulate STUDY to find how many participants it needs."
    ),
    "coding": Lazy(
        "webapp.coding_pages.command:coding", "Let people code the typed answers of an import."
    ),
    "take": Lazy(
        "analysis.takers.command",
        "Let a model take the sessions of STUDY, or those that the people of an exported run had.",
    ),
}
_ARCHIVE = {
    "write": Lazy(
        "analysis.archive.command:write_",
        "Write EXPORT in the formats of archives and benchmarks.",
    ),
    "pack": Lazy(
        "analysis.archive.command:pack_",
        "Pack EXPORT with its comparison, so that others can reproduce it.",
    ),
    "reproduce": Lazy(
        "analysis.archive.command:reproduce_",
        "Recompute the results of CAPSULE, and compare every file.",
    ),
}
_IMPORT = {
    "judgments": Lazy(
        "analysis.commands.import_judgments",
        "Read judgments from FILE, whichever program collected them.",
    ),
    "scores": Lazy("analysis.commands.import_scores", "Read models' scores from FILE."),
    "sessions": Lazy(
        "webapp.commands.static",
        "Read the session files of a static study into its run.",
    ),
    "undo": Lazy(
        "analysis.commands.import_judgments",
        "Remove the files of an import from FOLDER, and no others.",
    ),
}
_SERVER = {
    "serve": Lazy(
        "webapp.commands.serve", "Serve participants, until interrupted or in the background."
    ),
    "doctor": Lazy(
        "webapp.commands.doctor", "Check the installation, and print each fault with its remedy."
    ),
    "stop": Lazy("webapp.commands.serve", "Stop the server in the background."),
    "reload": Lazy("webapp.commands.serve", "Reload the server's settings and code."),
    "projects": Lazy("webapp.commands.projects", "Manage projects: their members and limits."),
    "users": Lazy("webapp.commands.users", "Manage the accounts for researcher pages."),
    "keys": Lazy("webapp.commands.keys", "List, rotate and drop the installation's keys."),
    "work": Lazy("webapp.commands.serve", "Run the periodic jobs, if no server runs them."),
    "settings": Lazy(
        "webapp.commands.serve", "Print every setting with its value, source, default and meaning."
    ),
    "marketplace": Lazy("marketplace.command", "Run a local stand-in for a recruiting platform."),
}
_DB = {
    "status": Lazy("webapp.commands.db", "Show the database's schema version."),
    "upgrade": Lazy(
        "webapp.commands.db:upgrade_", "Upgrade the database to the schema of this version."
    ),
    "backup": Lazy("webapp.commands.db", "Back up the whole database to FILE."),
    "fetch": Lazy("webapp.commands.db:fetch", "Copy the newest backup of the bucket into FOLDER."),
    "restore": Lazy("webapp.commands.db:restore_", "Restore the database from the backup FILE."),
    "record": Lazy(
        "webapp.commands.erasure_record:record_", "Show the record of withdrawals and erasures."
    ),
    "drill": Lazy("webapp.commands.db:drill_", "Restore FILE into a scratch database."),
    "move": Lazy(
        "webapp.commands.move:move_",
        "Move the installation from its SQLite file to the empty PostgreSQL database URL.",
    ),
    "scrub": Lazy(
        "webapp.commands.db:scrub_", "Rewrite the database's files without the erased data."
    ),
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
    "paired": Lazy(
        "analysis.commands.paired:paired_command",
        "Compare models with each other on one benchmark.",
    ),
    "export": Lazy("analysis.commands.export_scores", "Write SCORES for other programs."),
    "schema": Lazy("analysis.commands.export_scores", "Print the JSON Schema of score files."),
    "perplexity": Lazy("lm.commands.scoring", "Print the perplexity of TEXT under MODEL."),
    "surprisal": Lazy(
        "lm.commands.scoring", "Write the surprisal of every word of TEXTS under MODEL."
    ),
    "completions": Lazy(
        "analysis.commands.completions",
        "Write MODEL's log-probability of each word that people typed, and of its own words.",
    ),
    "codes": Lazy(
        "analysis.commands.codes",
        "Write the category that MODEL proposes for each different typed answer.",
    ),
    "reading-times": Lazy("analysis.commands.reading_times:join", "Join TIMES to SURPRISAL."),
    "tag": Lazy("lm.commands.tag", "Print how many words get the right supertag from MODEL."),
    "search": Lazy("lm.commands.search", "Train every model of SPEC and list their perplexities."),
    "serve": Lazy(
        "lm.commands.serve",
        "Serve MODEL on this machine as an OpenAI-compatible server does, to try `parallax take`.",
    ),
    "convert": Lazy("lm.commands.convert", "Turn a published CHECKPOINT into a model folder."),
}

_READING = {
    "import": Lazy(
        "analysis.readers.reading_times.command:import_readings",
        "Read reading times of another program or corpus from FILES.",
    ),
    "surprisal": Lazy(
        "analysis.commands.reading",
        "Write MODEL's surprisal of every word or region that participants of a study read.",
    ),
    "cloze": Lazy(
        "analysis.commands.reading:cloze",
        "Write people's surprisal of the words that participants of a study read.",
    ),
}
_MAZE = {
    "distractors": Lazy(
        "analysis.maze.command",
        "Write TABLE with a distractor for every word of its sentences, chosen by MODEL.",
    ),
    "audit": Lazy(
        "analysis.maze.command:audit_",
        "Check the properties of the distractors of TABLE, under MODEL.",
    ),
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
    renamed={
        "capsule": "parallax archive pack",
        "reproduce": "parallax archive reproduce",
    },
)
_GROUPS = (
    ("Study", "study", "Write, check, show and preview a study of your own.", _OWN_STUDY),
    ("Server", "db", "The database: its schema, its backups.", _DB),
    ("Analysis", "archive", "Publish a run, packed so that others can check it.", _ARCHIVE),
    ("Analysis", "import", "Import data that other programs collected.", _IMPORT),
    ("Study", "maze", "Make and check the distractors of a Maze.", _MAZE),
    ("Models", "reading", "Reading times: import them, and score texts word by word.", _READING),
    ("Models", "lm", "Train language models and score the materials with them.", _LM),
)
for _section, _name, _help, _commands in _GROUPS:
    _group = LazyGroup(
        name=_name,
        help=_help,
        sections={"Commands": _commands},
        was_command="parallax archive write" if _name == "archive" else "",
    )
    cli.add_command(_group, section=_section)


_OBJECTS_BETWEEN_COLLECTIONS = 50_000


def main() -> None:
    """Run the command line; an error that users can fix ends as one paragraph and an exit code."""
    # A command makes hundreds of thousands of items and rows that stay: by default, the collector
    # looks through them again and again for cycles that are not there.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # The last garbage collection at exit would take half a second after large imports.
    atexit.register(gc.freeze)
    try:
        cli()
    except (ParallaxError, LmError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(getattr(error, "exit_status", 2))


if __name__ == "__main__":
    main()
