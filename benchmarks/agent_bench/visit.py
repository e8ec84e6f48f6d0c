"""Somebody at the participant's pages, under a clock that a bench sets."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flask.testing import FlaskClient

from agent_bench.people import METHODS, Shown, person
from agent_bench.seen import SeenAnswer

_DEVICE = {"user_agent_family": "Firefox", "refresh_rate_hz": 60.0, "language": "en-GB"}


class Clock:
    """The time of whoever takes part at the moment."""

    def __init__(self, begin: datetime) -> None:
        self.time = begin

    def __call__(self) -> datetime:
        """Return it."""
        return self.time

    def wait(self, ms: float) -> None:
        """Let time pass."""
        self.time += timedelta(milliseconds=ms)


@dataclass
class Visit:
    """Somebody at the pages.

    Attributes:
        client: Their browser.
        home: Their address.
        clock: The time.
        rng: What they draw from.
        sides: The expected side of each trial, in order, and the lengths of its texts.
    """

    client: FlaskClient
    home: str
    clock: Clock
    rng: random.Random
    sides: list[str]
    lengths: list[int]

    def device(self, mark: str = "one", family: str = "Firefox") -> None:
        """Tell of a device."""
        mark = f"{mark}{self.rng.getrandbits(40):x}"
        self._post("device", {**_DEVICE, "mark": mark, "user_agent_family": family})

    def within(self, n: int) -> int:
        """Return so many trials, but at most all but the last."""
        return min(n, len(self.sides) - 1)

    def answer(
        self,
        choose: Callable[[int], str],
        *,
        first: int = 0,
        upto: int | None = None,
        times: list[dict] | None = None,
        slow_ms: float = 0,
        blunt: bool = False,
    ) -> list[dict]:
        """Answer the trials in order, and return what was measured."""
        trials = [
            Shown(f"item {place}", "any", length, 2.0, self.rng.gauss(0, 0.1))
            for place, length in enumerate(self.lengths)
        ]
        seen = person(trials, self.rng.choice(METHODS[:3]), self.rng)
        sent: list[dict] = []
        for place, observed in list(enumerate(seen.answers))[first:upto]:
            rt_ms, hold_ms = max(200.0, observed.rt_ms or 0.0), observed.hold_ms or 0.0
            body: dict = {"rt_ms": 40.0} if blunt else measured(rt_ms, hold_ms, observed, slow_ms)
            if times is not None:
                body = times[place]
            self.clock.wait(5 if blunt else body["release_ms"] + 350 + slow_ms)
            self._post(
                "answers",
                {
                    "uuid": str(UUID(int=self.rng.getrandbits(128), version=4)),
                    "position": place + 1,
                    "side": choose(place),
                    "input_method": "key" if blunt else observed.input_method,
                    "client_time": self.clock.time.isoformat(),
                    **body,
                },
            )
            sent.append(body)
        return sent

    def finish(self) -> None:
        """Send the questionnaire."""
        self.clock.wait(20_000)
        form = {"native_language": "English", "age_band": "35-44", "comment": ""}
        self.client.post(f"{self.home}questionnaire", data=form)

    def withdraw(self) -> None:
        """Stop, and leave the answers."""
        done = self.client.post(f"{self.home}withdraw", data={"wish": "keep"})
        assert done.status_code < 400, done.text

    def _post(self, what: str, body: dict) -> None:
        done = self.client.post(f"{self.home}{what}", json=body)
        assert done.status_code == 200, done.text


def measured(rt_ms: float, hold_ms: float, observed: SeenAnswer, waited_ms: float) -> dict:
    """Return what a browser measures of one press."""
    return {
        "rt_ms": rt_ms, "release_ms": rt_ms + hold_ms, "onset_source": "presentation",
        "onset_uncertainty_ms": 4, "times_shown": 1, "seen_before_ms": 0, "waited_ms": waited_ms,
        "trusted": True, "pointer_moves": observed.pointer_moves or 0,
        "pointer_path_px": int(observed.pointer_path_px or 0),
        "pointer_stopped_ms": observed.pointer_stopped_ms, "was_hidden": False,
        "lost_focus": False, "premature": [],
    }  # fmt: skip
