"""Ways of answering that no person's habits show: what devices and aids of access do to a session.

Each is a documented behaviour of the device, put upon a simulated person (``people.py``):

- switch: scanning; the key is down for a moment (``people.py``).
- dwell: the pointer rests on the option for 0.6 to 1.4 s, and software clicks at once.
- gaze: the pointer jumps to the option, dwells, and software clicks at once.
- held mouse: the mouse goes to an option first, and its owner reads on.
- voice, hints: software calls ``element.click()``: no pointer, no key, not trusted.
- screen reader: the texts are read aloud, and Enter is passed on without a duration.
- slow network: round trips of a second in the median, one answer after the other.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log

from agent_bench.people import Shown, person
from agent_bench.seen import SeenAnswer
from experiment.integrity.observed import ObservedSession

_Change = Callable[[SeenAnswer, random.Random], SeenAnswer]
_ROUND_TRIP_MS = 1000.0
_READ_ALOUD_MS = 65.0  # a character, at a common speed


def _later(answer: SeenAnswer, by_ms: float) -> SeenAnswer:
    rt_ms = (answer.rt_ms or 0.0) + by_ms
    return replace(answer, rt_ms=rt_ms, release_ms=(answer.release_ms or 0.0) + by_ms)


def _dwell(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    dwell_ms = rng.uniform(600, 1400)
    later = _later(answer, dwell_ms)
    rt_ms = later.rt_ms or 0.0
    return replace(
        later, release_ms=rt_ms + rng.uniform(0, 2), pointer_stopped_ms=max(0.0, rt_ms - dwell_ms)
    )


def _gaze(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    far = rng.choice((0.0, 180.0))
    return replace(
        _dwell(answer, rng), pointer_moves=rng.randint(1, 2), pointer_path_px=far + rng.gauss(0, 4)
    )


def _held(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    return replace(answer, pointer_stopped_ms=rng.uniform(0.1, 0.5) * (answer.rt_ms or 0.0))


def _by_click_call(answer: SeenAnswer, by_ms: float) -> SeenAnswer:
    later = _later(answer, by_ms)
    return replace(
        later, release_ms=later.rt_ms, input_method="key", trusted=False, pointer_moves=0,
        pointer_path_px=0.0, pointer_stopped_ms=None,
    )  # fmt: skip


def _voice(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    return _by_click_call(answer, rng.uniform(500, 1500))


def _hints(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    return _by_click_call(answer, rng.uniform(100, 500))


def _read_aloud(answer: SeenAnswer, rng: random.Random) -> SeenAnswer:
    later = _later(answer, _READ_ALOUD_MS * answer.n_characters)
    return replace(later, release_ms=later.rt_ms, pointer_moves=0, pointer_path_px=0.0)


def _same(answer: SeenAnswer, _rng: random.Random) -> SeenAnswer:
    return answer


# The habits of the person, what the server sees of them, and what the device does.
WAYS: Mapping[str, tuple[str, str, _Change]] = {
    "mouse": ("mouse", "pointer", _same),
    "mouse that goes ahead": ("mouse", "pointer", _held),
    "dwell clicks": ("mouse", "pointer", _dwell),
    "gaze": ("mouse", "pointer", _gaze),
    "slow network": ("mouse", "pointer", _same),
    "touch": ("touch", "touch", _same),
    "keyboard": ("keyboard", "key", _same),
    "switch": ("switch", "key", _same),
    "screen reader": ("keyboard", "key", _read_aloud),
    "voice": ("keyboard", "key", _voice),
    "hints": ("keyboard", "key", _hints),
}


def session(way: str, trials: list[Shown], rng: random.Random) -> ObservedSession:
    """Return the session of a simulated person who answers in one of the ways."""
    habits, _, change = WAYS[way]
    found = person(trials, habits, rng)
    changed = [change(answer, rng) for answer in found.answers]
    network_ms = _ROUND_TRIP_MS if way == "slow network" else rng.lognormvariate(log(80), 0.6)
    return replace(found, automated=False, answers=tuple(_sent(changed, network_ms, rng)))


def _sent(answers: list[SeenAnswer], network_ms: float, rng: random.Random) -> list[SeenAnswer]:
    """Return the answers with their arrivals: each is sent when the one before is acknowledged."""
    now, free, sent = rng.uniform(8_000, 60_000), 0.0, []
    for answer in answers:
        now += (answer.rt_ms or 0.0) + rng.uniform(15, 40) + (answer.seen_before_ms or 0.0)
        begins = max(now, free)
        there, back = (network_ms / 2 * rng.lognormvariate(0, 0.8) for _ in range(2))
        free = begins + there + back
        sent.append(replace(answer, arrived_ms=begins + there, waited_ms=begins - now))
    return sent
