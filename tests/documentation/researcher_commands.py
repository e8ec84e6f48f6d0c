"""Every command and its researcher page, or why it has none.

``python -m tests.documentation.researcher_commands`` writes the table into docs/researcher.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

import parallax

PAGE = Path(__file__).parents[2] / "docs" / "researcher.md"
BEGIN, END = "<!-- commands and pages -->\n", "<!-- /commands and pages -->"

_SHELL = "none: it needs the server's shell"
_MODELS = "none: models are trained where they compute; the pages score with installed ones"
_FIELD = "none: it prepares materials on one's own computer; the pages take the table that results"
_ARCHIVE = "none: it works on the folder that *Export* sends, on whose computer it is"
_IMPORT = "none: what comes from elsewhere is read on the server, where its files lie"
_PLATFORM = "none: it sets the platform up, once; *Recruitment* has what is done daily"
# The page of each command; one that ends in * stands for all that begin so.
PAGES = {
    "study new": "*Studies*, From a table",
    "study check": "*Studies*, the editor; *Launch a study*",
    "study show": "*Studies*, the editor; *Launch a study*",
    "study try-rules": "*Studies*, Exclusion rules",
    "study preview": "a run's *Overview*, Its pages; the editor, Try what is saved",
    "study texts": "none: a native speaker fills in the table elsewhere",
    "study static": "none: it writes a folder for another web host, with a copy of the program",
    "study privacy": "none: a draft for the ethics committee, which is edited outside",
    "study freeze": "none: its file is committed beside the study, which lies elsewhere",
    "study schema": "none: it is for editors on one's own computer",
    "lists *": "*Launch a study* builds and audits the lists",
    "materials *": _FIELD,
    "treebank *": _FIELD,
    "maze *": _FIELD,
    "demo": "none: it is for a first try on one's own computer",
    "launch": "*Launch a study*",
    "open": "a run's *Overview*",
    "close": "a run's *Overview*",
    "runs": "*Runs*",
    "publish": "*Recruitment*",
    "recruitment status": "*Recruitment*",
    "recruitment pause": "*Recruitment*",
    "recruitment extend": "*Recruitment*",
    "recruitment write": "*Recruitment*",
    "recruitment poll": "none: a periodic job does it",
    "recruitment *": _PLATFORM,
    "links resume": "none: whoever holds such a link answers as that participant",
    "links *": "a run's *Overview*, Links and codes",
    "simulate": "*Reports* of a simulated run, Programs take part",
    "exclude": "a run's *Overview*",
    "integrity": "*Participants*, sorted by flags",
    "summarise": "none: a periodic job does it",
    "stopping": "none: a periodic job does it",
    "correct": "a participant's page",
    "restrict": "a participant's page",
    "erase": "none: the participant does it with their code; a mistake cannot be taken back",
    "forget": "none: it cannot be taken back, so it is asked for on the server",
    "unblind": "a run's *Overview*",
    "export": "a run's *Overview*",
    "review": "*Money*",
    "approve": "*Money*",
    "reject": "*Money*",
    "bonus": "*Money*",
    "compensate": "*Money*",
    "settle": "*Money*, Not done yet",
    "reconcile": "*Money*",
    "statement": "none: a paper over all runs and funders; *Money* states one run and its people",
    "lm score": "*Reports*, with the models in the instance's `models`",
    "lm *": _MODELS,
    "reading *": _MODELS,
    "take": _MODELS,
    "power": "*Studies*, Power",
    "compare": "*Reports*",
    "coding propose": "none: a model's codes are a table on the server's terminal",
    "coding *": "none: a run's answers are coded on its *Coding* page",
    "natives *": "none: natives check sentences before a study exists on the server",
    "pool": "none: it puts together reports of several installations",
    "archive *": _ARCHIVE,
    "import *": _IMPORT,
    "doctor": "*Installation*",
    "projects add": "*Projects*",
    "projects list": "*Projects*",
    "projects *": "a project's page",
    "users list": "*Accounts*",
    "users owner-link": "none: it is for the server's terminal, before anybody has an account",
    "users password-link": "*Accounts*",
    "users sign-out": "*Accounts*",
    "users drop-factor": "*Accounts*",
    "users password": "*Sessions*, for one's own",
    "users tokens": "*Tokens*, for one's own",
    "users revoke-token": "*Tokens*, for one's own",
    "users add": "*Accounts*",
    "users role": "*Accounts*",
    "users disable": "*Accounts*",
    "users enable": "*Accounts*",
    "serve": _SHELL,
    "stop": _SHELL,
    "reload": _SHELL,
    "work": _SHELL,
    "keys *": _SHELL,
    "paying-copy *": _SHELL,
    "settings": "*Installation*, Settings",
    "marketplace": "none: it is for a first try on one's own computer",
    "db backup": "*Installation*, Backups",
    "db *": _SHELL,
}


def commands(command: click.Command = parallax.cli, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the name of every command, without its options."""
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from commands(found, (*path, name))


def page_of(command: str) -> str:
    """Return a command's page, or why it has none.

    Raises:
        KeyError: The table above says nothing of it.
    """
    return PAGES[command if command in PAGES else f"{command.split()[0]} *"]


def table() -> str:
    """Return the table of commands that have a page; neighbours with the same page share a row."""
    rows: list[tuple[str, list[str]]] = []
    for command in commands():
        page = page_of(command)
        if page.startswith("none"):
            continue
        if rows and rows[-1][0] == page:
            rows[-1][1].append(command)
        else:
            rows.append((page, [command]))
    lines = ["| Command | Page |", "|---|---|"]
    for page, names in rows:
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {page} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    block = f"{BEGIN}\n{table()}\n{END}"
    text = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: block, text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
