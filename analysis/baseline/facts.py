"""Count once, from the export, the facts that the checklist's answers are based on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.data.frames import read_exported_table
from analysis.data.load import ExportedRun
from analysis.tables.provenance import Provenance
from experiment.errors import TableError
from experiment.money import major_units
from experiment.studies.publication import Baseline, Publication
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ENDINGS, PARTICIPANTS, PAYMENTS


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a comparison that the checklist asks for.

    Attributes:
        run: The exported run.
        origin: The origin of the numbers.
        judgments: The judgments of kept participants.
        publication: The declarations for archives.
        baseline: The declarations for the checklist.
        payments: The export's table of payments; None if it has none.
        endings: The export's table of endings; None if it has none.
        minutes: The median time from consent to the end; None if unknown.
        contexts: The text before each trial for each model participant, by model.
        robust: Whether the report repeats its numbers under other exclusion rules.
    """

    run: ExportedRun
    origin: Provenance
    judgments: pd.DataFrame
    publication: Publication
    baseline: Baseline
    payments: pd.DataFrame | None
    endings: pd.DataFrame | None
    minutes: float | None
    contexts: Mapping[str, tuple[str, ...]]
    robust: bool

    @property
    def recorded(self) -> bool:
        """Whether Parallax ran the study: then anything missing from the export did not happen."""
        return self.run.facts.launched_at is not None

    @property
    def compared(self) -> bool:
        """Whether the comparison includes a model."""
        return bool(self.origin.models) or bool(self.contexts)

    @property
    def kept(self) -> set[str]:
        """The kept participants: no exclusion rule removed them."""
        return set(self.run.verdicts.loc[self.run.verdicts["kept"], "participant"])

    @property
    def per_item(self) -> "pd.Series[int]":
        """The number of judgments of each item."""
        return self.judgments.groupby("item_id", observed=True).size()

    @property
    def per_participant(self) -> "pd.Series[int]":
        """The number of judgments of each kept participant, if participants are known."""
        with_participant = self.judgments.dropna(subset="participant")
        return with_participant.groupby("participant", observed=True).size()


def collect_facts(
    run: ExportedRun,
    origin: Provenance,
    judgments: pd.DataFrame,
    *,
    publication: Publication,
    baseline: Baseline,
    contexts: Mapping[str, tuple[str, ...]],
    robust: bool,
) -> Facts:
    """Collect the facts from a run and its declarations."""
    return Facts(
        run=run,
        origin=origin,
        judgments=judgments,
        publication=publication,
        baseline=baseline,
        payments=_read_table(PAYMENTS, run.folder),
        endings=_read_table(ENDINGS, run.folder),
        minutes=_median_minutes(run),
        contexts=contexts,
        robust=robust,
    )


def _read_table(schema: TableSchema, folder: Path) -> pd.DataFrame | None:
    """Return a table of the export; None if it is missing, as in data from other programs."""
    if not folder.is_dir():
        return None
    try:
        return read_exported_table(schema, folder, schema.column_names)
    except TableError:
        return None


def _median_minutes(run: ExportedRun) -> float | None:
    people = _read_table(PARTICIPANTS, run.folder)
    # Simulated participants do not actually wait for their reported reaction times.
    if people is None or run.facts.simulated:
        return None
    kept_participants = run.verdicts.loc[run.verdicts["kept"], "participant"]
    timed_people = people[people["participant"].isin(kept_participants)].dropna(
        subset=["consented_at", "finished_at"]
    )
    if timed_people.empty:
        return None
    durations = pd.to_datetime(timed_people["finished_at"]) - pd.to_datetime(
        timed_people["consented_at"]
    )
    return float(durations.dt.total_seconds().median() / 60)


def summarise_payments(payments: pd.DataFrame) -> dict[str, str]:
    """Return the number of payments and their amounts, in words, by purpose."""
    payments_by_purpose = {}
    for purpose, rows in payments.groupby("paid_for", observed=True):
        sums = sorted(set(zip(rows["amount_minor"], rows["currency"], strict=True)))
        amounts = ", ".join(f"{major_units(int(minor), str(code))} {code}" for minor, code in sums)
        payments_by_purpose[str(purpose)] = f"{len(rows)} of {amounts}"
    return payments_by_purpose
