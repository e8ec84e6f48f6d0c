"""What the checklist's answers rest on, counted in the export once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.data.frames import read_exported
from analysis.data.load import ExportedRun
from analysis.tables.provenance import Provenance
from experiment.errors import TableError
from experiment.money import major_units
from experiment.studies.publication import Baseline, Publication
from experiment.tables.column import TableSchema
from experiment.tables.schemas import ENDINGS, PARTICIPANTS, PAYMENTS


@dataclass(frozen=True, slots=True)
class Facts:
    """A comparison as the checklist asks about it.

    Attributes:
        run: The exported run.
        origin: Where the numbers come from.
        judgments: The judgments of those kept.
        publication: What was declared for archives.
        baseline: What was declared for the checklist.
        payments: The export's table; None where there is none.
        endings: The same.
        minutes: The median time from consent to the end; None where unknown.
        contexts: What stood before each trial where a model took the session, by model.
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
        """Whether Parallax itself ran the study, so that what the export lacks did not happen."""
        return self.run.facts.launched_at is not None

    @property
    def compared(self) -> bool:
        """Whether any model is compared."""
        return bool(self.origin.models) or bool(self.contexts)

    @property
    def kept(self) -> set[str]:
        """The participants whom no rule excluded."""
        return set(self.run.verdicts.loc[self.run.verdicts["kept"], "participant"])

    @property
    def per_item(self) -> "pd.Series[int]":
        """How many judgments each item has."""
        return self.judgments.groupby("item_id", observed=True).size()

    @property
    def per_participant(self) -> "pd.Series[int]":
        """How many judgments each kept participant gave, where participants are known."""
        known = self.judgments.dropna(subset="participant")
        return known.groupby("participant", observed=True).size()


def facts_of(
    run: ExportedRun,
    origin: Provenance,
    judgments: pd.DataFrame,
    *,
    publication: Publication,
    baseline: Baseline,
    contexts: Mapping[str, tuple[str, ...]],
    robust: bool,
) -> Facts:
    """Return what the answers rest on."""
    return Facts(
        run=run,
        origin=origin,
        judgments=judgments,
        publication=publication,
        baseline=baseline,
        payments=_table(PAYMENTS, run.folder),
        endings=_table(ENDINGS, run.folder),
        minutes=_minutes(run),
        contexts=contexts,
        robust=robust,
    )


def _table(schema: TableSchema, folder: Path) -> pd.DataFrame | None:
    """Return a table of the export; None where it has none, as data from elsewhere."""
    if not folder.is_dir():
        return None
    try:
        return read_exported(schema, folder, schema.column_names)
    except TableError:
        return None


def _minutes(run: ExportedRun) -> float | None:
    people = _table(PARTICIPANTS, run.folder)
    # Programs do not wait as long as the times that they claim.
    if people is None or run.facts.simulated:
        return None
    kept = run.verdicts.loc[run.verdicts["kept"], "participant"]
    timed = people[people["participant"].isin(kept)].dropna(subset=["consented_at", "finished_at"])
    if timed.empty:
        return None
    passed = pd.to_datetime(timed["finished_at"]) - pd.to_datetime(timed["consented_at"])
    return float(passed.dt.total_seconds().median() / 60)


def paid(payments: pd.DataFrame) -> dict[str, str]:
    """Return by what was paid for: how many payments, and the amounts, in words."""
    found = {}
    for what, rows in payments.groupby("paid_for", observed=True):
        sums = sorted(set(zip(rows["amount_minor"], rows["currency"], strict=True)))
        amounts = ", ".join(f"{major_units(int(minor), str(code))} {code}" for minor, code in sums)
        found[str(what)] = f"{len(rows)} of {amounts}"
    return found
