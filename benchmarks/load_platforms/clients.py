"""A crowd that takes part: how it arrives, how long it thinks, and what it met."""

import asyncio
import gc
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import quantiles
from typing import Literal

from load_platforms.browser import Browser, UnexpectedAnswer
from load_platforms.platform import Participant, Platform, Site
from load_platforms.processes import own_cpu_s, used

# Looking takes milliseconds, in which nobody is served.
_WATCH_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A crowd.

    Attributes:
        participants: How many.
        arrivals: All at once, or one by one at random times.
        over_s: Within how long they arrive on average, where not at once.
        think_s: How long they think about each trial on average; 0 for not at all.
        seed: From which times and answers follow.
    """

    participants: int
    arrivals: Literal["once", "poisson"]
    over_s: float
    think_s: float
    seed: int


@dataclass(frozen=True, slots=True)
class Met:
    """What a crowd met.

    Attributes:
        people: Everybody.
        problems: What went wrong for whom.
        wall_s: From the first arrival to the last page.
        server_cpu_s: The processor seconds of the server and its database meanwhile.
        driver_cpu_s: Those of the crowd itself.
        memory_mib: The server's memory where it was largest.
    """

    people: list[Participant]
    problems: list[str]
    wall_s: float
    server_cpu_s: float
    driver_cpu_s: float
    memory_mib: float

    @property
    def save_ms(self) -> tuple[float, float, float]:
        """The median, the 95th and the 99th percentile of the requests that save an answer."""
        times = [1000 * s for person in self.people for s in person.browser.save_s]
        if len(times) < 2:
            return (0.0, 0.0, 0.0)
        cuts = quantiles(times, n=100)
        return cuts[49], cuts[94], cuts[98]


def send(plan: Plan, platform: Platform, site: Site, watched: tuple[int, ...]) -> Met:
    """Send the crowd to a site and return what it met.

    Args:
        plan: The crowd.
        platform: What it visits.
        site: Where that answers.
        watched: The first processes of the server and of its database.
    """
    # The collector's pauses would count as the server's.
    gc.freeze()
    return asyncio.run(_send(plan, platform, site, watched))


async def _send(plan: Plan, platform: Platform, site: Site, watched: tuple[int, ...]) -> Met:
    people = [_person(plan, number, site) for number in range(plan.participants)]
    before, driver_before, begun = used(*watched), own_cpu_s(), time.perf_counter()
    memory_mib: list[float] = []
    watching = asyncio.create_task(_watch(watched, memory_mib))
    visits = map(_visit, [platform] * len(people), people, _arrivals(plan))
    problems = [problem for problem in await asyncio.gather(*visits) if problem]
    wall_s, driver_s, after = time.perf_counter() - begun, own_cpu_s(), used(*watched)
    watching.cancel()
    return Met(
        people,
        problems,
        wall_s,
        server_cpu_s=after.cpu_s - before.cpu_s,
        driver_cpu_s=driver_s - driver_before,
        memory_mib=max([*memory_mib, after.memory_mib]),
    )


def _person(plan: Plan, number: int, site: Site) -> Participant:
    rng = random.Random(f"{plan.seed} {number}")

    async def think() -> None:
        if plan.think_s:
            await asyncio.sleep(plan.think_s * rng.uniform(0.5, 1.5))

    return Participant(number, Browser(site.host, site.port), rng, think)


def _arrivals(plan: Plan) -> Iterator[float]:
    """Yield when each of the crowd arrives, in seconds from the beginning."""
    rng, at = random.Random(f"{plan.seed} arrivals"), 0.0
    for _ in range(plan.participants):
        yield at
        if plan.arrivals == "poisson":
            at += rng.expovariate(plan.participants / plan.over_s)


async def _visit(platform: Platform, person: Participant, at_s: float) -> str:
    await asyncio.sleep(at_s)
    try:
        await platform.take_part(person)
    except (UnexpectedAnswer, OSError) as error:
        return f"participant {person.number}: {error}"
    finally:
        person.browser.close()
    return ""


async def _watch(pids: tuple[int, ...], memory_mib: list[float]) -> None:
    while True:
        memory_mib.append(used(*pids).memory_mib)
        await asyncio.sleep(_WATCH_EVERY_S)
