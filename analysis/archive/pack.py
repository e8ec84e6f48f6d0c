"""Pack a capsule: data, scores, results, versions, and a manifest with the hash of every file."""

import hashlib
import json
import platform
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.archive.package import read_package, sha256
from analysis.compare import compare
from analysis.findings.finding import ComparisonOptions
from experiment.authoring.plan import read_plan
from experiment.studies.load import load_study
from experiment.studies.publication import read_about
from experiment.tables.atomic_write import atomic_write
from experiment.version import DISTRIBUTION, code_version

CAPSULE_VERSION = 1
MANIFEST, LOCK, README = "capsule.json", "requirements.lock", "README.md"
RUN, SCORES, RESULTS, ABOUT = "run", "scores", "results", "about.toml"
# ZIP entries have a time stamp; a constant one keeps the bytes reproducible.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_README = """\
# A capsule of Parallax

`{run}/` is an export, `{scores}/` the models' scores, `{results}/` what `parallax compare` made of
them with Parallax {code}, Python {python} on {machine}. `{manifest}` has the SHA-256 of every file.

To make it again: check out Parallax at that version, then `make reproduce CAPSULE=this_file.zip`.
It installs `{lock}`, and then, without a network, makes every file of `{results}/` once more
and compares the bytes.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the comparison.

    Attributes:
        resamples: How many resamples each interval uses.
        seed: The seed of the resampling.
        metric: The metric that turns log-probabilities into one score.
        margin: Smaller differences count as no difference; None for the study's margin.
    """

    resamples: int
    seed: int
    metric: str
    margin: float | None

    def options(self, about: Path | None) -> ComparisonOptions:
        """Return the options of the comparison that has these settings."""
        return ComparisonOptions(
            resamples=self.resamples,
            seed=self.seed,
            metric=self.metric,
            margin=self.margin,
            about=read_about(about) if about else None,
        )


def pack_capsule(
    export: Path, scores: Sequence[Path], about: Path | None, choices: Settings, out: Path
) -> str:
    """Run the comparison and write the capsule.

    Args:
        export: The run's export; its checksums are verified first.
        scores: Score files.
        about: A file with [publication] and [baseline], if any.
        choices: How the comparison is computed.
        out: The file to write.

    Returns:
        The SHA-256 of the manifest, to be registered.

    Raises:
        ParallaxError: An input is invalid or was changed, or the file cannot be written.
    """
    read_package(export)
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(export, folder / RUN)
        (folder / SCORES).mkdir()
        for number, path in enumerate(scores, start=1):
            shutil.copyfile(path, folder / SCORES / f"{number:02}_{path.name}")
        if about:
            shutil.copyfile(about, folder / ABOUT)
        (folder / LOCK).write_text(lock_versions(), "utf-8", newline="\n")
        recompute_results(folder, choices, folder / RESULTS)
        manifest = json.dumps(_make_manifest(folder, choices), indent=1) + "\n"
        (folder / MANIFEST).write_text(manifest, "utf-8", newline="\n")
        (folder / README).write_text(_make_readme(), "utf-8", newline="\n")
        with atomic_write(out) as temporary:
            write_zip(folder, temporary)
    return hashlib.sha256(manifest.encode()).hexdigest()


def recompute_results(folder: Path, choices: Settings, out: Path) -> None:
    """Compute the results again from the capsule's inputs in a folder."""
    about = folder / ABOUT
    compare(
        folder / RUN,
        sorted((folder / SCORES).glob("*.parquet")),
        out,
        choices.options(about if about.is_file() else None),
        figures=False,
    )


def hash_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder and its subfolders, by relative path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256(path) for path in paths}


def _make_manifest(folder: Path, choices: Settings) -> Mapping[str, object]:
    plan = read_plan(load_study(str(folder / RUN / "study")))
    return {
        "version": CAPSULE_VERSION,
        "code_version": code_version(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "choices": asdict(choices),
        "plan_sha256": plan.sha256 if plan else None,
        "files": hash_files(folder),
    }


@cache
def lock_versions() -> str:
    """Return every installed distribution with its version, except Parallax itself."""
    versions = {
        distribution.metadata["Name"].lower(): distribution.version
        for distribution in distributions()
    }
    versions.pop(DISTRIBUTION, None)
    return "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def _make_readme() -> str:
    return _README.format(
        run=RUN, scores=SCORES, results=RESULTS, manifest=MANIFEST, lock=LOCK,
        code=code_version(), python=platform.python_version(), machine=platform.machine(),
    )  # fmt: skip


def write_zip(folder: Path, path: Path) -> None:
    """Write a folder as a ZIP file; the same files always give the same bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in hash_files(folder):
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (folder / name).read_bytes())
