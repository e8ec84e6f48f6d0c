"""How many participants came, stayed and were kept: what becomes of them before the analysis."""

from dataclasses import dataclass

from analysis.load import ExportedRun
from experiment.participation import State


@dataclass(frozen=True, slots=True)
class Flow:
    """Numbers of participants at each step of a run.

    Attributes:
        recruited: Opened the link.
        consented: Agreed to take part.
        finished: Completed the session.
        excluded: Removed, by the rule that did so.
        kept: Enter the analysis.
        simulated: Of those kept, how many were programs.
    """

    recruited: int
    consented: int
    finished: int
    excluded: dict[str, int]
    kept: int
    simulated: int

    @property
    def exclusions(self) -> str:
        """Who was excluded, in words."""
        parts = [f"{count} by {rule}" for rule, count in self.excluded.items()]
        return ", ".join(parts) or "nobody"


def flow(run: ExportedRun) -> Flow:
    """Count a run's participants from arrival to analysis."""
    # Published judgments may come without the participants who gave them.
    people = run.participants.dropna(subset="participant")
    verdicts = run.verdicts.dropna(subset="participant")
    kept = set(verdicts.loc[verdicts["kept"], "participant"])
    excluded = verdicts.loc[~verdicts["kept"], "rule"].value_counts().sort_index()
    return Flow(
        recruited=len(people),
        consented=int(people["consented_at"].notna().sum()),
        finished=int((people["state"] == State.FINISHED).sum()),
        excluded={str(rule): int(count) for rule, count in excluded.items()},
        kept=len(kept),
        simulated=int(people.loc[people["participant"].isin(kept), "simulated"].sum()),
    )
