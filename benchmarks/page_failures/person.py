"""Somebody who takes part whatever goes wrong, and knows what they saw and were promised."""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.async_api import Browser, BrowserContext, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from page_failures.network import FAILURES, Network, slow_reply
from page_failures.plan import PHASES, REQUESTS, Fault

# A session takes some seconds; a machine that is busy with other things may need far longer.
PATIENCE_S = 300
_LOOK_MS = 120_000
_POLL_S = 0.1
# Tells of each trial whenever it comes onto the screen.
_WATCH = """(() => {
  let last = "";
  const look = () => {
    const trial = document.getElementById("trial");
    const on = trial && !trial.hidden && !trial.classList.contains("between");
    const shown = on ? document.getElementById("count").textContent : "";
    if (shown === last) return;
    last = shown;
    if (shown) window.saw(shown);
  };
  const all = { subtree: true, childList: true, attributes: true };
  new MutationObserver(look).observe(document, { ...all, attributeFilter: ["hidden", "class"] });
})()"""
_STATE = """() => {
  const one = selector => document.querySelector(selector);
  const seen = selector => Boolean(one(selector)?.checkVisibility());
  return {
    page: document.body?.dataset.page ?? "",
    section: [...document.querySelectorAll("main > section")].find(one => !one.hidden)?.id ?? "",
    feedback: seen("#feedback"),
    begun: seen("#begun-before"),
    count: one("#count")?.textContent ?? "",
  };
}"""
# Its program marks the consent page when it has opened it.
_READ = "() => history.state?.visit"
_PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_NEXT = "before => document.getElementById('count')?.textContent !== before || !document.getElementById('trial') || document.getElementById('trial').hidden || !document.getElementById('feedback').hidden"  # noqa: E501


@dataclass(slots=True)
class Promise:
    """An answer that was sent.

    Attributes:
        position: The trial's.
        side: What was chosen.
        device: On which device, from 0.
        shown_here: How often the trial had been on this device's screen by then.
        shown: How often on any screen.
        acknowledged: Whether the server's word that it is saved came.
    """

    position: int
    side: str
    device: int
    shown_here: int
    shown: int
    acknowledged: bool = False


