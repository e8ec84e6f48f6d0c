"""Sessions put together by hand, as the server sees them."""

import random
from dataclasses import replace
from itertools import accumulate

from experiment.integrity.observed import ObservedAnswer, ObservedSession


def observed(
    times: list[float] | None = None, *, n: int = 40, seed: int = 1, delay_ms: float = 60.0
) -> ObservedSession:
    """A person with a mouse, who reads longer texts for longer and drifts along."""
    rng = random.Random(seed)
    lengths = [rng.randint(40, 110) for _ in range(n)]
    drift = list(accumulate(range(n), lambda d, _: 0.8 * d + rng.gauss(0, 0.15), initial=0.0))[1:]
    times = times or [
        1500.0 * (length / 70) ** 0.8 * rng.lognormvariate(slow, 0.25)
        for length, slow in zip(lengths, drift, strict=True)
    ]
    pressed, answers, before = 20_000.0, [], ""
    for place, (rt_ms, length) in enumerate(zip(times, lengths, strict=False)):
        hold = rng.lognormvariate(4.5, 0.25)
        pressed += rt_ms + hold + 20
        side = rng.choice(("first", "second"))
        rests, before = side == before and rng.random() < 0.5, side
        answers.append(
            ObservedAnswer(
                position=place + 1,
                arrived_ms=pressed + delay_ms + rng.uniform(0, 40),
                rt_ms=rt_ms,
                release_ms=rt_ms + hold,
                waited_ms=0.0,
                input_method="pointer",
                side=side,
                n_characters=length,
                has_onset=True,
                trusted=True,
                times_shown=1,
                seen_before_ms=0.0,
                pointer_moves=rng.randint(6, 40),
                pointer_path_px=rng.uniform(0, 10) if rests else rng.uniform(150, 600),
                was_hidden=False,
                lost_focus=False,
            )
        )
    return ObservedSession(tuple(answers), n_copied=0)


def changed(session: ObservedSession, **fields: object) -> ObservedSession:
    """The session with these fields in every answer; a function is given the answer."""
    answers = tuple(
        replace(
            answer,
            **{name: value(answer) if callable(value) else value for name, value in fields.items()},
        )
        for answer in session.answers
    )
    return replace(session, answers=answers)


def delivered_at_once(session: ObservedSession, at_ms: float) -> ObservedSession:
    """The session without a connection: every answer waited, and all arrive together."""
    return changed(
        session,
        arrived_ms=lambda answer: at_ms + answer.position,
        waited_ms=lambda answer: at_ms + answer.position - answer.arrived_ms,
    )


def told(*answers: dict, **facts: object) -> ObservedSession:
    """A session of answers at positions 1, 2 ...; what is not named is not known."""
    made = (
        ObservedAnswer(n, fields.pop("arrived_ms", 0.0), **fields)
        for n, fields in enumerate(answers, 1)
    )
    return ObservedSession(tuple(made), **facts)
