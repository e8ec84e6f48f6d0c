"""A made-up export of many answers, and scores of its items, to measure an analysis on."""

import json
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiment.materials.read import item_row, load_items, materials_hash
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.column import PROGRAM, TableSchema
from experiment.tables.files import write_table
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import (
    EXPORT_TABLES,
    ITEMS,
    PARTICIPANTS,
    RESPONSES,
    SCORES,
    TRIALS,
    VERDICTS,
)

STUDY, CATCH = "marvin_linzen_2018", "simple_agreement"
# What a session of each study shows: trials, and among them those of the construction above.
SIZES = {STUDY: (76, 10), "minimal": (8, 4)}
TOKENS_EACH = 10
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_PEOPLE_AT_A_TIME = 10_000
_SIDES = np.array(["first", "second"])
_EMPTY = {"string": "", "int64": 0, "double": 0.0, "bool": False}


def write_large_run(folder: Path, participants: int, seed: int, name: str = STUDY) -> int:
    """Write an export whose participants judge random items; return the number of answers."""
    folder.mkdir(parents=True)
    study, sizes = load_study(name), SIZES[name]
    shutil.copytree(study.folder, folder / "study")
    items = list(load_items(study))
    write_table(ITEMS, map(item_row, items), folder / "items.parquet")
    for schema in EXPORT_TABLES:
        if schema != ITEMS:
            write_table(schema, [], folder / f"{schema.name}.parquet")
    (folder / "datapackage.json").write_text(
        json.dumps({"parallax": _facts(study, materials_hash(items))})
    )
    people = np.array([f"p{number:07}" for number in range(participants)])
    everybody = {"participant": people, "number": np.arange(participants), "state": "finished",
                 "list": np.arange(participants) % 10, "simulated": True, "consented_at": _NOW,
                 "arrived_at": _NOW, "judge": PROGRAM}  # fmt: skip
    pq.write_table(_table(PARTICIPANTS, everybody, participants), folder / "participants.parquet")
    verdicts = {"participant": people, "kept": True}
    pq.write_table(_table(VERDICTS, verdicts, participants), folder / "verdicts.parquet")
    rng, ids = np.random.default_rng(seed), np.array([item.item_id for item in items])
    catch = np.flatnonzero([item.construction == CATCH for item in items])
    chance = 1 / (1 + np.exp(-rng.normal(2, 1, len(ids))))
    with (
        pq.ParquetWriter(folder / "trials.parquet", arrow_schema(TRIALS)) as trials,
        pq.ParquetWriter(folder / "responses.parquet", arrow_schema(RESPONSES)) as responses,
    ):
        for start in range(0, participants, _PEOPLE_AT_A_TIME):
            few = people[start : start + _PEOPLE_AT_A_TIME]
            rows = _answers(few, sizes, ids, catch, chance, rng)
            trials.write_table(_table(TRIALS, rows, len(rows["position"])))
            responses.write_table(_table(RESPONSES, rows, len(rows["position"])))
    return participants * sizes[0]


def write_large_scores(path: Path, seed: int, name: str = STUDY) -> Path:
    """Write random scores of all the study's items."""
    study = load_study(name)
    items = list(load_items(study))
    rng = np.random.default_rng(seed)
    tokens = -rng.gamma(2, 2, (2 * len(items), TOKENS_EACH)).astype(np.float32)
    ends = np.arange(0, tokens.size + 1, TOKENS_EACH, dtype=np.int32)
    rows = {
        "item_id": np.repeat([item.item_id for item in items], 2),
        "construction": np.repeat([item.construction for item in items], 2),
        "condition": np.repeat([item.condition for item in items], 2),
        "contrast": "bad",
        "variant": np.tile(["good", "bad"], len(items)),
        "logprob_nats": tokens.sum(axis=1, dtype=float),
        "n_tokens": np.full(2 * len(items), TOKENS_EACH),
        "token_logprobs_nats": pa.ListArray.from_arrays(ends, tokens.ravel()),
        "difference_at": np.full(2 * len(items), TOKENS_EACH // 2),
    }
    facts = {"model": f"random {seed}", "trained_on": "nothing", "model_hash": "0" * 64,
             "rendering": "sentence_case", "study": study.study.name,
             "study_version": study.study.version, "materials_hash": materials_hash(items),
             "code_version": "benchmark"}  # fmt: skip
    table = _table(SCORES, rows, 2 * len(items))
    pq.write_table(table.replace_schema_metadata(facts), path)
    return path


def _answers(
    people: np.ndarray,
    sizes: tuple[int, int],
    ids: np.ndarray,
    catch: np.ndarray,
    chance: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    trials, n_catch = sizes
    n = len(people) * trials
    item = rng.integers(0, len(ids), (len(people), trials))
    # The exclusion rule counts errors on these: everybody judges as many as the study shows.
    item[:, :n_catch] = rng.choice(catch, (len(people), n_catch))
    item = item.ravel()
    right, good = rng.random(n) < chance[item], rng.integers(0, 2, n)
    return {
        "participant": np.repeat(people, trials),
        "position": np.tile(np.arange(1, trials + 1), len(people)),
        "item_id": ids[item],
        "kind": "target",
        "judge": PROGRAM,
        "good_side": _SIDES[good],
        "chosen_side": _SIDES[np.where(right, good, 1 - good)],
        "chose_good": right,
        "rt_ms": rng.lognormal(8, 0.4, n),
        "input_method": "key",
        "recorded_at": _NOW,
    }


def _table(schema: TableSchema, columns: Mapping[str, object], n: int) -> pa.Table:
    """Return a table of the schema; what is not given is empty."""
    arrays = []
    for field in arrow_schema(schema):
        empty = None if field.nullable else _EMPTY.get(str(field.type))
        value = columns.get(field.name, empty)
        if isinstance(value, np.ndarray | pa.Array):
            arrays.append(pa.array(value, field.type))
        elif value is None and not field.nullable:
            arrays.append(pa.array([[]] * n, field.type))
        else:
            arrays.append(pa.repeat(pa.scalar(value, field.type), n))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(schema))


def _facts(study: Study, items_hash: str) -> dict[str, object]:
    return {"run": "large", "study": study.study.name, "study_version": study.study.version,
            "seed": 1, "materials_hash": items_hash, "rendering": "sentence_case",
            "recruiter": "simulator", "simulated": True, "launched_at": _NOW.isoformat(),
            "code_version": "benchmark"}  # fmt: skip
