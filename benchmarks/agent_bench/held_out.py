"""Browsers that take part, written from docs/participants.md and the pages alone.

None of them was fitted to what Parallax looks at, nor Parallax to them: they were written before
their author had read how a session is judged. After the first run they were changed in one thing:
a press that changed nothing is made again, as some had waited for ever. Each takes a page of
Playwright from the run's link to the end.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from playwright.async_api import Locator, Page

ENDS = "form[action=questionnaire], [data-page=closing], [data-page=exit]"
# A press that changes nothing is made again after so long.
AGAIN_S = 2.0
Choose = Callable[[Sequence[str]], int]


@dataclass
class Taker:
    """What one agent needs while it takes part.

    Attributes:
        page: The page it works in.
        rng: Where its randomness comes from.
        choose: Which of the texts it would take.
        pace: How fast it lives: 0.5 halves every wait.
        times: Somebody's reaction times in ms, for those that repeat a person.
        at: Where its mouse is, in CSS pixels.
        mood: How slow it is at the moment, in log units.
    """

    page: Page
    rng: random.Random
    choose: Choose
    pace: float = 1.0
    times: Sequence[float] = ()
    at: tuple[float, float] = (300.0, 200.0)
    mood: float = 0.0
    done: int = field(default=0)

    async def wait(self, seconds: float) -> None:
        """Wait for some seconds at this agent's pace."""
        await asyncio.sleep(max(0.0, seconds) * self.pace)

    async def move(self, target: tuple[float, float]) -> None:
        """Move the mouse along a bent path, fast in the middle and slow at its ends."""
        (x0, y0), (x1, y1) = self.at, target
        far = math.hypot(x1 - x0, y1 - y0)
        steps = max(6, int(far / 25))
        bend = self.rng.gauss(0, 0.12) * far
        nx, ny = (-(y1 - y0) / (far or 1), (x1 - x0) / (far or 1))
        lasts = 0.12 + 0.16 * math.log2(1 + far / 60)
        for step in range(1, steps + 1):
            share = step / steps
            eased = share * share * (3 - 2 * share)
            side = bend * math.sin(math.pi * eased)
            await self.page.mouse.move(
                x0 + (x1 - x0) * eased + nx * side + self.rng.gauss(0, 0.7),
                y0 + (y1 - y0) * eased + ny * side + self.rng.gauss(0, 0.7),
            )
            await self.wait(lasts / steps)
        self.at = target

    async def press_mouse(self, button: Locator) -> None:
        """Go to a place on a button and press it as long as a hand does."""
        box = await button.bounding_box()
        if box is None:
            return
        spread = self.rng.gauss
        await self.move(
            (
                box["x"] + box["width"] * min(0.95, max(0.05, spread(0.45, 0.15))),
                box["y"] + box["height"] * min(0.9, max(0.1, spread(0.5, 0.15))),
            )
        )
        await self.page.mouse.down()
        await self.wait(self.rng.lognormvariate(math.log(0.085), 0.3))
        await self.page.mouse.up()

    async def press_key(self, key: str) -> None:
        """Press a key as long as a finger does."""
        await self.page.keyboard.down(key)
        await self.wait(self.rng.lognormvariate(math.log(0.09), 0.25))
        await self.page.keyboard.up(key)


Answer = Callable[[Taker, Sequence[Locator], Sequence[str]], Awaitable[None]]


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


async def keys_at_random(taker: Taker, _buttons: Sequence[Locator], _texts: Sequence[str]) -> None:
    """Press 1 or 2 after one to three seconds."""
    await taker.wait(taker.rng.uniform(1, 3))
    await taker.page.keyboard.press(taker.rng.choice("12"))


async def always_first(taker: Taker, buttons: Sequence[Locator], _texts: Sequence[str]) -> None:
    """Click the first option as soon as it can be clicked."""
    await taker.wait(0.4)
    await buttons[0].click()