@dataclass
class Person:
    """Somebody at one or two devices.

    Attributes:
        promises: What was sent, by the answer's UUID.
        errors: What the pages' programs failed with.
        done: The faults that happened.
        networks: Those of their devices.
        stuck_at: Why the end was not reached.
    """

    browser: Browser
    link: str
    rng: random.Random
    faults: list[Fault]
    promises: dict[str, Promise] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    done: list[Fault] = field(default_factory=list)
    networks: list[Network] = field(default_factory=list)
    stuck_at: str = ""
    _contexts: list[BrowserContext] = field(default_factory=list)
    _pages: list[Page] = field(default_factory=list)
    _seen: defaultdict[tuple[str, int], Counter[int]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _at: int = 0
    _home: str = ""
    _later: list[asyncio.Task[None]] = field(default_factory=list)

    async def take_part(self, arm: Callable[[Network], None] = lambda _: None) -> bool:
        """Do a whole session; return whether its end was reached.

        Args:
            arm: Given the network after the consent page has come.
        """
        try:
            await self._take_a_device()
            await self._page.goto(self.link)
            await self._page.wait_for_function(_READ)
            arm(self.networks[0])
            async with asyncio.timeout(PATIENCE_S):
                await self._work()
            return True
        except (TimeoutError, PlaywrightError) as error:
            self.stuck_at = repr(error)
            return False
        finally:
            for task in self._later:
                task.cancel()
            for context in self._contexts:
                with suppress(PlaywrightError):
                    await context.close()

    @property
    def _page(self) -> Page:
        return self._pages[self._at]

    async def _take_a_device(self) -> None:
        number = len(self._contexts)
        context = await self.browser.new_context(viewport={"width": 800, "height": 600})
        context.set_default_timeout(_LOOK_MS)
        self._contexts.append(context)
        self.networks.append(Network())
        await context.route("**/*", self.networks[-1])
        await context.expose_binding(
            "saw", lambda source, count: self._saw(number, source["page"].url, count)
        )
        await context.add_init_script(_WATCH)
        context.on("request", lambda request: self._sent(number, request))
        context.on("response", self._replied)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self._pages.append(await self._window(context))
        self._at = number

    @staticmethod
    async def _window(context: BrowserContext) -> Page:
        page = await context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    def _saw(self, device: int, url: str, count: str) -> None:
        position = count.partition(" ")[0]
        if position.isdigit():
            self._seen[_home(url), int(position)][device] += 1

    def _sent(self, device: int, request: Request) -> None:
        body = request.post_data if request.url.endswith("/answers") else None
        if not body:
            return
        told = json.loads(body)
        seen = self._seen[_home(request.url), told["position"]]
        self.promises.setdefault(
            told["uuid"],
            Promise(told["position"], told["side"], device, seen[device], seen.total()),
        )

    async def _replied(self, response: Response) -> None:
        if not response.url.endswith("/answers") or not response.ok:
            return
        with suppress(PlaywrightError, ValueError):
            told, reply = json.loads(response.request.post_data or ""), await response.json()
            if reply.get("saved") == told["position"]:
                self.promises[told["uuid"]].acknowledged = True

    async def _work(self) -> None:
        steps = Counter[str]()
        while True:
            state = await self._look()
            phase = _phase(state)
            if phase:
                if "/p/" in self._page.url:
                    self._home = _home(self._page.url)
                due = [one for one in self.faults if _is_due(one, phase, steps[phase])]
                for fault in due:
                    self.faults.remove(fault)
                    await self._suffer(fault)
                if due:
                    continue
                steps[phase] += 1
                if phase == "thanks" and not self.faults:
                    return
            with suppress(PlaywrightError):
                if await self._act(state):
                    continue
            await asyncio.sleep(_POLL_S)

    async def _look(self) -> dict[str, str]:
        try:
            return await self._page.evaluate(_STATE)
        except PlaywrightError:
            return {"page": "", "section": "", "begun": ""}

    async def _act(self, state: dict[str, str]) -> bool:
        """Do what a page asks for; return whether there was something to do."""
        page, acts = self._page, self._acts()
        if state["page"] == "consent":
            # Who reads it takes longer than its program takes to arrive.
            await page.wait_for_function(_READ)
            state = await self._look()
        if state["page"] == "working":
            act = "feedback" if state["feedback"] else state["section"]
        else:
            act = "begun" if state["begun"] else state["page"]
        if act in acts:
            await acts[act](page)
        elif act == "trial":
            await page.evaluate(_PAINTED)
            await page.keyboard.press(self.rng.choice("12"))
            await page.wait_for_function(_NEXT, arg=state["count"], timeout=1_000)
            return True
        elif state["page"] == "":
            await self._look_again(page)
        return False

    async def _look_again(self, page: Page) -> None:
        """Wait for a page that is on its way; load it again where it is none of the server's."""
        await page.wait_for_load_state()
        if not await page.evaluate("document.body?.dataset.page"):
            await asyncio.sleep(0.2)
            await page.goto(self._home or self.link)

    @staticmethod
    def _acts() -> dict[str, Callable[[Page], Awaitable[None]]]:
        async def press(page: Page, what: str) -> None:
            await page.locator(what).first.click(timeout=1_000)

        async def answer(page: Page) -> None:
            await page.locator("textarea").fill("English", timeout=1_000)
            await press(page, "button.primary:enabled")

        go_on = "main > section:not([hidden]) [data-go-on]:enabled"
        return {
            "begun": lambda page: press(page, "#begun-before a"),
            "consent": lambda page: press(page, "button[value=accept]:enabled"),
            "instructions": lambda page: press(page, go_on),
            "feedback": lambda page: press(page, "#feedback button"),
            "break": lambda page: press(page, go_on),
            "other-device": lambda page: press(page, "#go-on-here"),
            "questionnaire": answer,
            "withdraw": lambda page: press(page, "a[data-in-page]"),
        }

    async def _suffer(self, fault: Fault) -> None:
        page, network, context = self._page, self.networks[self._at], self._contexts[self._at]
        self.done.append(fault)
        with suppress(PlaywrightError):
            if fault.kind in REQUESTS:
                failure = FAILURES.get(fault.kind) or slow_reply(fault.seconds)
                network.fail(fault.kind, failure, times=fault.times)
                if fault.phase == "thanks":
                    # Nothing is asked for there, unless somebody loads the page again.
                    await page.reload()
            elif fault.kind == "reload":
                await page.reload()
            elif fault.kind == "browser closed":
                await page.close()
                self._pages[self._at] = await self._window(context)
                await self._page.goto(self.link)
            elif fault.kind == "offline":
                await context.set_offline(True)
                self._after(fault.seconds, lambda: context.set_offline(False))
            elif fault.kind == "second device":
                await self._change_device(fault)
            elif fault.kind == "way out and back":
                await page.locator(".way-out a").click(timeout=1_000)

    async def _change_device(self, fault: Fault) -> None:
        before = self._at
        await self._take_a_device()
        if fault.returns:
            self._after(fault.seconds, lambda: self._return(before))
        await self._page.goto(self._home)

    async def _return(self, device: int) -> None:
        self._at = device
        with suppress(PlaywrightError):
            # A window that is looked at again is told so by the browser.
            await self._page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def _after(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        async def later() -> None:
            await asyncio.sleep(seconds)
            await act()

        self._later.append(asyncio.create_task(later()))


def _home(url: str) -> str:
    """Return the address of the session that a page or a request belongs to."""
    return "/".join(url.split("/")[:5]) + "/"


def _is_due(fault: Fault, phase: str, step: int) -> bool:
    """Whether a fault's moment has come; one after a phase's last action comes with the next."""
    now, its = PHASES.index(phase), PHASES.index(fault.phase)
    return its < now or (its == now and fault.step <= step)


def _phase(state: dict[str, str]) -> str:
    match state["page"], state["section"]:
        case "consent", _:
            return "consent"
        case "working", "instructions":
            return "instructions"
        case "working", "trial":
            return "practice" if not state["count"][:1].isdigit() else "trials"
        case "questionnaire", _:
            return "questionnaire"
        case "closing", _:
            return "thanks"
    return ""


def of_seed(browser: Browser, link: str, seed: str, faults: Sequence[Fault]) -> Person:
    """Return somebody who chooses as a seed says."""
    return Person(browser, link, random.Random(f"{seed} choices"), list(faults))
