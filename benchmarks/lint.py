"""Whether the lint of materials sees mistakes, and whether it cries where there are none.

``python -m benchmarks.lint`` plants 200 mistakes by seed, in turn of each kind of
``lint_mistakes/taxonomy.tsv``, into tables of six kinds without a mistake, and makes a study of
each table as ``parallax study new`` does. A mistake is seen if a message says what it is, and names
a row that it is in. Half of the kinds were planted for the first time when the lints were finished.
Then it reads tables without a mistake, the examples and the founding studies: each message is a
false alarm, unless its words are listed here with what makes them true.
"""

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.lint_mistakes import held_half, open_half
from benchmarks.lint_mistakes.planting import Mistake
from benchmarks.lint_mistakes.tables import PARADIGMS, TABLES, Table, blimp, suites
from experiment.authoring.check import check_folder
from experiment.authoring.new import new_study
from experiment.errors import ParallaxError, StudyNote

MISTAKES: Mapping[str, Mistake] = {**open_half.MISTAKES, **held_half.MISTAKES}
_SEED = 7
# Of the built-in Italian study, which a treebank made: nonce sentences of several frames agree.
_TRUE = {"gulordava_2018_italian": "shows the same texts as the item"}
_EXAMPLES = Path("docs/examples")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One planted mistake.

    Attributes:
        mistake: Its kind.
        table: What it was planted into.
        seen: Whether a message names it, and its place.
        said: All messages.
    """

    mistake: str
    table: str
    seen: bool
    said: tuple[str, ...]


def outcomes(number: int, mistakes: Mapping[str, Mistake] = MISTAKES) -> Iterator[Outcome]:
    """Yield what became of so many planted mistakes, each kind in turn."""
    names = list(mistakes)
    for turn in range(number):
        yield _planted(names[turn % len(names)], mistakes, turn)


def _planted(name: str, mistakes: Mapping[str, Mistake], turn: int) -> Outcome:
    for attempt in range(1000):
        rng = random.Random(f"{_SEED} {turn} {attempt}")
        table = rng.choice(TABLES)(rng)
        planted = mistakes[name](table, rng)
        if planted is None:
            continue
        said = messages(table)
        places = [re.escape(table.place(row)) for row in planted.rows]
        seen = any(
            re.search(planted.says, one)
            and (not places or re.search(rf"(?:{'|'.join(places)})(?!\\d)", one))
            for one in said
        )
        return Outcome(name, table.name, seen, tuple(said))
    raise ValueError(f"no table can be spoilt so: {name}")


def messages(table: Table) -> list[str]:
    """Return all that making a study of a table says beside what it always says."""
    with tempfile.TemporaryDirectory() as folder:
        path = table.write(Path(folder))
        return of_file(path, Path(folder) / "made", table.language, table.options)


def of_file(
    path: Path, folder: Path, language: str = "en", named: Mapping[str, str] | None = None
) -> list[str]:
    """Return all that making a study of a file says beside what it always says."""
    try:
        made = new_study(folder, path, language=language, named=named or {})
    except ParallaxError as error:
        return [str(error)]
    assert made is not None
    kept = [note for note in made.found.notes if note.startswith("Hidden")]
    again = [str(note) for note in check_folder(str(folder), 1).notes]
    told = [str(note) for note in made.odd if isinstance(note, StudyNote)]
    if bool(told) > bool(again):
        raise AssertionError(f"study check forgets what study new said: {told}")
    return [*kept, *told, *again]


def false_alarms(tables: int) -> Iterator[tuple[str, list[str]]]:
    """Yield each table or study without a mistake, and what is said of it all the same."""
    for number in range(tables):
        for make in TABLES:
            rng = random.Random(f"clean {number}")
            table = make(rng)
            yield table.name, messages(table)
        for paradigm in PARADIGMS:
            yield paradigm, messages(blimp(random.Random(f"clean {number}"), paradigm))
        for suite in suites(random.Random(f"clean {number}")):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "suite.json"
                path.write_text(json.dumps(suite), encoding="utf-8")
                yield str(suite["meta"]), of_file(path, Path(folder) / "made")
    studies = [str(path.parent) for path in sorted(_EXAMPLES.glob("*/study.toml"))]
    for study in (*studies, "minimal", "gulordava_2018_italian", "marvin_linzen_2018"):
        said = [str(note) for note in check_folder(study, 1).notes]
        true = _TRUE.get(study)
        yield study, [one for one in said if not (true and true in one)]


@click.command()
@click.option("--mistakes", default=200, show_default=True)
@click.option("--tables", default=10, show_default=True)
@click.option("--missed", is_flag=True, help="Print what was said where a mistake was missed.")
def main(mistakes: int, tables: int, missed: bool) -> None:
    """Print how many of the planted mistakes are seen, and all false alarms."""
    found = list(outcomes(mistakes))
    seen, planted = Counter[str](), Counter[str]()
    for one in found:
        planted[one.mistake] += 1
        seen[one.mistake] += one.seen
        if missed and not one.seen:
            click.echo(f"MISSED {one.mistake} in {one.table}: {one.said}")
    for half, names in (("open", open_half.MISTAKES), ("held out", held_half.MISTAKES)):
        for name in names:
            click.echo(f"{half} | {name} | {seen[name]} of {planted[name]}")
        click.echo(f"{half} | all | {sum(map(seen.get, names))} of {sum(map(planted.get, names))}")  # type: ignore[arg-type]
    click.echo(f"all | {seen.total()} of {planted.total()}")
    clean = list(false_alarms(tables))
    alarms = [(name, said) for name, said in clean if said]
    click.echo(f"without a mistake: {len(clean)} tables and studies, {len(alarms)} false alarms")
    for name, said in alarms:
        click.echo(f"FALSE ALARM {name}: {said}")
    if seen.total() < 0.95 * planted.total() or alarms:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