async def user_script(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Click by the page's own JavaScript, as a script pasted into the console does."""
    await taker.wait(taker.rng.gauss(2.2, 0.6))
    await buttons[taker.choose(texts)].evaluate("button => button.click()")


async def playwright_reader(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Choose well, with normal times around two and a half seconds, by Playwright's click."""
    await taker.wait(taker.rng.gauss(2.5, 0.8))
    await buttons[taker.choose(texts)].click(delay=taker.rng.uniform(40, 120))


async def screenshots(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Look at a screenshot, think as a hosted model does, click at coordinates."""
    await taker.page.screenshot(type="jpeg", quality=30)
    await taker.wait(1.1 + taker.rng.lognormvariate(math.log(3.2), 0.35))
    box = await buttons[taker.choose(texts)].bounding_box()
    if box is not None:
        await taker.page.mouse.click(
            round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
        )


async def clumsy(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """As one that sees screenshots, but it misses, scrolls and reads the page twice."""
    await taker.wait(taker.rng.lognormvariate(math.log(2.6), 0.5))
    if taker.rng.random() < 0.15:
        await taker.page.mouse.wheel(0, taker.rng.choice([-80, 80]))
        await taker.wait(taker.rng.uniform(1, 2))
    box = await buttons[taker.choose(texts)].bounding_box()
    if box is None:
        return
    if taker.rng.random() < 0.1:
        await taker.page.mouse.click(box["x"] - 15, box["y"] - 12)
        await taker.wait(taker.rng.uniform(1.5, 3))
    x = box["x"] + taker.rng.uniform(0.3, 0.7) * box["width"]
    y = box["y"] + taker.rng.uniform(0.3, 0.7) * box["height"]
    await taker.page.mouse.move(x, y, steps=4)
    await taker.page.mouse.click(x, y, delay=30)


async def mouse_mimic(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Read word by word, then move a hand and press; no memory from trial to trial."""
    await taker.wait(
        0.5
        + 0.16 * _words(texts) * taker.rng.lognormvariate(0, 0.35)
        + taker.rng.expovariate(1 / 0.5)
    )
    await taker.press_mouse(buttons[taker.choose(texts)])


async def keys_mimic(taker: Taker, _buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Read, decide and press a key, faster with practice and slower when tired."""
    practised = 1 + 0.5 * (taker.done + 1) ** -0.4
    tired = 1 + 0.15 * max(0, taker.done - 50) / 50
    reads = 0.13 * _words(texts) * practised * tired
    await taker.wait(0.45 + reads * taker.rng.lognormvariate(0, 0.4))
    await taker.press_key(str(taker.choose(texts) + 1))


async def moody_mimic(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """An ex-Gaussian reader whose slowness lasts over trials, who drifts off and returns."""
    taker.mood = 0.6 * taker.mood + taker.rng.gauss(0, 0.18)
    practised = 1 + 0.6 * (taker.done + 1) ** -0.5
    if taker.rng.random() < 0.04:
        await taker.wait(taker.rng.uniform(5, 15))
    base = taker.rng.gauss(0.6 + 0.12 * _words(texts), 0.3) + taker.rng.expovariate(1 / 0.7)
    await taker.wait(base * practised * math.exp(taker.mood))
    if taker.rng.random() < 0.3:
        box = await buttons[taker.rng.randrange(len(buttons))].bounding_box()
        if box is not None:
            await taker.move((box["x"] + 40, box["y"] + box["height"] / 2))
            await taker.wait(taker.rng.uniform(0.1, 0.6))
    await taker.press_mouse(buttons[taker.choose(texts)])


async def replay(taker: Taker, _buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Repeat somebody's reaction times in their order, whatever the texts are."""
    await taker.wait(taker.times[taker.done % len(taker.times)] / 1000)
    await taker.press_key(str(taker.choose(texts) + 1))


SCRIPTED: dict[str, Answer] = {
    "held out: keys at random": keys_at_random,
    "held out: always the first": always_first,
    "held out: script in the console": user_script,
    "held out: Playwright, chooses well": playwright_reader,
    "held out: looks at screenshots": screenshots,
    "held out: clumsy with screenshots": clumsy,
}
MIMICS: dict[str, Answer] = {
    "held out: reads, mouse": mouse_mimic,
    "held out: reads, keys, practice": keys_mimic,
    "held out: reads, moods, drifts off": moody_mimic,
    "held out: replays a person": replay,
}


async def take_part(taker: Taker, link: str, answer: Answer) -> str:
    """Take part from the run's link to the questionnaire; return the participant's own address."""
    page = taker.page
    await page.goto(link)
    await page.locator("button[name=decision][value=accept]").click()
    await page.locator("[data-go-on]:visible").first.click()
    options = page.locator("#trial .option:visible")
    last: tuple[str | None, ...] = ()
    since_s = 0.0
    while not await page.locator(ENDS).count():
        further = page.locator("[data-go-on]:visible")
        if await further.count():
            await taker.wait(1)
            await further.first.click()
            continue
        buttons = await options.all()
        if not buttons:
            await asyncio.sleep(0.02)
            continue
        seen = (await page.locator("#count").text_content(), *await options.all_text_contents())
        if seen == last and time.monotonic() - since_s < AGAIN_S:
            await asyncio.sleep(0.02)
            continue
        last = seen
        texts = await page.locator("#trial .option:visible .sentence").all_text_contents()
        await answer(taker, buttons, texts)
        taker.done += 1
        since_s = time.monotonic()
    return page.url
