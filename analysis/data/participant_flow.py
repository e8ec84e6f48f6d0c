"""Count participants at each step: how many came, finished, were excluded and were kept."""

from dataclasses import dataclass, field

from analysis.data.load import ExportedRun
from experiment.exclusion.rules import reason
from experiment.participation import State


@dataclass(frozen=True, slots=True)
class Flow:
    """The number of participants at each step of a run.

    Attributes:
        recruited: Participants who opened the link.
        consented: Participants who gave consent; None if not recorded.
        finished: Participants who completed the session; None if not recorded.
        excluded: Excluded participants, by exclusion rule.
        kept: Participants in the analysis.
        simulated: The number of kept participants who were simulated.
        levels: For each between-participant factor and level: the numbers of kept participants and
            of participants with a place (participant slot on a list).
    """

    recruited: int
    consented: int | None
    finished: int | None
    excluded: dict[str, int]
    kept: int
    simulated: int
    levels: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    @property
    def levels_in_words(self) -> list[str]:
        """A sentence for each between-participant factor: the number kept at each level."""
        return [
            f"Kept by {factor}, which varies between participants: "
            + ", ".join(f"{level} {kept} of {placed}" for level, (kept, placed) in counts.items())
            + "."
            for factor, counts in self.levels.items()
        ]

    @property
    def exclusions(self) -> str:
        """The excluded participants, in words."""
        parts = [f"{count} for {reason(rule)}" for rule, count in self.excluded.items()]
        return ", ".join(parts) or "nobody"


def count_participants(run: ExportedRun) -> Flow:
    """Count a run's participants from arrival to analysis."""
    # Published judgments may lack participants.
    people = run.participants.dropna(subset="participant")
    verdicts = run.verdicts.dropna(subset="participant")
    # Judgments from other programs have no known launch time.
    recorded = run.facts.launched_at is not None
    kept = set(verdicts.loc[verdicts["kept"], "participant"])
    excluded = verdicts.loc[~verdicts["kept"], "rule"].value_counts().sort_index()
    return Flow(
        recruited=len(people),
        consented=int(people["consented_at"].notna().sum()) if recorded else None,
        finished=int((people["state"] == State.FINISHED).sum()) if recorded else None,
        excluded={str(rule): int(count) for rule, count in excluded.items()},
        kept=len(kept),
        simulated=int(people.loc[people["participant"].isin(kept), "simulated"].sum()),
        levels=_count_by_level(run, kept),
    )


def _count_by_level(run: ExportedRun, kept: set[str]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return for each factor and level the numbers of kept participants and of those on a list."""
    participants_with_place = run.participants.dropna(subset=["participant", "list"])
    of_list = {
        int(list_number): run.study.design.levels(int(list_number))
        for list_number in participants_with_place["list"].unique()
    }
    counts_by_factor = {}
    for factor, levels in run.study.design.factors.items():
        participant_levels = participants_with_place["list"].map(
            lambda list_number_, name=factor: of_list[int(list_number_)][name]
        )
        is_kept = participants_with_place["participant"].isin(kept)
        counts_by_factor[factor] = {
            run.study.analysis.label(factor, level): (
                int((is_kept & (participant_levels == level)).sum()),
                int((participant_levels == level).sum()),
            )
            for level in levels
        }
    return counts_by_factor
