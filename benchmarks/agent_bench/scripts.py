"""Programs that never open a browser: they post answers over HTTP."""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import httpx

from agent_bench.people import Shown, person
from agent_bench.site import Site

Answer = dict[str, object]
# Gives each answer and the seconds to wait before it, from the lengths of the trials' texts.
Script = Callable[[Sequence[int], random.Random, float], Iterator[tuple[float, Answer]]]
_DEVICE = {
    "mark": "", "user_agent_family": "Chrome", "refresh_rate_hz": 60.0,
    "time_zone_offset_min": 60, "language": "en-US",
    "automated": False,
}  # fmt: skip


def take_part(site: Site, script: Script, rng: random.Random, pace: float) -> str:
    """Answer every trial as a script does, and return the session's reference."""
    with httpx.Client(base_url=site.origin, trust_env=False, timeout=60) as client:
        home = client.post(site.link, data={"decision": "accept"}).headers["location"]
        page = client.get(home).text
        found = re.search(r'id="session">(.*?)</script>', page, re.DOTALL)
        assert found, "the working page holds its session"
        trials = json.loads(found[1])["trials"]
        if script not in BLUNT:
            mark = f"{rng.getrandbits(64):x}"
            client.post(f"{home}device", json={**_DEVICE, "mark": mark}).raise_for_status()
        lengths = [sum(len(str(text)) for text in trial.values()) for trial in trials]
        steps = script(lengths, rng, pace)
        for trial, (wait_s, answer) in zip(trials, steps, strict=True):
            time.sleep(wait_s)
            body = {
                "uuid": str(UUID(int=rng.getrandbits(128), version=4)),
                "position": trial["position"],
                "side": rng.choice(("first", "second")),
                "input_method": "key",
                **answer,
            }
            client.post(f"{home}answers", json=body).raise_for_status()
    return site.ref_of(home)


def at_once_claiming_seconds(
    lengths: Sequence[int], rng: random.Random, pace: float
) -> Iterator[tuple[float, Answer]]:
    """Post every answer at once, and claim three and a half seconds for each."""
    yield from ((0.0, {"rt_ms": 3500.0}) for _ in lengths)


def at_once_claiming_nothing(
    lengths: Sequence[int], rng: random.Random, pace: float
) -> Iterator[tuple[float, Answer]]:
    """Post every answer at once, and claim a millisecond for each."""
    yield from ((0.0, {"rt_ms": 1.0}) for _ in lengths)


def waiting(
    lengths: Sequence[int], rng: random.Random, pace: float
) -> Iterator[tuple[float, Answer]]:
    """Wait as long as is claimed, between half a second and three, and measure nothing else."""
    for _ in lengths:
        rt_ms = rng.uniform(500, 3000) * pace
        yield rt_ms / 1000, {"rt_ms": rt_ms}


def knowing(
    lengths: Sequence[int], rng: random.Random, pace: float
) -> Iterator[tuple[float, Answer]]:
    """Wait as long as is claimed, drawn as people's times are, and make every measurement up."""
    for _ in lengths:
        rt_ms = 150 + rng.lognormvariate(7.5, 0.45) * pace
        hold_ms = rng.lognormvariate(4.5, 0.25)
        yield (rt_ms + hold_ms) / 1000, _measured(rt_ms, hold_ms, 0, 0)


def replaying(
    lengths: Sequence[int], rng: random.Random, pace: float
) -> Iterator[tuple[float, Answer]]:
    """Post a person's own measurements, at their pace, to trials that this person never saw."""
    method = rng.choice(("mouse", "touch", "keyboard"))
    others = [
        Shown(f"unseen {n}", "unseen", rng.randint(60, 160), 2.0, rng.gauss(0, 0.1))
        for n in range(len(lengths))
    ]
    seen = person(others, method, rng)
    for answer in seen.answers:
        rt_ms, hold_ms = max(150.0, (answer.rt_ms or 0) * pace), answer.hold_ms or 0
        measured = _measured(
            rt_ms, hold_ms, answer.pointer_moves or 0, int(answer.pointer_path_px or 0)
        ) | {"input_method": answer.input_method}
        if answer.pointer_stopped_ms is not None:
            measured["pointer_stopped_ms"] = answer.pointer_stopped_ms * rt_ms / (answer.rt_ms or 1)
        yield (rt_ms + hold_ms) / 1000, measured


def _measured(rt_ms: float, hold_ms: float, moves: int, path_px: int) -> Answer:
    return {
        "rt_ms": rt_ms, "release_ms": rt_ms + hold_ms, "onset_source": "presentation",
        "onset_uncertainty_ms": 4, "times_shown": 1, "seen_before_ms": 0, "waited_ms": 0,
        "trusted": True, "pointer_moves": moves, "pointer_path_px": path_px,
        "was_hidden": False, "lost_focus": False, "premature": [],
    }  # fmt: skip


# These do not even tell of a device.
BLUNT: tuple[Script, ...] = (at_once_claiming_seconds, at_once_claiming_nothing, waiting)
