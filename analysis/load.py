"""What a comparison starts from: an export folder and files of model scores."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path

import pandas as pd
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from analysis.errors import AnalysisError
from analysis.frames import open_parquet, read_exported, read_parquet
from experiment.schemas import ITEMS, PARTICIPANTS, RESPONSES, SCORES, TRIALS, VERDICTS
from experiment.studies.load import load_study
from experiment.studies.study import Study

_DESCRIPTION = "datapackage.json"
_PARTICIPANT_COLUMNS = ("participant", "simulated", "state", "list", "consented_at")
_TRIAL_COLUMNS = ("participant", "position", "item_id", "kind", "good_side")
_RESPONSE_COLUMNS = (
    "participant",
    "position",
    "item_id",
    "chosen_side",
    "chose_good",
    "rt_ms",
    "input_method",
)
_VERDICT_COLUMNS = ("participant", "kept", "rule")
_SCORE_COLUMNS = (
    "item_id",
    "construction",
    "condition",
    "contrast",
    "variant",
    "logprob_nats",
    "n_unknown",
)


class _Facts(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class RunFacts(_Facts):
    """What the export says about its run, under "parallax" in datapackage.json."""

    run: str
    study: str
    study_version: str
    seed: int
    materials_hash: str
    recruiter: str
    simulated: bool
    launched_at: AwareDatetime | None
    code_version: str
    rendering: str

    @property
    def launched(self) -> str:
        """When the run was launched, to the minute."""
        if self.launched_at is None:
            return "at an unknown time"
        return f"{self.launched_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


class ScoreFacts(_Facts):
    """What a score file says about itself, in its metadata.

    The study is empty where the items came from a file that names none, the selection where all
    items were scored, the certificate where nothing was computed in reduced precision. the reading
    where each sentence was read by itself.
    """

    model: str
    trained_on: str
    model_hash: str
    rendering: str
    study: str
    study_version: str
    materials_hash: str
    code_version: str
    selection: str = ""
    certificate: str = ""
    reading: str = ""

    @property
    def given(self) -> str:
        """How the model was given the sentences: the rendering, and the reading if there is one."""
        return f"{self.rendering}, {self.reading}" if self.reading else self.rendering


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """An export folder, read and checked; each frame has the columns that analyses need.

    Texts of trials and responses may be categorical: there may be millions of rows.
    """

    folder: Path
    facts: RunFacts
    study: Study
    items: pd.DataFrame
    participants: pd.DataFrame
    trials: pd.DataFrame
    responses: pd.DataFrame
    verdicts: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Scores:
    """A score file, read and checked: one row per item and version; texts may be categorical."""

    path: Path
    facts: ScoreFacts
    frame: pd.DataFrame


def load_run(folder: Path) -> ExportedRun:
    """Read an export folder.

    Raises:
        AnalysisError: The folder is no export, or its description lacks something.
        TableError: A table is missing or does not fit its schema.
        StudyError: The study folder inside is not sound.
    """
    facts = _run_facts(folder)
    return ExportedRun(
        folder=folder,
        facts=facts,
        study=load_study(str(folder / "study")),
        items=read_exported(ITEMS, folder, ITEMS.column_names),
        participants=read_exported(PARTICIPANTS, folder, _PARTICIPANT_COLUMNS),
        trials=read_exported(TRIALS, folder, _TRIAL_COLUMNS, coded=True),
        responses=read_exported(RESPONSES, folder, _RESPONSE_COLUMNS, coded=True),
        verdicts=read_exported(VERDICTS, folder, _VERDICT_COLUMNS),
    )


def _run_facts(folder: Path) -> RunFacts:
    path = folder / _DESCRIPTION
    if not path.is_file():
        raise AnalysisError(
            f"the folder holds no {_DESCRIPTION}",
            where=str(folder),
            expected="a folder that `parallax export RUN` wrote",
        )
    try:
        return RunFacts.model_validate(json.loads(path.read_text("utf-8"))["parallax"])
    except (ValueError, KeyError, TypeError) as error:
        raise _facts_error(error, path, 'its "parallax" entry') from error


def load_scores(path: Path) -> Scores:
    """Read a file of model scores.

    Raises:
        AnalysisError: The file does not say which model and materials it is about.
        TableError: The file is missing or does not fit the schema.
    """
    return Scores(path, score_facts(path), read_parquet(SCORES, path, _SCORE_COLUMNS, coded=True))


def score_facts(path: Path) -> ScoreFacts:
    """Read what a score file says about itself, and no scores.

    Raises:
        AnalysisError: It does not say which model and materials it is about.
        TableError: The file is missing or not Parquet.
    """
    metadata = open_parquet(SCORES, path).metadata.metadata or {}
    try:
        return ScoreFacts.model_validate({k.decode(): v.decode() for k, v in metadata.items()})
    except ValueError as error:
        raise _facts_error(error, path, "the Parquet file's metadata") from error


def load_all_scores(paths: Sequence[Path]) -> list[Scores]:
    """Read several score files, each of another model.

    Raises:
        AnalysisError: Two files are about one model, whose columns could not be told apart.
    """
    loaded = [load_scores(path) for path in paths]
    model, count = Counter(scores.facts.model for scores in loaded).most_common(1)[0]
    if count > 1:
        files = ", ".join(str(scores.path) for scores in loaded if scores.facts.model == model)
        raise AnalysisError(
            f'{count} score files are about a model "{model}"',
            where=files,
            remedy="Leave out all but one, or give the models different names",
        )
    return loaded


def _facts_error(error: Exception, path: Path, place: str) -> AnalysisError:
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False)
        problem = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in found)
    else:
        problem = f"it cannot be read ({error!r})"
    return AnalysisError(
        f"{place} does not say where the data comes from: {problem}",
        where=str(path),
        remedy="Write the file again with the command that made it",
    )
