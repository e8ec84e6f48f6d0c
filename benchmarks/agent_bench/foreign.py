"""Browsers that take part by other people's programs, as their pages tell one to use them.

Needs python-ghost-cursor with bezier, and playwright-stealth (PyPI), none of which Parallax needs.

- reads the accessibility tree: what a model gets that works through Playwright's server for tools.
  It reads the tree as text, thinks as long as hosted models do, and clicks a button by its name.
- stealth and ghost cursor: playwright-stealth hides the automation, ghost-cursor moves the mouse.
  All that is our own is the wait before, as long as reading takes.
"""

import math
import re
from collections.abc import Awaitable, Callable, Sequence

from playwright.async_api import Locator, Page

from agent_bench.held_out import Answer, Taker

_BUTTON = re.compile(r'- button "((?:[^"\\]|\\.)*)"')


async def by_tree(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Read the tree of the page, think, and click the button that bears the name."""
    tree = await taker.page.locator("body").aria_snapshot()
    names = [name.replace('\\"', '"') for name in _BUTTON.findall(tree)]
    wanted = texts[taker.choose(texts)]
    await taker.wait(taker.rng.lognormvariate(math.log(4.0), 0.4))
    named = [name for name in names if wanted in name]
    if named:
        await taker.page.get_by_role("button", name=named[0], exact=True).click()
    else:
        await buttons[taker.choose(texts)].click()


async def by_ghost_cursor(taker: Taker, buttons: Sequence[Locator], texts: Sequence[str]) -> None:
    """Wait as long as reading takes, and have the library go there and click."""
    from python_ghost_cursor.playwright_async import create_cursor

    words = sum(len(text.split()) for text in texts)
    await taker.wait(0.4 + 0.18 * words * taker.rng.lognormvariate(0, 0.35))
    button = await buttons[taker.choose(texts)].element_handle()
    cursor = create_cursor(taker.page, {"x": taker.at[0], "y": taker.at[1]})
    await cursor.click(button)
    taker.at = (cursor.previous.x, cursor.previous.y)


async def hide(page: Page) -> None:
    """Let playwright-stealth hide that a program drives a page."""
    from playwright_stealth import Stealth

    await Stealth().apply_stealth_async(page)


SCRIPTED: dict[str, Answer] = {"by others: reads the accessibility tree": by_tree}
MIMICS: dict[str, Answer] = {"by others: stealth and ghost cursor": by_ghost_cursor}
# What is done with a page before anything is opened in it.
BEFORE: dict[str, Callable[[Page], Awaitable[None]]] = dict.fromkeys(MIMICS, hide)
