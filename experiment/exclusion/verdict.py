"""The verdict on one participant."""

from collections.abc import Sequence

from experiment.exclusion.answered import Answered
from experiment.exclusion.rules import load_rule
from experiment.records import Judgment, Verdict
from experiment.studies.study import Rule


def verdict(rules: Sequence[Rule], judgments: Sequence[Judgment]) -> Verdict:
    """Return the verdict of the first rule that excludes, or that every rule keeps.

    Args:
        rules: The study's exclusion rules in their order.
        judgments: The judgments of a participant who finished, one for each trial; an
            ``Answered`` for rules that read more than judgments.

    Returns:
        The verdict; its evidence is the excluding rule's, or that of all rules.

    Raises:
        StudyError: A rule has wrong parameters or counts what no trial has.
        UnknownNameError: A rule has an unknown name.
    """
    evidence, session = [], Answered.of(judgments)
    for rule in rules:
        kept, figures = load_rule(rule).judge(session)
        # What cannot be told (None) excludes nobody.
        if kept is not None and not kept:
            return Verdict(kept=False, rule=rule.rule, evidence=figures)
        evidence.append(figures)
    return Verdict(kept=True, rule="", evidence="; ".join(evidence) or "no rule to apply")
