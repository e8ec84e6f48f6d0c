"""Reproduce a capsule: verify the hash of every file and compute the results again."""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from analysis.archive.pack import (
    CAPSULE_VERSION,
    MANIFEST,
    README,
    RESULTS,
    RUN,
    Settings,
    hash_files,
    recompute_results,
)
from analysis.errors import AnalysisError
from experiment.authoring.plan import read_plan
from experiment.errors import why_unread
from experiment.studies.load import load_study
from experiment.version import code_version

# A size limit on unpacked capsules, so that a malicious file cannot fill the disk.
_LARGEST_CAPSULE_BYTES = 8 * 1024**3


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The outcome of a reproduction.

    Attributes:
        files: The number of result files that are identical byte for byte.
        sha256: The manifest's hash.
        plan: The hash of the frozen plan; None if no plan was frozen.
    """

    files: int
    sha256: str
    plan: str | None


def reproduce_capsule(
    capsule: Path, registered: str = "", plan: str = "", *, other_code: bool = False
) -> Reproduction:
    """Verify a capsule against its manifest, and compare its results with recomputed ones.

    Args:
        capsule: The file.
        registered: The registered SHA-256 of the manifest; empty if none was registered.
        plan: The SHA-256 of the plan, registered at the freeze; empty if none was registered.
        other_code: Whether to recompute results even if another version of Parallax made them.

    Raises:
        AnalysisError: The file is not a capsule, comes from a newer version or other code, was
            changed, or its results do not follow from its data.
    """
    with TemporaryDirectory() as name:
        folder = Path(name) / "capsule"
        _unpack(capsule, folder)
        text = _read_manifest_text(folder, capsule)
        manifest = _parse_manifest(text, capsule)
        digest = hashlib.sha256(text).hexdigest()
        if registered and digest != registered.lower():
            raise _changed_capsule_error(
                capsule, f"its manifest has the SHA-256 {digest}", registered
            )
        _check_hashes(hash_files(folder), manifest["files"], capsule)
        _check_plan(folder, manifest, plan, capsule)
        if manifest["code_version"] != code_version() and not other_code:
            raise AnalysisError(
                f"the capsule was made by Parallax {manifest['code_version']}, and this is "
                f"{code_version()}",
                where=str(capsule),
                expected="the same version, which every table names",
                remedy="Check out that version, or add --other-code to see what differs",
            )
        recomputed = Path(name) / "again"
        recompute_results(folder, Settings(**manifest["choices"]), recomputed)
        return Reproduction(
            _compare_results(folder / RESULTS, recomputed, capsule), digest, manifest["plan_sha256"]
        )


def _unpack(capsule: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(capsule) as archive:
            entries = archive.infolist()
            paths = [PurePosixPath(entry.filename) for entry in entries]
            if any(path.is_absolute() or ".." in path.parts for path in paths):
                raise _invalid_capsule_error(capsule, "a file in it lies outside of it")
            if sum(entry.file_size for entry in entries) > _LARGEST_CAPSULE_BYTES:
                raise _invalid_capsule_error(capsule, "it holds more than 8 GiB")
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _invalid_capsule_error(capsule, str(error)) from error


def _read_manifest_text(folder: Path, capsule: Path) -> bytes:
    if not (folder / MANIFEST).is_file():
        raise _invalid_capsule_error(capsule, f"the folder contains no manifest ({MANIFEST})")
    return (folder / MANIFEST).read_bytes()


def _parse_manifest(text: bytes, capsule: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(text)
        newer = manifest["version"] > CAPSULE_VERSION
        if not newer:
            Settings(**manifest["choices"])
            dict(manifest["files"])
            _ = manifest["code_version"], manifest["plan_sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise _invalid_capsule_error(
            capsule, f"its manifest cannot be read ({why_unread(error)})"
        ) from error
    if newer:
        raise AnalysisError(
            f"the capsule has the version {manifest['version']}",
            where=str(capsule),
            expected=f"at most {CAPSULE_VERSION}, the newest that this Parallax reads",
            remedy="Use the version of Parallax that made the capsule, or a newer one",
        )
    return manifest


def _check_hashes(
    actual_hashes: dict[str, str], stated_hashes: dict[str, str], capsule: Path
) -> None:
    unlisted = {MANIFEST, README}
    hashes_ = {name: digest for name, digest in actual_hashes.items() if name not in unlisted}
    wrong = sorted(
        name
        for name in hashes_.keys() | stated_hashes.keys()
        if hashes_.get(name) != stated_hashes.get(name)
    )
    if wrong:
        raise _changed_capsule_error(
            capsule, f"{', '.join(wrong[:3])} differ from the manifest", ""
        )


def _check_plan(folder: Path, manifest: dict[str, Any], registered: str, capsule: Path) -> None:
    plan = read_plan(load_study(str(folder / RUN / "study")))
    plan_hash = plan.sha256 if plan else None
    if plan_hash != manifest["plan_sha256"]:
        raise _other_plan_error(capsule, plan_hash, manifest["plan_sha256"] or "")
    if registered and plan_hash != registered.lower():
        raise _other_plan_error(capsule, plan_hash, registered)


def _other_plan_error(capsule: Path, plan_hash: str | None, registered: str) -> AnalysisError:
    problem = f"its plan has the SHA-256 {plan_hash}" if plan_hash else "it holds no frozen plan"
    return _changed_capsule_error(capsule, problem, registered)


def _compare_results(stored: Path, recomputed: Path, capsule: Path) -> int:
    stored_hashes, recomputed_hashes = hash_files(stored), hash_files(recomputed)
    differing = sorted(
        name
        for name in stored_hashes.keys() | recomputed_hashes.keys()
        if stored_hashes.get(name) != recomputed_hashes.get(name)
    )
    if differing:
        raise AnalysisError(
            f"{len(differing)} of {len(stored_hashes)} files of results are not what the data "
            "give, the first "
            f"{', '.join(differing[:3])}",
            where=str(capsule),
            expected="the same bytes, with the same versions of everything",
            remedy="Compare the versions in requirements.lock with yours (make reproduce installs "
            "them); if they are the same, the results were changed",
        )
    return len(stored_hashes)


def _changed_capsule_error(capsule: Path, problem: str, registered: str) -> AnalysisError:
    return AnalysisError(
        f"the capsule was changed after it was made: {problem}",
        where=str(capsule),
        expected=registered and f"the registered {registered}",
        remedy="Ask whoever made the capsule for the file again",
    )


def _invalid_capsule_error(capsule: Path, problem: str) -> AnalysisError:
    return AnalysisError(
        f"the file is not a capsule: {problem}",
        where=str(capsule),
        expected="a file that `parallax archive pack` wrote",
    )
