"""Why an exclusion rule of a study can exclude nobody, whatever its participants answer."""

from collections.abc import Iterator

from experiment.authoring.findings import Examined
from experiment.authoring.powerless_trials import Powerless, of_trials
from experiment.exclusion.integrity import DeviceChange, TimingMismatch
from experiment.exclusion.questionnaire import FailedComprehension, Incomplete, NotNative
from experiment.exclusion.rules import ExclusionRule
from experiment.exclusion.selection import Selection
from experiment.exclusion.times import TooFast
from experiment.integrity.certificate import FEWEST_INTERVALS
from experiment.studies.question import FinalQuestion

# No session stores more.
MOST_DEVICES = 20


def powerless(examined: Examined, rule: ExclusionRule) -> Iterator[Powerless]:
    """Yield why a rule can exclude nobody; the rules that it is made of are asked by themselves."""
    if isinstance(rule, Selection):
        yield from of_trials(examined, rule)
    if isinstance(rule, TooFast):
        yield from _lockout(examined, rule)
    if isinstance(rule, NotNative | FailedComprehension):
        yield from _of_questions(examined, rule)
    longest = max(map(len, examined.built.lists), default=0) if examined.built else 0
    if isinstance(rule, Incomplete):
        yield from _incomplete(examined, rule, longest)
    if isinstance(rule, TimingMismatch) and 0 < longest <= FEWEST_INTERVALS:
        yield Powerless(
            f"it compares {FEWEST_INTERVALS} or more answers with the answer before them, but a "
            f"list has only {longest} trials", "rule",
        )  # fmt: skip
    if isinstance(rule, DeviceChange) and rule.max_devices >= MOST_DEVICES:
        yield Powerless(f"at most {MOST_DEVICES} devices are stored", "max_devices",
                        f"max_devices below {MOST_DEVICES}")  # fmt: skip


def _lockout(examined: Examined, rule: TooFast) -> Iterator[Powerless]:
    """Yield a time in which no press counts at all."""
    key = "below_ms" if rule.below_ms is not None else "min_median_ms"
    bound, lockout = rule.below_ms or rule.min_median_ms or 0, examined.study.trial.lockout_ms
    if bound <= lockout:
        yield Powerless(f"no press counts in the first {lockout} ms", key, f"more than {lockout}")


def _of_questions(examined: Examined, rule: NotNative | FailedComprehension) -> Iterator[Powerless]:
    asked = {one.name: one for one in examined.study.questionnaire}
    read = rule.right_answers
    if not set(read) <= set(asked):
        # An unknown question is named by itself.
        return
    n = sum(_can_fail(asked[name], accepted) for name, accepted in read.items())
    if isinstance(rule, NotNative) and not n:
        yield Powerless(f'it accepts every answer that "{rule.question}" offers', "accepted",
                        "an answer less")  # fmt: skip
    if isinstance(rule, FailedComprehension) and rule.max_wrong >= n:
        fewer = f"max_wrong below {n}" if n else "questions that offer a wrong answer"
        yield Powerless(
            f"it allows {rule.max_wrong} wrong answers, and {n} can be wrong", "rule", fewer
        )


def _can_fail(question: FinalQuestion, accepted: tuple[str, ...]) -> bool:
    """Return whether somebody who finishes can give another answer, or none."""
    right = {one.strip().casefold() for one in accepted}
    offered = {one.strip().casefold() for one in question.offered}
    chosen = question.type in ("choice", "scale") and offered <= right
    return _may_be_empty(question) or not chosen


def _may_be_empty(question: FinalQuestion) -> bool:
    return not question.required or bool(question.when or question.only_if)


def _incomplete(examined: Examined, rule: Incomplete, longest: int) -> Iterator[Powerless]:
    if longest and rule.max_missing_trials >= longest:
        yield Powerless(f"it allows {rule.max_missing_trials} missing trials of {longest}", "rule",
                        f"max_missing_trials below {longest}")  # fmt: skip
    most = sum(map(_may_be_empty, examined.study.questionnaire))
    if rule.max_missing_answers is not None and rule.max_missing_answers >= most:
        yield Powerless(
            f"it allows {rule.max_missing_answers} missing answers, and {most} of the questions "
            "may be left out", "max_missing_answers",
            f"max_missing_answers below {most}" if most else "a question that is not required",
        )  # fmt: skip
