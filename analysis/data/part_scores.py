"""Combine models' scores of a study's parts into scores of the joined items.

Each part has its own materials, and a score file covers one part's materials. If two parts use one
id for different words, ``part_items`` renames the items; this module assigns each file's scores to
the items of the part that was scored.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from analysis.data.facts import ScoreFacts
from analysis.data.load import ExportedRun, read_score_facts
from analysis.data.longitudinal import join_items
from analysis.data.own_columns import make_items
from analysis.errors import AnalysisError
from experiment.materials.read import materials_hash

_HASH_SHOWN = 12


def write_part_scores(run: ExportedRun, files: Sequence[Path], folder: Path) -> list[Path]:
    """Write one score file for each model, covering the items of all parts.

    Args:
        run: Several parts of a study, joined by ``analysis.data.longitudinal``.
        files: Score files, one or several per model, each of the materials of one or more parts.
        folder: The folder to write.

    Returns:
        The files written, one for each model, in the order of its first file.

    Raises:
        AnalysisError: A file's materials are those of no part, or a part has two files of one
            model.
        TableError: A file is missing or not Parquet.
    """
    _, renamed = join_items([part.items for part in run.parts])
    by_model: defaultdict[str, list[tuple[Path, ScoreFacts]]] = defaultdict(list)
    for path in files:
        facts = read_score_facts(path)
        by_model[facts.model].append((path, facts))
    hashes = [materials_hash(make_items(part.items)) for part in run.parts] if files else []
    written_paths = []
    for number, score_files in enumerate(by_model.values()):
        _refuse_differing_models(score_files)
        tables: list[pa.Table] = []
        scored: dict[int, Path] = {}
        for path, facts in score_files:
            places = _find_parts(run, hashes, path, facts)
            for index in places:
                if index in scored:
                    raise _scored_twice_error(run.parts[index], facts.model, scored[index], path)
                scored[index] = path
                tables.append(_scores_of_part(path, run.parts[index], renamed[index], tables))
        written_paths.append(folder / f"{number}.parquet")
        pq.write_table(
            _merge_tables(tables, run, [facts for _, facts in score_files]), written_paths[-1]
        )
    return written_paths


def _find_parts(
    run: ExportedRun, hashes: Sequence[str], path: Path, facts: ScoreFacts
) -> list[int]:
    """Return the indices, from 0, of the parts with the materials of a score file."""
    part_indices = [
        index
        for index, (part, materials_hash_) in enumerate(zip(run.parts, hashes, strict=True))
        if facts.materials_hash in (part.facts.materials_hash, materials_hash_)
        and (not facts.study or facts.study == part.facts.study)
    ]
    if part_indices:
        return part_indices
    materials_list = "; ".join(
        f"{part.facts.study} {part.facts.study_version}, {part.facts.materials_hash[:_HASH_SHOWN]}"
        for part in run.parts
    )
    raise AnalysisError(
        f"the scores are for {facts.study} {facts.study_version}, materials "
        f"{facts.materials_hash[:_HASH_SHOWN]}, which no part has",
        where=str(path),
        expected=f"the materials of a part: {materials_list}",
        remedy="Score the materials of each part with `parallax lm score`, and name each file "
        "with --scores",
    )


def _scores_of_part(
    path: Path, part: ExportedRun, renamed: Mapping[str, str], earlier_tables: Sequence[pa.Table]
) -> pa.Table:
    """Return the scores of a part's items under their joined ids, without items already scored."""
    table = pq.read_table(path)
    names = table["item_id"].to_pylist()
    item_ids = set(part.items["item_id"].astype(str))
    scored_ids = {name for table_ in earlier_tables for name in table_["item_id"].to_pylist()}
    joined_ids = [renamed.get(name, name) for name in names]
    rows = [
        index
        for index, (name, new) in enumerate(zip(names, joined_ids, strict=True))
        if name in item_ids and new not in scored_ids
    ]
    index = table.schema.get_field_index("item_id")
    column = pa.array([joined_ids[row] for row in rows], table.schema.field(index).type)
    return table.take(pa.array(rows, pa.int64())).set_column(
        index, table.schema.field(index), column
    )


def _merge_tables(
    tables: Sequence[pa.Table], run: ExportedRun, facts: Sequence[ScoreFacts]
) -> pa.Table:
    """Merge the tables into one; its metadata combine those of the files."""
    metadata = {
        name: "; ".join(dict.fromkeys(getattr(part_facts, name) for part_facts in facts))
        for name in ScoreFacts.model_fields
    }
    metadata |= {
        "study": run.facts.study,
        "study_version": run.facts.study_version,
        "materials_hash": run.facts.materials_hash,
    }
    # A file may lack optional columns: its rows get missing values there.
    bare_tables = [table.replace_schema_metadata(None) for table in tables]
    return pa.concat_tables(bare_tables, promote_options="permissive").replace_schema_metadata(
        metadata
    )


def _refuse_differing_models(score_files: Sequence[tuple[Path, ScoreFacts]]) -> None:
    """Raise if files with one model name come from different models or scoring methods."""
    (first_path, first_facts), *other_files = score_files
    for path, facts in other_files:
        for name in ("model_hash", "rendering", "reading"):
            if getattr(facts, name) != getattr(first_facts, name):
                raise AnalysisError(
                    f'two score files of the model "{facts.model}" differ in {name}: '
                    f"{getattr(first_facts, name)!r} and {getattr(facts, name)!r}",
                    where=f"{first_path}, {path}",
                    expected="one model for all parts, with the same settings",
                    remedy="Score all parts again with the same settings, or give the models "
                    "different names",
                )


def _scored_twice_error(part: ExportedRun, model: str, first: Path, second: Path) -> AnalysisError:
    return AnalysisError(
        f'two score files of the model "{model}" are for the materials of the run {part.facts.run}',
        where=f"{first}, {second}",
        expected="one file for each model and part",
        remedy="Leave out all but one of the files, or give the models different names",
    )
