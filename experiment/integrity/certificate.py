"""The certificate of a session: figures computed from its records."""

from dataclasses import dataclass
from statistics import median

from experiment.integrity.agent import (
    counted,
    length_correlation,
    likelihood,
    log_rt_sd,
    median_hold_ms,
    methods,
    path_variation,
    signals,
    time_autocorrelation,
)
from experiment.integrity.observed import (
    TOLERANCE_MS,
    ObservedSession,
    excess_ms,
    n_too_early,
    unexplained_ms,
)

# With fewer intervals the pace of a session cannot be judged.
FEWEST_INTERVALS = 10


@dataclass(frozen=True, slots=True)
class Certificate:
    """Figures from one session's records; None for a figure that cannot be computed.

    Attributes:
        n_answers: The number of stored answers.
        claimed_ms: The sum of the claimed reaction times.
        elapsed_ms: The time from the consent to the last arrival, by the server's clock.
        excess_ms: The claimed time in excess of the time passed; negative if less was claimed.
        n_too_early: Answers with times at which the page accepts no press.
        n_intervals: Answers whose claimed time could be compared with the arrivals.
        mismatch_share: The share of these that differ by more than a second.
        unexplained_ms: The median time between answers that no claimed time explains.
        n_untrusted: Presses that the browser did not mark as trusted.
        n_unmeasured: Answers without the measurements that the page takes with each.
        n_hidden: Answers during which the page was hidden.
        n_unfocused: Answers during which the page lost focus.
        n_shown_again: Trials that were shown again after a first showing.
        seen_before_ms: The total time for which these had been shown before.
        n_premature: Presses too early to be choices.
        n_pasted: Questionnaire answers into which text was pasted.
        n_devices: Devices on which the session was opened.
        device_facts: Facts that the first device reported, 0 to 4.
        hold_ms: The median duration of a press.
        path_variation: The coefficient of variation of the mouse paths between options.
        log_rt_sd: The standard deviation of log reaction times, in nats.
        length_correlation: The correlation of log reaction times with log text length.
        autocorrelation: The autocorrelation of the adjusted log reaction times.
        n_copied: Answers with times identical to another session's earlier answer.
        signals: The nats of each signal that can be evaluated, 0 if it does not fire or does not
            count in a session of this kind (docs/integrity.md).
        counting: The signals that count in the score of a session of this kind.
        methods: The input methods that the server saw: key, pointer, touch.
        agent_likelihood: The score from 0 to 1, which is not a probability.
    """

    n_answers: int
    claimed_ms: float
    elapsed_ms: float | None
    excess_ms: float | None
    n_too_early: int
    n_intervals: int
    mismatch_share: float | None
    unexplained_ms: float | None
    n_untrusted: int
    n_unmeasured: int
    n_hidden: int
    n_unfocused: int
    n_shown_again: int
    seen_before_ms: float
    n_premature: int
    n_pasted: int
    n_devices: int
    device_facts: int
    hold_ms: float | None
    path_variation: float | None
    log_rt_sd: float | None
    length_correlation: float | None
    autocorrelation: float | None
    n_copied: int | None
    signals: tuple[tuple[str, float], ...]
    counting: tuple[str, ...]
    methods: tuple[str, ...]
    agent_likelihood: float | None


def certify(session: ObservedSession) -> Certificate:
    """Return the certificate of a session."""
    answers = session.answers
    apart = unexplained_ms(session)
    beyond = sum(abs(ms) > TOLERANCE_MS for ms in apart)
    speaking = signals(session)
    counting = counted(session, speaking)
    return Certificate(
        n_answers=len(answers),
        claimed_ms=sum(answer.rt_ms or 0.0 for answer in answers),
        elapsed_ms=max((answer.arrived_ms for answer in answers), default=None),
        excess_ms=excess_ms(session),
        n_too_early=n_too_early(session),
        n_intervals=len(apart),
        mismatch_share=beyond / len(apart) if len(apart) >= FEWEST_INTERVALS else None,
        unexplained_ms=median(apart) if apart else None,
        n_untrusted=sum(answer.trusted is False for answer in answers),
        n_unmeasured=sum(answer.trusted is None for answer in answers),
        n_hidden=sum(bool(answer.was_hidden) for answer in answers),
        n_unfocused=sum(bool(answer.lost_focus) for answer in answers),
        n_shown_again=sum((answer.times_shown or 1) > 1 for answer in answers),
        seen_before_ms=sum(answer.seen_before_ms or 0.0 for answer in answers),
        n_premature=session.n_premature,
        n_pasted=session.n_pasted,
        n_devices=session.n_devices,
        device_facts=session.device_facts,
        hold_ms=median_hold_ms(session),
        path_variation=path_variation(session),
        log_rt_sd=log_rt_sd(session),
        length_correlation=length_correlation(session),
        autocorrelation=time_autocorrelation(session),
        n_copied=session.n_copied,
        signals=tuple((name, counting.get(name, 0.0)) for name in speaking),
        counting=tuple(counting),
        methods=tuple(sorted(methods(session))),
        agent_likelihood=likelihood(counting),
    )
