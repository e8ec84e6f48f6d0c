"""``parallax import scores``: convert other programs' model scores to score files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from analysis.commands.import_judgments import (
    ITEM_TABLE,
    REPLACE,
    SCORE_FILE,
    write_published_scores,
)
from analysis.data.load import ScoreFacts
from analysis.errors import AnalysisError
from analysis.readers.colorless_green import read_colorless_green
from analysis.readers.import_manifest import refuse_replacing, write_import_record
from analysis.readers.lm_eval_samples import is_samples, read_samples
from analysis.readers.matched_scores import Matched, match_scores, texts_of, write_scores
from analysis.readers.score_tables import UNITS, Scored, read_score_table, read_scores
from analysis.readers.sources import read_source
from analysis.scores.scoring_inputs import Materials, find_materials
from experiment.errors import ParallaxError
from experiment.materials.formats.files import open_materials
from experiment.materials.formats.published.gulordava import is_gulordava
from experiment.materials.formats.published.lm_eval import AFTER_SPACE
from experiment.materials.read import item_table, materials_hash
from experiment.records import Item
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import write_table
from experiment.version import code_version

_PATH = click.Path(path_type=Path)
_UNKNOWN_TEXT = "a text that the file does not name"
_PUBLISHED = "as published"


@dataclass(frozen=True, slots=True)
class _Read:
    """A file of scores with its items, and the facts about them that score files store."""

    scored: Sequence[Scored]
    items: Sequence[Item]
    notes: Sequence[str]
    about: Mapping[str, str]
    own_items: bool
    model: str = ""
    rendering: str = ""


@click.command()
@click.argument("file", type=_PATH)
@click.option("--items", help="The study, or the file of items, whose texts were scored.")
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
@click.option("--model", help="What the model is called.  [default: as in the file]")
@click.option("--trained-on", default=_UNKNOWN_TEXT, help="The text the model was trained on.")
@click.option(
    "--unit",
    type=click.Choice(list(UNITS)),
    default="nats",
    show_default=True,
    help="The unit of scores whose header does not name one.",
)
@click.option(
    "--column",
    "named",
    multiple=True,
    metavar="OURS=HEADER",
    help="The header in FILE of one of our columns, if it is not recognised. Repeatable.",
)
@REPLACE
def scores(
    file: Path,
    items: str | None,
    out: Path,
    model: str | None,
    trained_on: str,
    unit: str,
    named: tuple[str, ...],
    replace: bool,
) -> None:
    """Read models' scores from FILE.

    FILE is what lm_eval --log_samples writes (.jsonl), what minicons or neural-complexity print of
    tokens, any table with a score for each text or each version, or a published table of Gulordava
    et al. (2018). A score file is written for each model.
    """
    own, earlier = refuse_replacing(out, replace=replace)
    if earlier:
        click.echo(earlier)
    if is_gulordava(file):
        published = read_colorless_green(read_source(file).table, file)
        with atomic_folder(out, own) as folder:
            write_published_scores(published, folder)
            write_import_record(folder, file, {"format": "Gulordava et al. (2018)"})
        _say(out)
        return
    found = _read(file, items, unit, dict(_column(pair) for pair in named))
    for sentence in found.notes:
        click.echo(sentence)
    name = model or found.model or file.stem
    matched = match_scores(found.scored, found.items, name, file)
    with atomic_folder(out, own) as folder:
        if found.own_items:
            schema, rows = item_table(found.items)
            write_table(schema, rows, folder / ITEM_TABLE)
        for one in matched:
            _write(one, found, trained_on, folder)
        write_import_record(folder, file, _account(found, matched))
    _say(out)


def _account(found: _Read, matched: Sequence[Matched]) -> dict[str, object]:
    """Return what happened to the file's scores, as stored next to them."""
    versions = sum(len(texts_of(item)) for item in found.items)
    return {
        "format": "scores",
        "rows": len(found.scored),
        "items": len(found.items),
        "notes": list(found.notes),
        "models": {
            one.model: {
                "versions_scored": len(one.scores),
                "versions_without_score": versions - len(one.scores),
                "left_out": list(one.notes),
            }
            for one in matched
        },
    }


def _column(pair: str) -> tuple[str, str]:
    ours, sign, header = pair.partition("=")
    if not sign:
        raise AnalysisError(
            f'"{pair}" does not name a column and a header', expected="--column logprob=HEADER"
        )
    return ours, header


def _read(file: Path, named_items: str | None, unit: str, named: dict[str, str]) -> _Read:
    given = find_materials(named_items) if named_items else None
    if is_samples(file):
        return _read_samples(file, given)
    scored, notes = read_score_table(read_scores(file), unit, named)
    if given is not None:
        return _Read(scored, list(given.items()), notes, _about(given), own_items=False)
    try:
        items = list(open_materials(file).items())
    except ParallaxError as error:
        raise AnalysisError(
            "the file of scores does not contain the items",
            where=str(file),
            remedy="Name the study or the file of items with --items",
        ) from error
    return _Read(scored, items, notes, {"materials_hash": materials_hash(items)}, own_items=True)


def _read_samples(file: Path, given: Materials | None) -> _Read:
    samples = read_samples(file)
    notes = ["Read as samples of lm-evaluation-harness."]
    shared = {"model": samples.model, "rendering": AFTER_SPACE if samples.after_space else ""}
    if given is None:
        about = {"materials_hash": materials_hash(samples.items)}
        return _Read(samples.scored, samples.items, notes, about, own_items=True, **shared)
    # The items are identified only by their texts.
    scored = [replace(one, item_id="", variant="") for one in samples.scored]
    return _Read(scored, list(given.items()), notes, _about(given), own_items=False, **shared)


def _about(given: Materials) -> dict[str, str]:
    return {
        "study": given.study, "study_version": given.version, "materials_hash": given.hash,
    }  # fmt: skip


def _write(matched: Matched, found: _Read, trained_on: str, folder: Path) -> None:
    for sentence in matched.notes:
        click.echo(f"{matched.model}: {sentence}")
    facts = ScoreFacts(
        model=matched.model,
        trained_on=trained_on,
        model_hash="",
        rendering=found.rendering or matched.rendering or _PUBLISHED,
        code_version=code_version(),
        **{"study": "", "study_version": "", **found.about},
    )
    name = SCORE_FILE.format(re.sub(r"[^\w.-]", "_", matched.model))
    write_scores(matched, found.items, facts, folder / name)


def _say(out: Path) -> None:
    files = sorted(path.name for path in out.iterdir())
    click.echo(f"{out}: {', '.join(files)}")
