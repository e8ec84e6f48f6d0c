"""Capsules that were changed, plainly or so that the manifest still fits."""

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.archive.pack import (
    MANIFEST,
    RESULTS,
    RUN,
    Settings,
    hash_files,
    recompute_results,
    write_zip,
)
from analysis.archive.reproduce import reproduce_capsule
from analysis.errors import AnalysisError
from experiment.authoring.plan import freeze_plan, to_json
from experiment.studies.load import load_study
from experiment.tables.codebook import datapackage
from experiment.tables.files import read_table, write_table
from experiment.tables.schemas import EXPORT_TABLES, RESPONSES
from tests.analysis import small_run

CHOICES = Settings(resamples=100, seed=1, metric="sum", margin=None)
PLAN = {"n_participants": 3, "comparisons": {}, "exclusion": []}


def write_export(folder: Path) -> Path:
    """Write the small run with its checksums and a frozen plan."""
    rows = small_run.tables()
    folder.mkdir(parents=True)
    for table in EXPORT_TABLES:
        for suffix in (".csv", ".parquet"):
            write_table(table, rows.get(table.name, []), folder / f"{table.name}{suffix}")
    small_run.write_study(folder / "study")
    (folder / "study" / "plan.json").write_text(to_json(freeze_plan(PLAN, "2026-02-01")), "utf-8")
    describe(folder)
    return folder


def describe(folder: Path) -> None:
    """Write the export's description, with the checksums of its files as they are."""
    facts = {"study_version": "1.0", **small_run.facts()}
    package = datapackage(folder, "small-abc", "Which is better?", facts)
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")


def plain(capsule: Path, out: Path, rng: random.Random) -> None:
    """Write the capsule with one byte of one file flipped."""
    with zipfile.ZipFile(capsule) as archive, zipfile.ZipFile(out, "w") as changed:
        names = [one.filename for one in archive.infolist()]
        wanted = [one for one in names if one not in (MANIFEST, "README.md")]
        victim = rng.choice([one for one in wanted if archive.getinfo(one).file_size])
        for name in names:
            content = bytearray(archive.read(name))
            if name == victim:
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            changed.writestr(name, bytes(content))


def results(folder: Path, rng: random.Random) -> None:
    """Change one digit of one result."""
    paths = [
        one for one in (folder / RESULTS).rglob("*.csv") if any(map(str.isdigit, one.read_text()))
    ]
    path = rng.choice(sorted(paths))
    text = path.read_text("utf-8")
    place = rng.choice([n for n, sign in enumerate(text) if sign.isdigit()])
    digit = rng.choice([one for one in "0123456789" if one != text[place]])
    path.write_text(text[:place] + digit + text[place + 1 :], "utf-8")


def data(folder: Path, rng: random.Random) -> None:
    """Turn one answer round, and compute the results again."""
    path = folder / RUN / "responses.parquet"
    rows = list(read_table(RESPONSES, path))
    row = rng.choice(rows)
    row["chosen_side"] = "second" if row["chosen_side"] == "first" else "first"
    row["chose_good"] = not row["chose_good"]
    for suffix in (".parquet", ".csv"):
        write_table(RESPONSES, rows, path.with_suffix(suffix))
    describe(folder / RUN)
    compute_again(folder)


def rule(folder: Path, rng: random.Random) -> None:
    """Change the rule in the study and in the plan, freeze it again, and compute again."""
    toml = folder / RUN / "study" / "study.toml"
    allowed = rng.randrange(2, 1000)
    toml.write_text(
        toml.read_text("utf-8").replace("max_errors = 1\n", f"max_errors = {allowed}\n")
    )
    study = load_study(str(toml.parent))
    rules = [one.model_dump(mode="json") for one in study.exclusion]
    plan = freeze_plan({**PLAN, "exclusion": rules}, "2026-02-01")
    (toml.parent / "plan.json").write_text(to_json(plan), "utf-8")
    compute_again(folder)


def compute_again(folder: Path) -> None:
    """Make the results anew."""
    shutil.rmtree(folder / RESULTS)
    recompute_results(folder, CHOICES, folder / RESULTS)


def consistent(
    capsule: Path, out: Path, rng: random.Random, change: Callable[[Path, random.Random], None]
) -> None:
    """Write the capsule changed, with a manifest that fits."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(capsule) as archive:
            archive.extractall(folder)
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        change(folder, rng)
        files = {
            one: digest for one, digest in hash_files(folder).items() if one in manifest["files"]
        }
        study = load_study(str(folder / RUN / "study"))
        plan = json.loads((study.folder / "plan.json").read_text("utf-8"))["sha256"]
        manifest |= {"files": files, "plan_sha256": plan}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
        write_zip(folder, out)


def refused_by(capsule: Path, registered: str = "", plan: str = "") -> str:
    """Return what refuses a capsule, in a word; empty where nothing does."""
    try:
        reproduce_capsule(capsule, registered, plan)
    except AnalysisError as error:
        if "not what the data give" in str(error):
            return "recomputation"
        if "was changed after it was made" not in str(error):
            raise
        return "hash"
    return ""
