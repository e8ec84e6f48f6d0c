"""Every route and every command, and with what each is read of a blind run or why it is not."""

from collections.abc import Iterator, Mapping

import click
from flask import Flask
from werkzeug.routing import Rule

from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.participants import SORT_LABELS

_OWN = "a person's own session or data, by a link or code that nobody else has"
_CODER = "typed answers to code, by a link that a coder alone has; without person and condition"
_FILES = "files that are the same for everybody"
_SECRET = "makes a secret, and tells nothing of a run"
_ENDS = "ends the session, or the means of signing in, of whoever reads"
# Beginnings of endpoints, with the reason; the others are read.
NOT_READ: Mapping[str, str] = {
    "GET session.": _OWN, "POST session.": _OWN, "POST answers.": _OWN, "POST admission.": _OWN,
    "GET coders.": _CODER, "POST coders.": _CODER,
    "GET rights.ask": _OWN, "POST rights.": _OWN, "POST consent.": _OWN,
    "GET assets.": _FILES, "GET researcher_files.": _FILES, "GET static": _FILES,
    "GET installation.": "what parallax doctor tells: of the server, its keys and files",
    "POST platform_hooks.": "what a platform says, signed by it",
    "POST accounts.make_password_link": _SECRET, "POST second_factor.start": _SECRET,
    "POST projects.create_invitation": _SECRET, "POST tokens.create_token": _SECRET,
    "POST second_factor.replace_recovery_codes": _SECRET, "GET elsewhere.": _SECRET,
    "POST sign_in.": _ENDS, "POST code.": _ENDS, "POST elsewhere.": _ENDS,
    "POST passwords.": _ENDS, "POST accounts.": _ENDS, "POST second_factor.": _ENDS,
}  # fmt: skip
# Of what stands behind the question mark: the names that pages look at, and what is asked.
ASKED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "participants.show_participants": {
        "sort": tuple(SORT_LABELS), "state": ("finished",), "verdict": ("kept", "excluded"),
        "search": ("a",), "tag": ("seen",), "page": ("2",),
    },
    "film.show_film": {"who": ("{who}",), "beside": ("{who}",)},
    "report_pages.read_report": {"report": ("{report}",)},
    "report_pages.download_report": {"report": ("{report}",)},
    "report_pages.read_shared_report": {"report": ("{report}&link={link}",)},
    "runs.show_runs": {"archive": ("",), "page": ("1",)},
    "money.show_payments": {"who": ("{who}",), "act": ("approve",)},
    "links.show_links": {"qr": ("",)},
}  # fmt: skip
# What stands there and names a study or a part of it, a way back or a secret.
ABOUT_NO_RUN = frozenset(
    {"study", "text", "saved", "next", "code", "token", "project", "number", "kind"}
)
# Commands without a run, which are read too.
READ_COMMANDS = (
    ("runs",), ("settings",), ("keys", "list"), ("users", "list"), ("users", "tokens", "reader"),
    ("projects", "list"), ("projects", "members", "lab"), ("projects", "limits", "lab"),
    ("db", "status"),
)  # fmt: skip
# What is asked for by a form, and confirmed where the page asks for it: of everybody's money, and
# of one person's.
FORMS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "money.preview_payments": (
        {"act": "approve"}, {"act": "bonus_rule"}, {"act": "approve_one", "who": "{who}"},
        {"act": "reject", "who": "{who}", "category": "LOW_EFFORT", "reason": "nothing came " * 9},
        {"act": "bonus", "who": "{who}", "amount": "0.01", "reason": "You were quick."},
    ),
}  # fmt: skip
# What a command needs besides the run.
MORE: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("recruitment", "ask-return"): ("a1", "--reason", "nothing came"),
    ("recruitment", "demographics"): ("--out", "demographics.csv"),
    ("recruitment", "extend"): ("--hours", "1"),
    ("recruitment", "parts"): ("0123456789ab",),
    ("recruitment", "write"): ("--to", "finished", "--text", "Thank you."),
    ("links", "revoke"): ("nobody",),
    ("links", "verify"): ("0123456789abcdef",),
    ("approve",): ("--yes",),
    ("bonus",): ("--yes",),
    ("reject",): ("{who}", "--category", "LOW_EFFORT", "--reason", "nothing came " * 9, "--yes"),
    ("compensate",): ("nobody", "--amount", "1", "--reason", "nothing came"),
    ("settle",): ("1", "--paid"),
}
_CHANGES = "changes or ends what is read, or unblinds it on purpose"
_BEFORE = "of a study before a run, or of models"
_GIVEN = "of files that somebody has already"
_OPERATES = "tells of the server, its keys and files, or changes who may sign in"
NOT_GIVEN: Mapping[str, str] = {
    **dict.fromkeys(
        ("unblind", "open", "close", "launch", "erase", "forget", "correct", "restrict",
         "simulate", "serve", "work", "demo", "stop", "reload", "marketplace"), _CHANGES
    ),
    **dict.fromkeys(
        ("materials", "treebank", "lists", "study", "maze", "reading", "lm", "power", "take",
         "natives"),
        _BEFORE,
    ),
    "links make": _SECRET,
    **dict.fromkeys(
        ("compare", "pool", "archive", "import", "coding page", "coding freeze"), _GIVEN
    ),
    **dict.fromkeys(("projects", "users", "keys", "db", "doctor", "paying-copy"), _OPERATES),
}  # fmt: skip


def routes(app: Flask) -> Iterator[tuple[str, Rule]]:
    """Yield every route with its method, those that only show first."""
    rules = sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule)
    for method in ("GET", "POST"):
        yield from ((method, rule) for rule in rules if method in (rule.methods or ()))


def why_not(method: str, rule: Rule) -> str | None:
    """Return why a route is not read; None where it is."""
    asked = f"{method} {rule.endpoint}"
    return next((why for name, why in NOT_READ.items() if asked.startswith(name)), None)


def is_researcher_path(rule: Rule) -> bool:
    """Return whether somebody must have signed in."""
    return rule.rule.startswith(RESEARCHER_PATH)


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield every command, and whether it takes a run."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                yield from commands(found, (*path, name))
    else:
        taken = [each.name for each in command.params if isinstance(each, click.Argument)]
        yield path, taken[:1] in (["run"], ["runs"])
