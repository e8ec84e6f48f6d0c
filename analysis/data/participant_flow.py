"""How many participants came, stayed and were kept: what becomes of them before the analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from analysis.data.load import ExportedRun
from experiment.participation import State

# Why somebody is excluded, in the words of a paper.
_REASONS = {
    "max_errors": "too many errors",
    "max_error_rate": "too large a share of errors",
    "too_fast": "answering too fast",
    "too_slow": "answering too slowly",
    "too_late": "answering after the deadline",
    "same_side": "choosing one side too often",
    "rating_gap": "rating expected versions no higher than others",
    "incomplete": "missing answers",
    "not_native": "the answer about their languages",
    "failed_comprehension": "wrong answers about the instructions",
    "outlier": "answers far from everyone else's",
    "impossible_time": "reaction times longer than the server's clock allows",
    "timing_mismatch": "reaction times that contradict the answers' arrival",
    "device_change": "a change of device",
    "agent_likelihood": "records that look like those of a program",
    "any": "one of several reasons",
    "all": "several reasons together",
    "not": "the absence of what was required",
}
_JOINED = {"any": "; or ", "all": "; and "}
_SETTINGS = {"max_errors": "errors allowed", "max_error_rate": "share of errors allowed"}


def reason(rule: str) -> str:
    """Return in words why an exclusion rule excludes: "too many errors" for ``max_errors``."""
    return _REASONS.get(rule, rule.rpartition(":")[2].replace("_", " "))


def setting(key: str, value: object) -> str:
    """Return a rule's setting in words: "errors allowed: 1" for ``max_errors = 1``."""
    words = _SETTINGS.get(key, key.removesuffix("_ms").replace("_", " "))
    unit = " ms" if key.endswith("_ms") else ""
    return f"{words}: {_value(value)}{unit}"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def rule_in_words(rule: Mapping[str, object], titles: Mapping[str, str] | None = None) -> str:
    """Return an exclusion rule in words, with its settings and the rules that it is made of.

    Args:
        rule: The rule as study.toml has it; ``any``, ``all`` and ``not`` hold others in ``rules``.
        titles: The constructions' titles by their names.

    Returns:
        For instance "too many errors (errors allowed: 1)".
    """
    name = str(rule["rule"])
    inner = cast(Sequence[Mapping[str, object]], rule.get("rules", ()))
    parts = [rule_in_words(part, titles) for part in inner]
    if parts:
        return f"{reason(name)} ({_JOINED.get(name, '; ').join(parts)})"
    named = dict(rule)
    if titles and named.get("construction") in titles:
        named["construction"] = titles[str(named["construction"])]
    settings = [setting(key, value) for key, value in named.items() if key != "rule"]
    return f"{reason(name)} ({'; '.join(settings)})" if settings else reason(name)


@dataclass(frozen=True, slots=True)
class Flow:
    """Numbers of participants at each step of a run.

    Attributes:
        recruited: Opened the link.
        consented: Agreed to take part; None where nobody recorded it.
        finished: Completed the session; None likewise.
        excluded: Removed, by the rule that did so.
        kept: Enter the analysis.
        simulated: Of those kept, how many were programs.
        levels: Of each factor between participants, by level, how many were kept and how many had
            a place.
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
        """A sentence for each factor between participants: how many of each level were kept."""
        return [
            f"Kept by {factor}, which varies between participants: "
            + ", ".join(f"{level} {kept} of {placed}" for level, (kept, placed) in found.items())
            + "."
            for factor, found in self.levels.items()
        ]

    @property
    def exclusions(self) -> str:
        """The participants who were excluded, in words."""
        parts = [f"{count} for {reason(rule)}" for rule, count in self.excluded.items()]
        return ", ".join(parts) or "nobody"


def flow(run: ExportedRun) -> Flow:
    """Count a run's participants from arrival to analysis."""
    # Published judgments may come without the participants who gave them.
    people = run.participants.dropna(subset="participant")
    verdicts = run.verdicts.dropna(subset="participant")
    # Judgments from elsewhere were launched at no time that is known here.
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
        levels=_levels(run, kept),
    )


def _levels(run: ExportedRun, kept: set[str]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return for each factor and level how many participants were kept, of how many on a list."""
    placed = run.participants.dropna(subset=["participant", "list"])
    of_list = {int(one): run.study.design.levels(int(one)) for one in placed["list"].unique()}
    found = {}
    for factor, levels in run.study.design.factors.items():
        own = placed["list"].map(lambda one, name=factor: of_list[int(one)][name])
        stayed = placed["participant"].isin(kept)
        found[factor] = {
            level: (int((stayed & (own == level)).sum()), int((own == level).sum()))
            for level in levels
        }
    return found
