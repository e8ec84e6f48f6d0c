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
from analysis.data.facts import ScoreFacts
from analysis.errors import AnalysisError
from analysis.readers.babylm_predictions import refuse_predictions
from analysis.readers.colorless_green import read_colorless_green
from analysis.readers.import_manifest import refuse_replacing, write_import_record
from analysis.readers.lm_eval_samples import is_samples, read_samples
from analysis.readers.matched_scores import Matched, match_scores, texts_of, write_scores
from analysis.readers.score_tables import UNITS, ScoredText, read_score_table, read_scores
from analysis.readers.sources import read_source
from analysis.scores.scoring_inputs import Materials, find_materials
from experiment.commands.headers import COLUMNS, SHEET
from experiment.errors import ParallaxError
from experiment.materials.formats.files import open_materials
from experiment.materials.formats.published.gulordava import is_gulordava
from experiment.materials.formats.published.lm_eval import AFTER_SPACE
from experiment.materials.item_rows import item_table
from experiment.materials.read import materials_hash
from experiment.records import Item
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import write_table
from experiment.version import code_version

_PATH = click.Path(path_type=Path)
_UNKNOWN_TEXT = "a text that the file does not name"
_PUBLISHED = "as published"


@dataclass(frozen=True, slots=True)
class _ScoreSource:
    """A file of scores with its items, and the facts about them that score files store."""

    scored: Sequence[ScoredText]
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
    "column_pairs",
    multiple=True,
    metavar="OURS=HEADER",
    help="The header in FILE of one of our columns, if it is not recognised. Repeatable.",
)
@COLUMNS
@SHEET
@REPLACE
def scores(
    file: Path,
    items: str | None,
    out: Path,
    model: str | None,
    trained_on: str,
    unit: str,
    column_pairs: tuple[str, ...],
    headers: list[str],
    sheet: str,
    replace: bool,
) -> None:
    """Read models' scores from FILE.

    FILE is what lm_eval --log_samples writes (.jsonl), what minicons or neural-complexity print for
    tokens, any table with a score for each text or each version, or a published table of Gulordava
    et al. (2018). A score file is written for each model.
    """
    replaceable, earlier_import = refuse_replacing(out, replace=replace)
    if earlier_import:
        click.echo(earlier_import)
    if not (headers or sheet) and is_gulordava(file):
        published = read_colorless_green(read_source(file).table, file)
        with atomic_folder(out, replaceable) as folder:
            write_published_scores(published, folder)
            write_import_record(folder, file, {"format": "Gulordava et al. (2018)"})
        _report_files(out)
        return
    score_source = _read_score_source(
        file, items, unit, dict(_parse_column_pair(pair) for pair in column_pairs), headers, sheet
    )
    for sentence in score_source.notes:
        click.echo(sentence)
    name = model or score_source.model or file.stem
    matched = match_scores(score_source.scored, score_source.items, name, file)
    with atomic_folder(out, replaceable) as folder:
        if score_source.own_items:
            schema, rows = item_table(score_source.items)
            write_table(schema, rows, folder / ITEM_TABLE)
        for model_scores in matched:
            _write_model_scores(model_scores, score_source, trained_on, folder)
        write_import_record(folder, file, _account_for_scores(score_source, matched))
    _report_files(out)


def _account_for_scores(
    score_source: _ScoreSource, matched: Sequence[Matched]
) -> dict[str, object]:
    """Return what happened to the file's scores, as stored next to them."""
    versions = sum(len(texts_of(item)) for item in score_source.items)
    return {
        "format": "scores",
        "rows": len(score_source.scored),
        "items": len(score_source.items),
        "notes": list(score_source.notes),
        "models": {
            model_scores.model: {
                "versions_scored": len(model_scores.scores),
                "versions_without_score": versions - len(model_scores.scores),
                "left_out": list(model_scores.notes),
            }
            for model_scores in matched
        },
    }


def _parse_column_pair(pair: str) -> tuple[str, str]:
    column, sign, header = pair.partition("=")
    if not sign:
        raise AnalysisError(
            f'"{pair}" does not name a column and a header', expected="--column logprob=HEADER"
        )
    return column, header


def _read_score_source(
    file: Path,
    named_items: str | None,
    unit: str,
    chosen: dict[str, str],
    headers: Sequence[str],
    sheet: str,
) -> _ScoreSource:
    materials = find_materials(named_items) if named_items else None
    refuse_predictions(file)
    if is_samples(file):
        return _read_samples(file, materials)
    scored, notes = read_score_table(read_scores(file, headers, sheet), unit, chosen)
    if materials is not None:
        return _ScoreSource(
            scored, list(materials.items()), notes, _describe_materials(materials), own_items=False
        )
    try:
        items = list(open_materials(file).items())
    except ParallaxError as error:
        raise _missing_items_error(file) from error
    if not any(item.bad for item in items):
        # Texts that were scored may be single sentences, or the versions of pairs.
        raise _missing_items_error(file)
    return _ScoreSource(
        scored, items, notes, {"materials_hash": materials_hash(items)}, own_items=True
    )


def _missing_items_error(file: Path) -> AnalysisError:
    return AnalysisError(
        "the file of scores does not contain the items' texts",
        where=str(file),
        expected="both versions of each item in the same file, or the items",
        remedy="Name the study or the file of items with --items; for single sentences, name this "
        "file again",
    )


def _read_samples(file: Path, materials: Materials | None) -> _ScoreSource:
    samples = read_samples(file)
    notes = ["Read as samples of lm-evaluation-harness."]
    shared = {"model": samples.model, "rendering": AFTER_SPACE if samples.after_space else ""}
    if materials is None:
        about = {"materials_hash": materials_hash(samples.items)}
        return _ScoreSource(samples.scored, samples.items, notes, about, own_items=True, **shared)
    # The items are identified only by their texts.
    scored = [replace(score, item_id="", variant="") for score in samples.scored]
    return _ScoreSource(
        scored,
        list(materials.items()),
        notes,
        _describe_materials(materials),
        own_items=False,
        **shared,
    )


def _describe_materials(materials: Materials) -> dict[str, str]:
    return {
        "study": materials.study,
        "study_version": materials.version,
        "materials_hash": materials.hash,
    }


def _write_model_scores(
    matched: Matched, score_source: _ScoreSource, trained_on: str, folder: Path
) -> None:
    for sentence in matched.notes:
        click.echo(f"{matched.model}: {sentence}")
    facts = ScoreFacts(
        model=matched.model,
        trained_on=trained_on,
        model_hash="",
        rendering=score_source.rendering or matched.rendering or _PUBLISHED,
        code_version=code_version(),
        **{"study": "", "study_version": "", **score_source.about},
    )
    name = SCORE_FILE.format(re.sub(r"[^\w.-]", "_", matched.model))
    write_scores(matched, score_source.items, facts, folder / name)


def _report_files(out: Path) -> None:
    files = sorted(path.name for path in out.iterdir())
    click.echo(f"{out}: {', '.join(files)}")
