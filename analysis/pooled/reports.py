"""Read the results of several reports, and check that they answer the same questions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.data.facts import RunFacts
from analysis.errors import AnalysisError
from analysis.findings.comparison_words import NAME as COMPARISONS
from analysis.report.write import RESULTS
from experiment.authoring.words import usual_tag

# What must be the same for two answers to be answers to one question.
_SAME = ("compared", "measure", "response", "scale", "covariates", "regions", "role", "one_sided")
_DEVIATION, _NONE = "deviation", "-"


class _Facts(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Participants(_Facts):
    excluded: dict[str, int]
    kept: int


class _Model(_Facts):
    model: str
    model_hash: str = ""


class _Origin(_Facts):
    simulated: bool
    language: str = ""
    run: RunFacts
    participants: _Participants
    n_judgments: int
    n_items: int
    models: tuple[_Model, ...] = ()


class _Accuracy(_Facts):
    by_construction: list[dict[str, object]]


class _Results(_Facts):
    provenance: _Origin
    accuracy: _Accuracy
    tables: dict[str, list[dict[str, object]]]
    statistics: dict[str, list[dict[str, object]]]


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one language or site.

    Attributes:
        name: The name of the report's folder.
        origin: Where its numbers come from.
        comparisons: The study's comparisons with their results, as ``comparisons.answered``.
        accuracies: Accuracies in long form, for each construction.
        deviations: The names of the lines of its frozen plan that were not kept; None without a
            plan.
    """

    name: str
    origin: _Origin
    comparisons: pd.DataFrame
    accuracies: pd.DataFrame
    deviations: tuple[str, ...] | None

    @property
    def language(self) -> str:
        """The language's tag in its usual form, so that "deu" and "de" are one."""
        return usual_tag(self.origin.language) if self.origin.language else ""

    def to_row(self) -> dict[str, object]:
        """Return what a table says of the report."""
        run, people = self.origin.run, self.origin.participants
        deviations = "no plan" if self.deviations is None else ", ".join(self.deviations) or "none"
        return {
            "label": self.name,
            "language": self.language,
            "study": f"{run.study} {run.study_version}",
            "recruiter": run.recruiter,
            "kept": people.kept,
            "excluded": sum(people.excluded.values()),
            "n_items": self.origin.n_items,
            "n_judgments": self.origin.n_judgments,
            "deviations": deviations,
        }


def read_report(folder: Path) -> Report:
    """Read the results that ``parallax compare`` wrote into a folder.

    Raises:
        AnalysisError: The folder has none, or the study answered no comparison.
    """
    path = folder / RESULTS
    try:
        results = _Results.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise AnalysisError(
            "the folder holds no results of a comparison",
            where=str(path),
            expected="a folder that `parallax compare --out` wrote",
            remedy="Compare each language's run first; a study of several tasks has a folder for "
            "each task: pool one task of all languages at a time",
        ) from error
    comparisons = pd.DataFrame(results.statistics.get(COMPARISONS, []))
    if comparisons.empty or "standard_error" not in comparisons:
        raise AnalysisError(
            "the report answers no comparison"
            if comparisons.empty
            else "the report was written by an earlier version, without standard errors",
            where=str(path),
            expected="comparisons with their standard errors",
            remedy="Run `parallax compare` again"
            + (", of a study that declares [[comparisons]]" if comparisons.empty else ""),
        )
    plan = results.tables.get("plan")
    kept = [str(row["label"]) for row in plan or [] if row[_DEVIATION] != _NONE]
    return Report(
        folder.resolve().name,
        results.provenance,
        comparisons,
        pd.DataFrame(results.accuracy.by_construction),
        None if plan is None else tuple(kept),
    )


def read_reports(folders: Sequence[Path]) -> list[Report]:
    """Read several reports.

    Raises:
        AnalysisError: There are fewer than two, two have one name or one run, or two answers of one
            name have different questions.
    """
    reports = _name_by_run(folders, [read_report(folder) for folder in folders])
    if len(reports) < 2:
        raise AnalysisError(
            f"{len(reports)} report is given",
            expected="two or more, one for each language or site",
        )
    for what, values in (
        ("name", [report.name for report in reports]),
        ("run", [report.origin.run.run for report in reports]),
    ):
        if double := next((value for value in values if values.count(value) > 1), None):
            raise AnalysisError(
                f'two reports have the {what} "{double}"',
                expected="a folder of its own name for each language or site, with its own run",
            )
    first, *others = reports
    for other in others:
        _refuse_other_questions(first, other)
    return reports


def name_own_models(reports: Sequence[Report]) -> dict[str, str]:
    """Return a better name for each name that is not the same model in all reports.

    A model trained on each language often has its type's name in every report. Models without a
    hash, such as those of imported scores, are taken to be the same.
    """
    hashes = defaultdict[str, set[str]](set)
    for report in reports:
        for model in report.origin.models:
            hashes[model.model] |= {model.model_hash} - {""}
    several = (name for name, of_name in hashes.items() if len(of_name) > 1)
    return {name: f"the report's own {name}" for name in several}


def _name_by_run(folders: Sequence[Path], reports: list[Report]) -> list[Report]:
    """Return the reports of one task of sessions with several tasks by the names of their runs.

    Each task has its own folder within that of the run, so all of these folders have one name.
    """
    parents = [folder.resolve().parent.name for folder in folders]
    if len({report.name for report in reports}) > 1 or len({*parents}) < len(parents):
        return reports
    return [replace(report, name=name) for report, name in zip(reports, parents, strict=True)]


def _refuse_other_questions(first: Report, second: Report) -> None:
    by_name = [
        report.comparisons.drop_duplicates("name").set_index("name") for report in (first, second)
    ]
    for name in by_name[0].index.intersection(by_name[1].index):
        rows = [rows.loc[name] for rows in by_name]
        same = [key for key in _SAME if all(key in row for row in rows)]
        if different := [key for key in same if rows[0][key] != rows[1][key]]:
            key = different[0]
            raise AnalysisError(
                f'"{name}" is not the same question in {first.name} and {second.name}: its {key} '
                f'is "{rows[0][key]}" and "{rows[1][key]}"',
                expected="the same declaration in every study.toml",
                remedy="Declare it alike, compare the runs again, or name the comparisons "
                "differently if they ask different questions",
            )
