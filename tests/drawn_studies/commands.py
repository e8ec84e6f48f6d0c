"""Run randomly generated studies through every command, and check the commands' output.

``python -m tests.drawn_studies.commands --studies 10`` generates studies (``drawn.py``) with
response types, within and between factors, frames, fillers, catch trials, custom columns, rules
and a margin. Each study is created from its table, checked, shown, audited, planned (power),
launched, taken by simulated participants, excluded, exported, compared with a small model, and
archived. Every line of output and every report is then checked for errors: a crash, a refusal,
invalid numbers, a negative zero, features that the study does not have, contradictory counts.
``--examples`` uses the studies of docs/examples and the founding studies instead.
"""

import html
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from tests.drawn_studies.drawn import Drawn, drawn
from tests.drawn_studies.examples import FOLDERS, FOUNDING, Example, example
from tests.drawn_studies.workshop import Said, Workshop, workshop

_NO_NUMBER = re.compile(r"(?<![\w-])[+-]?(?:nan|inf)(?![\w-])", re.IGNORECASE)
_MINUS_ZERO = re.compile(r"(?<![\w.])[-\N{MINUS SIGN}]0?\.0+(?!\d)")
_NO_SPACE = re.compile(r"[a-z]{3}\.(?:[A-Z][a-z]+ |\d+ [a-z]+ )")
_ABOUT = """\
[publication]
description = "A study drawn by seed."
license = "CC-BY-4.0"
date_published = "2026-01-01"

[[publication.contributors]]
given_name = "No"
family_name = "Body"
"""


def taken_through(one: Drawn | Example, work: Workshop) -> None:
    """Take a study from its table, or an example from its folder, through every command."""
    if isinstance(one, Example):
        if one.folder is not None:
            shutil.copytree(one.folder, one.name)
    else:
        _made(one, work)
    for words in (["study", "check"], ["study", "show"]):
        work(*words, one.name)
    work("lists", "build", one.name, "--seed", 1, "--out", f"{one.name}-lists")
    if one.planned is not None:
        work("power", one.name, "--simulations", 2, "--per-list", "4", *one.planned)
    work.taken(one.name, 1)
    export, out = f"{one.name}-export", f"{one.name}-report"
    Path("lm.txt").write_text(("The old baker near the bell sees it.\n" * 20), encoding="utf-8")
    work("lm", "train", "--type", "unigram", "--text", "lm.txt", "--out", "model")
    work("lm", "score", "model", one.name, "--out", f"{one.name}.parquet")
    if one.has_pairs:
        work("lm", "accuracy", one.name, f"{one.name}.parquet")
    work("compare", "--run", export, "--scores", f"{one.name}.parquet", "--out", out,
         "--resamples", 100)  # fmt: skip
    Path("about.toml").write_text(_ABOUT, encoding="utf-8")
    work("archive", "write", export, "--about", "about.toml", "--out", f"{one.name}-archive")


def _made(one: Drawn, work: Workshop) -> None:
    Path(f"{one.name}.csv").write_text(one.table(), encoding="utf-8")
    work("study", "new", one.name, "--from", f"{one.name}.csv", *one.options())
    toml = Path(one.name) / "study.toml"
    toml.write_text(one.edited(toml.read_text(encoding="utf-8")), encoding="utf-8")


def faults(one: Drawn | Example, work: Workshop) -> Iterator[str]:
    """Yield what must not be in what the commands printed, or in the reports."""
    for said in work.said:
        words = " ".join(said.command[:2])
        if said.crash:
            yield f"{words} crashed: {said.crash}"
        elif said.code:
            yield f"{words} refused: {said.text.strip().splitlines()[-1]}"
        yield from (f"{words}: {fault}" for fault in _in_text(said.text))
    for page in Path(f"{one.name}-report").rglob("report.html"):
        text = html.unescape(re.sub(r"<(script|style|svg)\b.*?</\1>|<[^>]+>", " ",
                                    page.read_text(encoding="utf-8"), flags=re.DOTALL))  # fmt: skip
        yield from (f"{page}: {fault}" for fault in _in_text(text))
        yield from (f"{page}: {fault}" for fault in _absent(one, text))
        if found := _NO_SPACE.search(text):
            yield f"{page}: no space between sentences: {found[0]!r}"
    yield from _contradicted(work.said)


def _in_text(text: str) -> Iterator[str]:
    for pattern, words in ((_NO_NUMBER, "no number"), (_MINUS_ZERO, "a zero with a minus sign")):
        if found := pattern.search(text):
            yield f"{words}: {text[max(0, found.start() - 50) : found.end() + 30]!r}"
    if "Traceback" in text:
        yield "a traceback"


def _absent(one: Drawn | Example, text: str) -> Iterator[str]:
    """Yield what a report speaks of although the study does not have it."""
    rated = one.response in ("rating", "scales", "read_then_rate")
    for word, has in (
        ("catch trial", one.catch > 0), ("Fillers", one.fillers > 0),
        ("wording", one.between),
        ("accuracy of people", not rated),
    ):  # fmt: skip
        if not has and (place := text.find(word)) >= 0:
            yield f"it has no such thing: {text[max(0, place - 60) : place + 60]!r}"


def _contradicted(said: list[Said]) -> Iterator[str]:
    by_command = {one.command[0]: one.text for one in said}
    judged = re.search(r"in all (\d+) kept", by_command.get("exclude", ""))
    told = re.search(r"judgments of (\d+) participants|answers of (\d+) participants",
                     by_command.get("compare", ""))  # fmt: skip
    if judged and told and judged[1] not in told.groups():
        yield f"exclude kept {judged[1]} and the report has {told[0]!r}"


@click.command()
@click.option("--studies", default=10, show_default=True)
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep what was printed here.")
@click.option("--examples", is_flag=True, help="The examples and the founding studies instead.")
@click.option("--only", default="", help="Only the study of this name.")
def main(studies: int, first: int, keep: Path | None, examples: bool, only: str) -> None:
    """Print how many commands ran, and what was found in what they printed."""
    n_commands = n_faults = 0
    everything = [*FOLDERS, *FOUNDING] if examples else range(first, first + studies)
    made: Iterator[Drawn | Example] = map(example if examples else drawn, everything)  # type: ignore[arg-type]
    every = [one for one in made if only in ("", one.name)]
    for one in every:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, workshop(Path(folder)) as work:
            taken_through(one, work)
            found = list(dict.fromkeys(faults(one, work)))
            if keep:
                keep.mkdir(exist_ok=True, parents=True)
                printed = (
                    f"$ parallax {' '.join(each.command)}\n{each.text}" for each in work.said
                )
                (keep / f"{one.name}.txt").write_text("\n".join(printed), encoding="utf-8")
                for page in Path(f"{one.name}-report").rglob("report.html"):
                    (keep / f"{one.name}-{page.parent.name}.html").write_bytes(page.read_bytes())
        n_commands, n_faults = n_commands + len(work.said), n_faults + len(found)
        click.echo(f"{one.name} | {one.response} | {' x '.join(one.factors)} | "
                   f"{len(work.said)} commands | {len(found)} faults | "
                   f"{time.monotonic() - began:.0f} s")  # fmt: skip
        for fault in found:
            click.echo(f"  {fault}")
    click.echo(f"{len(every)} studies, {n_commands} commands, {n_faults} faults")


if __name__ == "__main__":
    main()
