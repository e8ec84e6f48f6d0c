"""Rules that exclude implausible sessions, if a study declares them; see docs/integrity.md."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field, NonNegativeInt, PositiveInt

from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.exclusion.base import Answered, Assessment, BaseRule, PlannedStudy, never
from experiment.integrity.certificate import FEWEST_INTERVALS, Certificate
from experiment.integrity.observed import TOLERANCE_MS
from experiment.integrity.rates import (
    LIMIT,
    METHODS,
    SCORE_NAME,
    is_safe,
    is_unfair,
    unmeasured_types,
)
from experiment.records import Judgment
from experiment.responses.answer import Gives
from experiment.responses.base import ResponseType

_NO_RECORD = "no record of how the session was answered"
# A session stores at most this many devices.
MOST_DEVICES = 20


def list_tasks(session_type: ResponseType | None) -> list[ResponseType]:
    """Return the types of response of a session's trials: several in a mixed session."""
    if session_type is None:
        return []
    return list(session_type.types.values()) or [session_type]


class IntegrityRule(BaseRule):
    """Base class of rules that read a session's certificate; without one they exclude nobody."""

    needs_certificate: ClassVar[bool] = True
    # The rule's name among the measured rates, where it differs.
    rate_name: ClassVar[str] = ""
    reads_targets: ClassVar[bool] = False

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the certificate is within the rule's bounds, and its figures."""
        certificate = Answered.of(judgments).certificate
        if certificate is None:
            return None, _NO_RECORD
        is_kept, evidence = self.assess(certificate)
        if is_kept is False and self.is_unfair_to(certificate):
            unmeasured = unmeasured_types(self.rate_name or self.name, certificate.types)
            reason = (
                f"nobody measured how often it speaks against honest people in trials of the type"
                f" {', '.join(unmeasured)}"
                if unmeasured
                else f"it may speak against more than {LIMIT:.0%} of the people who answer in "
                "this way"
            )
            return None, f"not counted, because {reason}: {evidence}"
        return is_kept, evidence

    def is_unfair_to(self, certificate: Certificate) -> bool:
        """Return whether the rule is known to speak against too many people of this kind.

        The kind is the types of response, the ways of input and the number of answers.
        """
        return is_unfair(
            self.rate_name or self.name,
            certificate.types,
            certificate.methods,
            certificate.n_answers,
        )

    def assess(self, certificate: Certificate) -> Assessment:
        """Return whether a certificate is within the rule's bounds, and its figures."""
        raise NotImplementedError

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report the types of response and ways of input for which the rule excludes nobody."""
        types = {type_.measured_name for type_ in list_tasks(planned.session_type)}
        name = self.rate_name or self.name
        if unmeasured := unmeasured_types(name, types):
            yield StudyNote(
                "the rule excludes nobody in this study: its error rate on honest "
                f"people was never measured for the type of response {', '.join(unmeasured)}",
                where="rule",
                expected="a rule that does not depend on the type of response, or a type that"
                " Parallax has",
            )
            return
        unfair = [way for way in METHODS if is_unfair(name, types, {way}, planned.longest)]
        if unfair:
            yield StudyNote(
                f"the rule excludes nobody who answers by {', '.join(unfair)}: it may flag more "
                f"than {LIMIT:.0%} of honest people who answer that way",
                where="rule",
                expected="a rule that no honest person fails",
            )


class ImpossibleTime(IntegrityRule):
    """Excludes participants who claim impossibly long or impossibly early times."""

    name: ClassVar[str] = "impossible_time"
    reason: ClassVar[str] = "reaction times longer than the server's clock allows"
    max_excess_ms: float = Field(
        default=TOLERANCE_MS,
        ge=0,
        description="by how many milliseconds the claimed times may exceed the time passed",
    )
    max_too_early: NonNegativeInt = Field(
        default=0, description="the most answers with a time too early for the page to accept"
    )

    def assess(self, certificate: Certificate) -> Assessment:
        """Return whether the claimed times fit between the consent and the answers' arrival."""
        early, excess, elapsed = (
            certificate.n_too_early,
            certificate.excess_ms,
            certificate.elapsed_ms,
        )
        if excess is None or elapsed is None:
            return None, "no reaction time was sent"
        is_kept = excess <= self.max_excess_ms and early <= self.max_too_early
        return is_kept, (
            f"{certificate.claimed_ms / 1000:.1f} s claimed, {elapsed / 1000:.1f} s passed "
            f"from the consent to the last answer; {max(0.0, excess):.0f} ms too much at one "
            f"point, at most {self.max_excess_ms:g} allowed; {early} answers too early for a "
            f"press to count, at most {self.max_too_early} allowed"
        )


