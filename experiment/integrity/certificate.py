"""The certificate of a session: what its records tell, in figures."""

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

# Fewer intervals tell nothing of a pace.
FEWEST_INTERVALS = 10


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the records of one session tell; None where that cannot be told.

    Attributes:
        n_answers: Stored answers.
        claimed_ms: The sum of the claimed reaction times.
        elapsed_ms: From the consent to the last arrival, by the server's clock.
        excess_ms: By how much the claims exceed what passed; negative where there is room left.
        n_too_early: Answers with times at which the page takes no press.
        n_intervals: Answers whose claim could be compared with the arrivals.
        mismatch_share: The share of them that lie more than a second apart.
        unexplained_ms: The median time between answers that no claim explains.
        n_untrusted: Presses that the browser did not see itself.
        n_unmeasured: Answers without the measurements that the page takes.
        n_hidden: Answers during which the page was hidden.
        n_unfocused: Answers during which it lost focus.
        n_shown_again: Trials that had been on the screen before.
        seen_before_ms: For how long they had been, together.
        n_premature: Presses that came too early to be choices.
        n_pasted: Answers of the questionnaire into which something was pasted.
        n_devices: Devices on which the session was opened.
        device_facts: Facts that the first one told, 0 to 4.
        hold_ms: How long presses last, in the median.
        path_variation: The coefficient of variation of the mouse's ways between options.
        log_rt_sd: The standard deviation of log reaction times, in nats.
        length_correlation: How log reaction times go with the length of the texts.
        autocorrelation: How they go with those of the trial before.
        n_copied: Answers with the very times of an answer that somebody else gave before.
        signals: The nats of each signal that can be told, 0 where it does not speak or does not
            count in a session of its kind (docs/integrity.md).
        counting: The signals that count in the score, in a session of its kind.
        methods: What the server saw of how somebody answered: key, pointer, touch.
        agent_likelihood: Their score from 0 to 1; no probability.
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
