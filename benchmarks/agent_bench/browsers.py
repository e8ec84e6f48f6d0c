"""Programs that drive a real browser, whose events the browser itself makes."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping

from playwright.async_api import Browser, Locator, Page

from agent_bench.choices import Chooser
from agent_bench.site import Site

Act = Callable[[Page, int, random.Random, float], Awaitable[None]]
# The count says the position first, or the page's own words where a study has other ones.
_SHOWN = "n => !document.getElementById('trial') || document.getElementById('count').textContent.startsWith(n + ' ')"  # noqa: E501
PATIENCE_MS = 120_000


async def take_part(
    browser: Browser, site: Site, act: Act, choose: Chooser, rng: random.Random, pace: float
) -> str:
    """Answer every trial in a window of its own, and return the session's reference."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    if act in KNOWING:
        await context.add_init_script(_HIDDEN)
    page = await context.new_page()
    await page.goto(site.link)
    await page.locator("button[value=accept]").click()
    await page.locator("#instructions [data-go-on]:enabled").click()
    home, bar = page.url, page.locator("#bar")
    total = int(await bar.get_attribute("max") or 0)
    for position in range(1, total + 1):
        await page.wait_for_function(_SHOWN, arg=position)
        options = page.locator("[data-side]:visible")
        texts = await options.locator("[data-field]").all_inner_texts()
        await act(page, choose(texts), rng, pace)
    await page.wait_for_selector("body:not([data-page=working])", state="attached")
    await context.close()
    return site.ref_of(home)


async def click(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Wait for a moment and click, as scripts do."""
    await asyncio.sleep(max(0.25, rng.uniform(0.5, 2.5) * pace))
    await page.locator("[data-side]:visible").nth(place).click()


async def press(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Wait for a moment and press a key."""
    await asyncio.sleep(max(0.25, rng.uniform(0.5, 2.5) * pace))
    await page.keyboard.press(str(place + 1))


async def think_and_press(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Answer as quickly as a model does, with a key that is held for eighty milliseconds."""
    await asyncio.sleep(max(0.25, rng.gauss(1.2, 0.15) * pace))
    await page.keyboard.press(str(place + 1), delay=80)


async def mimic(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Take as long as people, lead the mouse along a bow, and hold the button as they do."""
    target = page.locator("[data-side]:visible").nth(place)
    wait_s = 0.2 + rng.lognormvariate(math.log(1.8), 0.45) * pace
    await _press_after(page, target, rng, wait_s)


async def read_and_mimic(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Do so, take longer for longer texts, drift, and leave the mouse where it is already."""
    wait_s, options = await _reading_s(page, rng, pace), page.locator("[data-side]:visible")
    await _press_after(page, options.nth(place), rng, wait_s, rest=rng.random() < 0.5)


async def decide_and_mimic(page: Page, place: int, rng: random.Random, pace: float) -> None:
    """Do so, and move the mouse only once it is decided, as people do."""
    options = page.locator("[data-side]:visible")
    await asyncio.sleep(await _reading_s(page, rng, pace))
    await _press_after(page, options.nth(place), rng, 0.0, rest=rng.random() < 0.5)


async def _reading_s(page: Page, rng: random.Random, pace: float) -> float:
    texts = page.locator("[data-side]:visible").locator("[data-field]")
    length = sum(map(len, await texts.all_inner_texts()))
    _MOOD[page] = 0.8 * _MOOD.get(page, 0.0) + rng.gauss(0, 0.12)
    expected = 0.6 * math.log(max(1, length) / 70) + _MOOD[page]
    return 0.2 + rng.lognormvariate(math.log(1.8) + expected, 0.3) * pace


async def _press_after(
    page: Page, target: Locator, rng: random.Random, wait_s: float, *, rest: bool = False
) -> None:
    began = asyncio.get_running_loop().time()
    if not rest or not await _is_there(page, target):
        await _lead(page, target, rng)
    await asyncio.sleep(max(0.0, wait_s - (asyncio.get_running_loop().time() - began)))
    await page.mouse.down()
    await asyncio.sleep(rng.lognormvariate(math.log(0.09), 0.25))
    await page.mouse.up()


async def _is_there(page: Page, target: Locator) -> bool:
    box, (x, y) = await target.bounding_box(), _AT.get(page, (-1.0, -1.0))
    if box is None:
        return False
    return 0 < x - box["x"] < box["width"] and 0 < y - box["y"] < box["height"]


async def _lead(page: Page, target: Locator, rng: random.Random) -> None:
    box = await target.bounding_box() or {"x": 0, "y": 0, "width": 1, "height": 1}
    end = (
        box["x"] + box["width"] * rng.uniform(0.15, 0.85),
        box["y"] + box["height"] * rng.uniform(0.2, 0.8),
    )
    begin = _AT.get(page, (640.0, 400.0))
    bow, steps = rng.gauss(0, 60), rng.randint(6, 24)
    for step in range(1, steps + 1):
        share = step / steps
        eased = share * share * (3 - 2 * share)
        x = begin[0] + (end[0] - begin[0]) * eased + bow * math.sin(math.pi * share)
        y = begin[1] + (end[1] - begin[1]) * eased
        await page.mouse.move(x, y)
        await asyncio.sleep(0.008)
    _AT[page] = end


# These know the rules, and so have their browser deny that a program drives it.
KNOWING: tuple[Act, ...] = (mimic, read_and_mimic, decide_and_mimic)
_HIDDEN = "Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false })"
# Where each window's pointer is: the browser does not tell.
_AT: dict[Page, tuple[float, float]] = {}
# By how much each window's log times lie above its average at present.
_MOOD: dict[Page, float] = {}


async def all_of(
    browser: Browser,
    site: Site,
    wanted: Mapping[str, tuple[Act, Chooser]],
    each: int,
    pace: float,
    windows: int,
    seed: int,
) -> dict[str, list[str]]:
    """Let so many of each kind take part, some at a time; return their references by kind."""
    room = asyncio.Semaphore(windows)
    found: dict[str, list[str]] = {name: [] for name in wanted}

    async def one(name: str, number: int) -> None:
        rng = random.Random(f"{seed} {name} {number}")
        async with room:
            act, choose = wanted[name]
            found[name].append(await take_part(browser, site, act, choose, rng, pace))

    await asyncio.gather(*(one(name, n) for n in range(each) for name in wanted))
    return found
