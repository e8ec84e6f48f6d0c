"""Write an archive: a folder with the export in every format, complete or not at all."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.archive.croissant import write_croissant
from analysis.archive.deposit import write_deposits
from analysis.archive.frictionless import write_frictionless, write_psych_ds
from analysis.archive.metadata import Metadata, collect_metadata
from analysis.archive.package import Package, read_package
from analysis.archive.psychling.write import write_psychling
from analysis.archive.ro_crate import RO_CRATE_FILE, write_ro_crate
from analysis.archive.shown import collect_judged_items
from analysis.archive.tasks import write_tasks
from analysis.archive.traces import Kind, Trace, find_traces, rows_without
from analysis.errors import AnalysisError
from experiment.responses.registry import known_response
from experiment.studies.load import load_study
from experiment.studies.publication import AboutFile
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder

README = "README.md"
DATA, PSYCH_DS, PSYCHLING, DEPOSIT = "data", "psych-ds", "psychling-101", "deposit"
TASKS = ("lm_eval", "inspect")
_OWN_FILES = (README, DATA, PSYCH_DS, PSYCHLING, DEPOSIT, *TASKS, RO_CRATE_FILE)
_SESSIONS = f"""\
| `{PSYCHLING}/` | the sessions as prompts, as PsychLing-101 takes them, with the scripts |
"""
_README = """\
# {title}

{description}

| Folder or file | What it is |
|---|---|
| `{data}/` | the tables as a Data Package (Frictionless 2) and as Croissant 1.1 |
| `{psych_ds}/` | the tables as a Psych-DS data set |
{psychling}{tasks}| `{deposit}/` | the metadata that Zenodo and Dataverse take |
| `{crate}` | RO-Crate 1.2: every file, with its checksum |

Cite: {citation}

{people}
{statements}
What was coarsened before archiving: {coarsened}.
"""
_TASKS = """\
| `lm_eval/` | the items as a task of lm-evaluation-harness, with what people chose |
| `inspect/` | the items as a task of Inspect, with what people chose |
"""


@dataclass(frozen=True, slots=True)
class Source:
    """An export, read for an archive.

    Attributes:
        package: The tables.
        study: The study.
        traces: The parts that may identify a participant.
    """

    package: Package
    study: Study
    traces: Sequence[Trace]

    @property
    def kinds(self) -> set[Kind]:
        """The kinds of traces in the export."""
        return {trace.kind for trace in self.traces}


def read_source(export: Path) -> Source:
    """Read an export, verify its checksums, and find what may identify participants.

    Raises:
        ParallaxError: The folder is not an export, or was changed.
    """
    package = read_package(export)
    study = load_study(str(export / "study"))
    return Source(package, study, find_traces(package, study))


def write_archive(
    source: Source, about: AboutFile | None, coarsened: Collection[Kind], out: Path
) -> Metadata:
    """Write the archive, replacing an earlier archive in the folder; the export is not changed.

    Returns its metadata.

    Args:
        source: The export.
        about: Declarations for archives; they replace those of the study.
        coarsened: The kinds of traces to remove.
        out: The folder to write.

    Raises:
        AnalysisError: A required declaration is missing, or both folders are the same.
        WritingError: The folder contains other files, or cannot be written.
    """
    package, study = source.package, source.study
    if (
        out.resolve() == package.folder.resolve()
        or package.folder.resolve() in out.resolve().parents
    ):
        raise AnalysisError(
            "the archive would lie in the export itself", where=str(out), expected="another folder"
        )
    metadata = collect_metadata(package, study, about.publication if about else study.publication)
    rows = rows_without(package, study, coarsened)
    with atomic_folder(out, _OWN_FILES) as folder:
        write_frictionless(package, rows, metadata, folder / DATA)
        write_croissant(package, metadata, folder / DATA)
        write_psych_ds(package, rows, metadata, folder / PSYCH_DS)
        if _is_answered_at_once(study):
            write_psychling(package, rows, metadata, folder / PSYCHLING)
        if _shows_one_pair(study):
            write_tasks(collect_judged_items(package, study), metadata, folder)
        write_deposits(metadata, folder / DEPOSIT)
        (folder / README).write_text(
            _make_readme(metadata, study, coarsened), "utf-8", newline="\n"
        )
        write_ro_crate(metadata, folder)
    return metadata


def _make_readme(about: Metadata, study: Study, coarsened: Collection[Kind]) -> str:
    people = []
    for creator in about.creators:
        roles = f": {', '.join(creator.roles)}" if creator.roles else ""
        people.append(f"- {', '.join(filter(None, (creator.name, creator.affiliation)))}{roles}")
    return _README.format(
        title=about.title,
        description=about.description,
        data=DATA,
        psych_ds=PSYCH_DS,
        psychling=_SESSIONS if _is_answered_at_once(study) else "",
        deposit=DEPOSIT,
        crate=RO_CRATE_FILE,
        tasks=_TASKS if _shows_one_pair(study) else "",
        citation=about.citation,
        people="\n".join(people),
        statements="".join(f"\n{name}: {text}\n" for name, text in about.statements.items()),
        coarsened=", ".join(sorted(coarsened)) or "nothing",
    )


def _is_answered_at_once(study: Study) -> bool:
    """Return whether a trial is a prompt with one choice: not steps, tasks, text or a slider."""
    response = known_response(study)
    if response is None:
        return True
    has_more = response.step_table or response.types or response.details
    return bool(response.n_answers) and not has_more


def _shows_one_pair(study: Study) -> bool:
    """Return whether models can be given the items as pairs, by other programs."""
    response = known_response(study)
    return response is not None and response.shows_one_pair
