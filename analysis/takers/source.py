"""The study whose sessions are taken, with its audited lists, by itself or as exported."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import AnalysisError
from experiment.authoring.check import require_sound
from experiment.design.lists import BuiltLists
from experiment.studies.files import study_files
from experiment.studies.load import load_study
from experiment.studies.study import Study

_DESCRIPTION = "datapackage.json"


@dataclass(frozen=True, slots=True)
class Source:
    """The study whose sessions are taken.

    Attributes:
        study: The study.
        built: Its lists, which passed the audit.
        export: The run's export folder where one was named; None for a study.
    """

    study: Study
    built: BuiltLists
    export: Path | None = None

    @property
    def files_hash(self) -> str:
        """What changes when any of the study's files does."""
        digest = hashlib.sha256()
        for name, content in sorted(study_files(self.study).items()):
            digest.update(f"{name}\n{hashlib.sha256(content).hexdigest()}\n".encode())
        return digest.hexdigest()


def find_source(named: str, seed: int | None) -> Source:
    """Return a study with its lists, or those of the run that an export folder holds.

    Args:
        named: A built-in study, a study folder, or an export folder.
        seed: The seed of the lists; None for the run's own, or 1.

    Raises:
        ParallaxError: There is no such study, it has a mistake, its lists fail the audit, or the
            export's study gives other materials than the run had.
    """
    export = Path(named)
    if not (export / _DESCRIPTION).is_file():
        study = load_study(named)
        return Source(study, require_sound(study, 1 if seed is None else seed))
    facts = json.loads((export / _DESCRIPTION).read_text("utf-8")).get("parallax", {})
    study = load_study(str(export / "study"))
    if seed is not None and seed != facts.get("seed"):
        raise AnalysisError(
            f"the run has the seed {facts.get('seed')}, but --seed is {seed}",
            where=named,
            remedy="Leave --seed out to take the sessions that the run's people had",
        )
    built = require_sound(study, int(facts["seed"]))
    if built.materials_hash != facts.get("materials_hash"):
        raise AnalysisError(
            f"the materials have changed since the run: their hash is {built.materials_hash[:12]}, "
            f"the run's {str(facts.get('materials_hash'))[:12]}",
            where=str(export / "study"),
            expected="the study as it was exported",
            remedy="Export the run again, or name the study itself to take its sessions of today",
        )
    return Source(study, built, export)
