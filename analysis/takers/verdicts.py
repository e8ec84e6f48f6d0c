"""The study's exclusion rules applied to sittings."""

from collections.abc import Iterator, Sequence

from analysis.takers.plan import Plan
from analysis.takers.taking import Sitting
from experiment.errors import StudyError
from experiment.exclusion.answered import Answered, Everyone
from experiment.exclusion.rules import verdict
from experiment.records import Judgment, Verdict


def verdict_rows(plan: Plan, sittings: Sequence[Sitting]) -> Iterator[dict[str, object]]:
    """Yield a row for each sitting: what the rules say that say it of people."""
    answered = [_answered(plan, sitting) for sitting in sittings]
    everyone = Everyone(answered)
    for sitting, own in zip(sittings, answered, strict=True):
        decided = _decided(plan, own.among(everyone))
        yield {
            "participant": sitting.ref,
            "kept": decided.kept,
            "rule": decided.rule,
            "evidence": decided.evidence,
        }


def _decided(plan: Plan, own: Answered) -> Verdict:
    try:
        return verdict(plan.source.study.exclusion, own)
    except StudyError:
        if own.n_trials == len(own):
            raise
        # A rule that counts what none of the answers was about, because they could not be read.
        evidence = f"{len(own)} of {own.n_trials} trials have a readable answer"
        return Verdict(kept=False, rule="unreadable", evidence=evidence)


def _answered(plan: Plan, sitting: Sitting) -> Answered:
    judgments = tuple(
        Judgment(
            position=read.trial.trial.position,
            item_id=read.trial.trial.item_id,
            kind=read.trial.trial.kind,
            construction=read.trial.entry.item.construction,
            rt_ms=None,
            condition=read.trial.entry.item.condition,
            extra=read.trial.entry.item.extra,
            **plan.screens.response.judged(read.trial.arrangement, read.given).fields(),
        )
        for read in sitting.read
        if read.given is not None
    )
    return Answered(judgments, n_trials=len(sitting.read))
