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

from analysis.data.load import ExportedRun, ScoreFacts, score_facts
from analysis.data.longitudinal import together
from analysis.data.own_columns import items_of
from analysis.errors import AnalysisError
from experiment.materials.read import materials_hash

_HASH_SHOWN = 12


def scores_of_parts(run: ExportedRun, files: Sequence[Path], folder: Path) -> list[Path]:
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
    _, renamed = together([part.items for part in run.parts])
    by_model: defaultdict[str, list[tuple[Path, ScoreFacts]]] = defaultdict(list)
    for path in files:
        facts = score_facts(path)
        by_model[facts.model].append((path, facts))
    hashes = [materials_hash(items_of(part.items)) for part in run.parts] if files else []
    found = []
    for number, own in enumerate(by_model.values()):
        _refuse_unlike(own)
        tables: list[pa.Table] = []
        scored: dict[int, Path] = {}
        for path, facts in own:
            places = _places(run, hashes, path, facts)
            for place in places:
                if place in scored:
                    raise _scored_twice(run.parts[place], facts.model, scored[place], path)
                scored[place] = path
                tables.append(_of_part(path, run.parts[place], renamed[place], tables))
        found.append(folder / f"{number}.parquet")
        pq.write_table(_merged(tables, run, [facts for _, facts in own]), found[-1])
    return found


def _places(run: ExportedRun, hashes: Sequence[str], path: Path, facts: ScoreFacts) -> list[int]:
    """Return the indices, from 0, of the parts with the materials of a score file."""
    found = [
        place
        for place, (part, own) in enumerate(zip(run.parts, hashes, strict=True))
        if facts.materials_hash in (part.facts.materials_hash, own)
        and (not facts.study or facts.study == part.facts.study)
    ]
    if found:
        return found
    known = "; ".join(
        f"{part.facts.study} {part.facts.study_version}, {part.facts.materials_hash[:_HASH_SHOWN]}"
        for part in run.parts
    )
    raise AnalysisError(
        f"the scores are of {facts.study} {facts.study_version}, materials "
        f"{facts.materials_hash[:_HASH_SHOWN]}, which no part has",
        where=str(path),
        expected=f"the materials of a part: {known}",
        remedy="Score the materials of each part with `parallax lm score`, and name each file "
        "with --scores",
    )


def _of_part(
    path: Path, part: ExportedRun, renamed: Mapping[str, str], before: Sequence[pa.Table]
) -> pa.Table:
    """Return the scores of a part's items under their joined ids, without items already scored."""
    table = pq.read_table(path)
    names = table["item_id"].to_pylist()
    own = set(part.items["item_id"].astype(str))
    known = {name for one in before for name in one["item_id"].to_pylist()}
    called = [renamed.get(name, name) for name in names]
    rows = [
        place
        for place, (name, new) in enumerate(zip(names, called, strict=True))
        if name in own and new not in known
    ]
    place = table.schema.get_field_index("item_id")
    column = pa.array([called[row] for row in rows], table.schema.field(place).type)
    return table.take(pa.array(rows, pa.int64())).set_column(
        place, table.schema.field(place), column
    )


def _merged(tables: Sequence[pa.Table], run: ExportedRun, facts: Sequence[ScoreFacts]) -> pa.Table:
    """Merge the tables into one; its metadata combine those of the files."""
    said = {
        name: "; ".join(dict.fromkeys(getattr(part_facts, name) for part_facts in facts))
        for name in ScoreFacts.model_fields
    }
    said |= {
        "study": run.facts.study,
        "study_version": run.facts.study_version,
        "materials_hash": run.facts.materials_hash,
    }
    # A file may lack optional columns: its rows get missing values there.
    bare = [table.replace_schema_metadata(None) for table in tables]
    return pa.concat_tables(bare, promote_options="permissive").replace_schema_metadata(said)


def _refuse_unlike(own: Sequence[tuple[Path, ScoreFacts]]) -> None:
    """Raise if files with one model name come from different models or scoring methods."""
    (first, known), *others = own
    for path, facts in others:
        for name in ("model_hash", "rendering", "reading"):
            if getattr(facts, name) != getattr(known, name):
                raise AnalysisError(
                    f'two score files of a model "{facts.model}" differ in {name}: '
                    f"{getattr(known, name)!r} and {getattr(facts, name)!r}",
                    where=f"{first}, {path}",
                    expected="one model for all parts, which read them in one way",
                    remedy="Score the parts again alike, or give the models different names",
                )


def _scored_twice(part: ExportedRun, model: str, first: Path, second: Path) -> AnalysisError:
    return AnalysisError(
        f'two score files of a model "{model}" are of the materials of the run {part.facts.run}',
        where=f"{first}, {second}",
        expected="of each model one file for a part",
        remedy="Leave out all but one of the files, or give the models different names",
    )