class TimingMismatch(IntegrityRule):
    """Excludes participants whose claimed times do not match the arrival of their answers."""

    name: ClassVar[str] = "timing_mismatch"
    reason: ClassVar[str] = "reaction times that contradict the answers' arrival"
    needs: ClassVar[Gives | None] = Gives.WHOLE_TIME
    max_share: float = Field(
        default=0.25,
        ge=0,
        lt=1,
        description="the largest share of answers that contradict their arrival",
    )

    def assess(self, certificate: Certificate) -> Assessment:
        """Return whether few enough answers are more than a second off their claimed time."""
        share, n = certificate.mismatch_share, certificate.n_intervals
        if share is None:
            return None, f"only {n} answers can be compared with their arrival"
        # A slow connection delays answers by varying amounts, but not in the median.
        usual = certificate.unexplained_ms or 0.0
        return share <= self.max_share or abs(usual) <= TOLERANCE_MS, (
            f"{share:.1%} of {n} claimed times lie more than {TOLERANCE_MS:g} ms from what the"
            f" server saw, {usual:.0f} ms in the median; at most {self.max_share:.1%} allowed, or"
            f" {TOLERANCE_MS:g} ms in the median"
        )

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that every list has too few trials to compare."""
        yield from super().powerless(planned)
        if 0 < planned.longest <= FEWEST_INTERVALS:
            yield never(
                f"it compares {FEWEST_INTERVALS} or more answers with the answer before them, but "
                f"a list has only {planned.longest} trials"
            )


class DeviceChange(IntegrityRule):
    """Excludes participants whose session was opened on too many devices."""

    name: ClassVar[str] = "device_change"
    reason: ClassVar[str] = "a change of device"
    max_devices: PositiveInt = Field(default=1, description="the most devices allowed")

    def assess(self, certificate: Certificate) -> Assessment:
        """Return whether the session was opened on few enough devices."""
        n = certificate.n_devices
        if not n:
            return None, "no device was recorded"
        return n <= self.max_devices, f"{n} devices; at most {self.max_devices} allowed"

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that no session stores enough devices to exceed the limit."""
        if self.max_devices >= MOST_DEVICES:
            yield never(
                f"at most {MOST_DEVICES} devices are stored",
                "max_devices",
                f"max_devices below {MOST_DEVICES}",
            )


class AgentLikelihood(IntegrityRule):
    """Flags sessions whose records resemble a program's; excludes them only with ``automatic``."""

    name: ClassVar[str] = "agent_likelihood"
    reason: ClassVar[str] = "records that look like those of a program"
    # One of the signals compares the side of each answer with the previous side.
    reads_targets: ClassVar[bool] = True
    rate_name: ClassVar[str] = SCORE_NAME
    max_likelihood: float = Field(
        default=0.5, gt=0, lt=1, description="the greatest score allowed, from 0 to 1"
    )
    automatic: bool = Field(
        default=False,
        description="whether the rule excludes without a person's decision; consent says so",
    )

    def judge(self, judgments: Sequence[Judgment]) -> Assessment:
        """Return whether the score is within bounds; only ``automatic`` rules exclude by it."""
        is_kept, evidence = super().judge(judgments)
        if is_kept is not False:
            return is_kept, evidence
        if not self.automatic:
            return None, f"proposed, for a person to decide: {evidence}"
        certificate = Answered.of(judgments).certificate
        assert certificate is not None
        measured = certificate.is_measured
        if not measured or not is_safe(SCORE_NAME, certificate.methods, certificate.n_answers):
            return None, (
                f"proposed, for a person to decide, because more than {LIMIT:.0%} of the people "
                f"who answer in this way may be flagged wrongly, or nobody knows: {evidence}"
            )
        return is_kept, evidence

    def assess(self, certificate: Certificate) -> Assessment:
        """Return whether the score is within bounds, and the signals that contributed most."""
        score = certificate.agent_likelihood
        if score is None:
            return None, "nothing was measured"
        strongest_signals = sorted(certificate.signals, key=lambda signal: -signal[1])[:3]
        signals = ", ".join(f"{name} {nats:+.1f}" for name, nats in strongest_signals if nats > 0)
        return score <= self.max_likelihood, (
            f"score {score:.3f}{f' ({signals})' if signals else ''}; at most"
            f" {self.max_likelihood:g} allowed"
        )

    def powerless(self, planned: PlannedStudy) -> Iterator[ParallaxError]:
        """Report that the rule only proposes exclusions, or cannot safely exclude automatically."""
        yield from super().powerless(planned)
        default, longest = type(self).model_fields["max_likelihood"].default, planned.longest
        if self.max_likelihood < default:
            yield StudyNote(
                f"the bound {self.max_likelihood:g} is below {default:g}, which at most one in a"
                " hundred simulated people exceeds: more people than that may be excluded",
                where="max_likelihood",
                expected=f"{default:g} or more",
            )
        if not self.automatic:
            yield StudyNote(
                "the rule can never exclude anyone by itself: it only proposes exclusions, and "
                "a person decides",
                where="rule",
                expected="automatic = true, if it should exclude without a person's decision",
            )
            return
        tasks = list_tasks(planned.session_type)
        unmeasured = sorted({type_.name for type_ in tasks if Gives.ONE_PRESS not in type_.gives})
        if unmeasured:
            yield StudyError(
                "the score may not exclude people by itself: its error rate on honest "
                f"people was never measured for the type of response {', '.join(unmeasured)}",
                where="automatic",
                expected="automatic = false, so that a person decides",
            )
            return
        unsafe = [method for method in METHODS if not is_safe(SCORE_NAME, {method}, longest)]
        if longest and unsafe:
            kind = StudyError if unsafe == list(METHODS) else StudyNote
            yield kind(
                f"the score may not exclude people by itself who answer by {', '.join(unsafe)}: it"
                f" is unknown for sessions of {longest} trials, or not known to be rare, how often"
                " it flags them wrongly",
                where="automatic",
                expected="a study of at least 8 trials, or automatic = false",
            )


_DEFAULT_RULES: dict[str, IntegrityRule] = {
    "impossible_time": ImpossibleTime(),
    "timing_mismatch": TimingMismatch(),
    "device_change": DeviceChange(),
    "agent_likelihood": AgentLikelihood(),
}


def flags(certificate: Certificate) -> dict[str, str]:
    """Return the integrity rules whose default bounds a session exceeds, with their figures.

    Flags exclude nobody; only rules that the study declares do.
    """
    assessments = {
        name: rule.assess(certificate)
        for name, rule in _DEFAULT_RULES.items()
        if not rule.is_unfair_to(certificate)
    }
    return {name: evidence for name, (is_kept, evidence) in assessments.items() if is_kept is False}
