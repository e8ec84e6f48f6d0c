"""Reproduce a capsule: verify the hash of every file and compute the results again."""

import hashlib
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from analysis.archive.pack import (
    MANIFEST,
    README,
    RESULTS,
    RUN,
    VERSION,
    Choices,
    hashes,
    recompute,
)
from analysis.errors import AnalysisError
from experiment.authoring.plan import read_plan
from experiment.errors import why_unread
from experiment.studies.load import load_study
from experiment.version import code_version

# A size limit on unpacked capsules, so that a malicious file cannot fill the disk.
_MOST_BYTES = 8 * 1024**3


@dataclass(frozen=True, slots=True)
class Reproduced:
    """The outcome of a reproduction.

    Attributes:
        files: The number of result files that are identical byte for byte.
        sha256: The manifest's hash.
        plan: The hash of the frozen plan; None if no plan was frozen.
    """

    files: int
    sha256: str
    plan: str | None


def reproduce(
    capsule: Path, registered: str = "", plan: str = "", *, other_code: bool = False
) -> Reproduced:
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
        text = _text(folder, capsule)
        manifest = _read(text, capsule)
        digest = hashlib.sha256(text).hexdigest()
        if registered and digest != registered.lower():
            raise _changed(capsule, f"its manifest has the SHA-256 {digest}", registered)
        _compare(hashes(folder), manifest["files"], capsule)
        _same_plan(folder, manifest, plan, capsule)
        if manifest["code_version"] != code_version() and not other_code:
            raise AnalysisError(
                f"the capsule was made by Parallax {manifest['code_version']}, and this is "
                f"{code_version()}",
                where=str(capsule),
                expected="the same version, whose name stands in every table",
                remedy="Check that version out, or add --other-code to see what differs",
            )
        again = Path(name) / "again"
        recompute(folder, Choices(**manifest["choices"]), again)
        return Reproduced(_same(folder / RESULTS, again, capsule), digest, manifest["plan_sha256"])


def _unpack(capsule: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(capsule) as archive:
            entries = archive.infolist()
            paths = [PurePosixPath(entry.filename) for entry in entries]
            if any(path.is_absolute() or ".." in path.parts for path in paths):
                raise _no_capsule(capsule, "a file in it lies outside of it")
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise _no_capsule(capsule, "it holds more than 8 GiB")
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _no_capsule(capsule, str(error)) from error


def _text(folder: Path, capsule: Path) -> bytes:
    if not (folder / MANIFEST).is_file():
        raise _no_capsule(capsule, f"no manifest lies in it ({MANIFEST})")
    return (folder / MANIFEST).read_bytes()


def _read(text: bytes, capsule: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(text)
        newer = manifest["version"] > VERSION
        if not newer:
            Choices(**manifest["choices"])
            dict(manifest["files"])
            _ = manifest["code_version"], manifest["plan_sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise _no_capsule(capsule, f"its manifest cannot be read ({why_unread(error)})") from error
    if newer:
        raise AnalysisError(
            f"the capsule has the version {manifest['version']}",
            where=str(capsule),
            expected=f"at most {VERSION}, which this Parallax reads",
            remedy="Use the Parallax that made it, or a newer one",
        )
    return manifest


def _compare(found: dict[str, str], written: dict[str, str], capsule: Path) -> None:
    own = {MANIFEST, README}
    there = {name: one for name, one in found.items() if name not in own}
    wrong = sorted(
        name for name in there.keys() | written.keys() if there.get(name) != written.get(name)
    )
    if wrong:
        raise _changed(capsule, f"{', '.join(wrong[:3])} differ from the manifest", "")


def _same_plan(folder: Path, manifest: dict[str, Any], registered: str, capsule: Path) -> None:
    plan = read_plan(load_study(str(folder / RUN / "study")))
    own = plan.sha256 if plan else None
    if own != manifest["plan_sha256"]:
        raise _another_plan(capsule, own, manifest["plan_sha256"] or "")
    if registered and own != registered.lower():
        raise _another_plan(capsule, own, registered)


def _another_plan(capsule: Path, own: str | None, registered: str) -> AnalysisError:
    found = f"its plan has the SHA-256 {own}" if own else "it holds no frozen plan"
    return _changed(capsule, found, registered)


def _same(before: Path, again: Path, capsule: Path) -> int:
    first, second = hashes(before), hashes(again)
    wrong = sorted(
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    )
    if wrong:
        raise AnalysisError(
            f"{len(wrong)} of {len(first)} files of results are not what the data give, the first "
            f"{', '.join(wrong[:3])}",
            where=str(capsule),
            expected="the same bytes, with the same versions of everything",
            remedy="Compare the versions in requirements.lock with yours (make reproduce installs "
            "them); if they are the same, the results were changed",
        )
    return len(first)


def _changed(capsule: Path, problem: str, registered: str) -> AnalysisError:
    return AnalysisError(
        f"the capsule was changed after it was made: {problem}",
        where=str(capsule),
        expected=registered and f"the registered {registered}",
        remedy="Ask whoever made it for the file again",
    )


def _no_capsule(capsule: Path, problem: str) -> AnalysisError:
    return AnalysisError(
        f"the file is no capsule: {problem}",
        where=str(capsule),
        expected="a file that `parallax archive pack` wrote",
    )
