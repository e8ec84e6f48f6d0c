"""``parallax lm score``."""

import hashlib
from pathlib import Path

import click
from tqdm import tqdm

from analysis.errors import AnalysisError
from analysis.load import ScoreFacts, score_facts
from analysis.score_materials import blocks, score_blocks, score_table, sentences, write_scores
from experiment.errors import ParallaxError
from experiment.materials.identity import materials_hash
from experiment.materials.read import load_items, read_items
from experiment.materials.render import render
from experiment.records import Item
from experiment.studies.load import load_study
from experiment.tables import FORMATS
from experiment.version import code_version
from lm.registry import load_scorer

WORD_TOKENS = "lower_case_tokens"
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model", type=_PATH)
@click.argument("materials", metavar="STUDY_OR_ITEMS")
@click.option("--out", required=True, type=_PATH, help="The score file to write (.parquet).")
@click.option("--rendering", help="How items are given to the model.  [default: the study's]")
def score(model: Path, materials: str, out: Path, rendering: str | None) -> None:
    """Score every version of every item with the MODEL in a folder.

    STUDY_OR_ITEMS is a built-in study, a study folder, or a file of items (.tsv, .csv, .parquet).
    A file that already holds this model's scores of these items is left as it is.
    """
    if out.suffix != ".parquet":
        raise AnalysisError(
            "scores are kept in Parquet alone", where=str(out), expected="a name ending in .parquet"
        )
    items, study, version, rendering = _materials(materials, rendering)
    facts = ScoreFacts(
        model="",
        trained_on="",
        model_hash=_folder_hash(model),
        rendering=rendering,
        study=study,
        study_version=version,
        materials_hash=materials_hash(items),
        code_version=code_version(),
    )
    if _holds(out, facts):
        click.echo(f"{out}: already holds these scores")
        return
    scorer = load_scorer(model)
    wanted = sentences(items, render(rendering))
    portions = tqdm(blocks(wanted.distinct), desc="Scoring", unit=" blocks", disable=None)
    table = score_table(wanted, score_blocks(scorer, portions))
    named = {"model": scorer.name, "trained_on": scorer.trained_on}
    write_scores(table, facts.model_copy(update=named), out)
    click.echo(
        f"{out}: {table.num_rows:,} sentences of {len(items):,} items scored by {scorer.name}, "
        f"trained on {scorer.trained_on}"
    )


def _materials(named: str, rendering: str | None) -> tuple[list[Item], str, str, str]:
    """Return the items, the study and its version (empty for a file) and the rendering."""
    if named.endswith(FORMATS):
        items = tqdm(read_items(Path(named)), desc="Reading", unit=" items", disable=None)
        return list(items), "", "", rendering or WORD_TOKENS
    study = load_study(named)
    items = tqdm(load_items(study), desc="Generating", unit=" items", disable=None)
    chosen = rendering or study.materials.given_to_models
    return list(items), study.name, study.study.version, chosen


def _folder_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _holds(out: Path, wanted: ScoreFacts) -> bool:
    try:
        found = score_facts(out)
    except ParallaxError:
        return False
    return found.model_copy(update={"model": "", "trained_on": ""}) == wanted
