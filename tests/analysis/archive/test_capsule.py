"""A capsule: made again byte for byte; changed ones are refused, or it is known why not."""

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.archive.command import pack_, reproduce_
from analysis.archive.pack import MANIFEST, pack_capsule
from analysis.archive.reproduce import reproduce_capsule
from analysis.errors import AnalysisError
from tests.analysis import small_run
from tests.analysis.archive import changed_capsules as capsules
from tests.analysis.chosen_findings import chosen_findings

PLAN = capsules.freeze_plan(capsules.PLAN, "2026-02-01").sha256


@pytest.fixture(scope="module", autouse=True)
def _some_results() -> Iterator[None]:
    """Make a few of all results: that each is the same when made again is test_compare.py's."""
    with chosen_findings("comparisons", "differences", "metrics"):
        yield


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("capsule")
    scores = small_run.write_scores(folder / "scores.parquet")
    export = capsules.write_export(folder / "export")
    out = folder / "capsule.zip"
    return out, pack_capsule(export, [scores], None, capsules.CHOICES, out)


def test_it_is_made_again_byte_for_byte_and_twice_the_same(
    packed: tuple[Path, str], tmp_path: Path
):
    path, digest = packed
    found = reproduce_capsule(path, digest, PLAN)
    assert found.files > 20 and found.sha256 == digest and found.plan == PLAN
    again = tmp_path / "again.zip"
    assert pack_capsule(path.parent / "export", [path.parent / "scores.parquet"], None,
                capsules.CHOICES, again) == digest  # fmt: skip
    assert again.read_bytes() == path.read_bytes()


def test_plain_changes_are_refused_by_hash(packed: tuple[Path, str], tmp_path: Path):
    rng, out = random.Random(3), tmp_path / "changed.zip"
    for _ in range(12):
        capsules.plain(packed[0], out, rng)
        assert capsules.refused_by(out) == "hash"


@pytest.mark.parametrize(
    ("change", "alone"),
    [(capsules.results, "recomputation"), (capsules.data, ""), (capsules.rule, "")],
)
def test_consistent_changes_are_refused_by_recomputation_or_by_what_was_registered(
    packed: tuple[Path, str],
    tmp_path: Path,
    change: Callable[[Path, random.Random], None],
    alone: str,
):
    out = tmp_path / "changed.zip"
    capsules.consistent(packed[0], out, random.Random(5), change)
    assert capsules.refused_by(out) == alone
    assert capsules.refused_by(out, packed[1]) == "hash"
    if change is capsules.rule:
        assert capsules.refused_by(out, plan=PLAN) == "hash"


def rewritten(path: Path, out: Path, **changed: object) -> Path:
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(out, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            if name == MANIFEST:
                content = json.dumps(json.loads(content) | changed).encode()
            other.writestr(name, content)
    return out


def test_a_capsule_of_a_newer_version_or_of_other_code_is_told(
    packed: tuple[Path, str], tmp_path: Path
):
    newer = rewritten(packed[0], tmp_path / "newer.zip", version=9)
    with pytest.raises(AnalysisError, match="has the version 9"):
        reproduce_capsule(newer)
    other = rewritten(packed[0], tmp_path / "other.zip", code_version="9.9.9")
    with pytest.raises(AnalysisError, match=r"made by Parallax 9\.9\.9") as told:
        reproduce_capsule(other)
    assert "Check out that version" in str(told.value)


def test_a_capsule_with_another_manifest_or_plan_than_the_registered_is_told(
    packed, tmp_path: Path
):
    path, digest = packed
    wrong = "0" * 64
    with pytest.raises(AnalysisError, match=f"its manifest has the SHA-256 {digest}.*ed {wrong}"):
        reproduce_capsule(path, registered=wrong)
    with pytest.raises(AnalysisError, match=f"its plan has the SHA-256 {PLAN}.*registered {wrong}"):
        reproduce_capsule(path, plan=wrong)
    files = json.loads(zipfile.ZipFile(path).read(MANIFEST))["files"]
    [plan] = [name for name in files if name.endswith("plan.json")]
    del files[plan]
    out = rewritten(path, tmp_path / "no_plan.zip", files=files)
    without = tmp_path / "without.zip"
    with zipfile.ZipFile(out) as archive, zipfile.ZipFile(without, "w") as other:
        for name in archive.namelist():
            if name != plan:
                other.writestr(name, archive.read(name))
    with pytest.raises(AnalysisError, match=f"it holds no frozen plan.*the registered {PLAN}"):
        reproduce_capsule(without)


def test_a_file_that_says_it_is_huge_is_not_unpacked(tmp_path: Path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "x")
        archive.infolist()[0].file_size = 9 * 1024**3
    with pytest.raises(AnalysisError, match="not a capsule: it holds more than 8 GiB"):
        reproduce_capsule(path)


def test_what_is_no_capsule_is_told_and_nothing_is_unpacked_outside(tmp_path: Path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK no")
    with pytest.raises(AnalysisError, match="not a capsule"):
        reproduce_capsule(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../outside", "x")
    with pytest.raises(AnalysisError, match="a file in it lies outside of it"):
        reproduce_capsule(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "x")
    with pytest.raises(AnalysisError, match=r"the folder contains no manifest \(capsule.json\)"):
        reproduce_capsule(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MANIFEST, "[]")
    with pytest.raises(AnalysisError, match="manifest cannot be read"):
        reproduce_capsule(path)


def test_the_commands_pack_and_reproduce_and_say_what_cannot_be_told(tmp_path: Path):
    export, out = capsules.write_export(tmp_path / "export"), tmp_path / "capsule.zip"
    packed = CliRunner().invoke(pack_, [str(export), "--out", str(out), "--resamples", "100"])
    assert packed.exit_code == 0, packed.output
    found = CliRunner().invoke(reproduce_, [str(out)])
    assert found.exit_code == 0, found.output
    assert "byte for byte" in found.output and "nothing shows whether" in found.output


def test_an_export_edited_by_hand_is_not_packed(tmp_path: Path):
    export = capsules.write_export(tmp_path / "export")
    (export / "items.csv").write_text("x\n", "utf-8")
    with pytest.raises(AnalysisError, match="changed after the export"):
        pack_capsule(export, [], None, capsules.CHOICES, tmp_path / "capsule.zip")
    assert not (tmp_path / "capsule.zip").exists()
