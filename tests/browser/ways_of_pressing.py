"""Twelve ways of pressing, by the browser's own input where it can, and what comes of each."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle

from playwright.sync_api import BrowserContext, Page

from tests.browser.browser_steps import let_frames_pass

# What a trial shows now: a press that is taken changes it.
SHOWN = """() => {
  const all = selector => [...document.querySelectorAll(selector)];
  return JSON.stringify([
    location.pathname, document.getElementById("count")?.textContent,
    all("#feedback, .asked, .before, .window, .said, #break").map(one => one.hidden),
    all(".step, .option").map(one => [one.className, one.ariaPressed]),
    all("[data-field], .maze .sentence").map(one => one.textContent),
  ]);
}"""
SAID = "() => document.querySelector('.uncounted')?.textContent ?? ''"
# What can be pressed now: the question's answers, the next step, or the first open scale's points.
SPOTS = """() => {
  const seen = (within, selector) =>
    [...within.querySelectorAll(selector)].filter(one => one.checkVisibility());
  const asked = document.querySelector(".asked:not([hidden])");
  const within = asked ?? document.querySelector(".stage");
  const open = seen(within, ".scale").find(one => !one.querySelector("[aria-pressed=true]"));
  const next = asked ? [] : seen(within, "[data-next]");
  return (next.length ? next : seen(open ?? within, "[data-side]")).map(one => {
    const { x, y, width, height } = one.getBoundingClientRect();
    const key = one.getAttribute("aria-keyshortcuts") ?? "Space";
    const text = (one.querySelector(".sentence") ?? one).textContent.trim();
    return { x: x + width / 2, y: y + height / 2, key, text };
  });
}"""
# Longer than the lock-out after the painting of what is to be answered; timers may be early.
READ = """ms => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
  () => setTimeout(done, ms))))"""
OUTCOME = f"""async before => {{
  for (const end = performance.now() + 1000; performance.now() < end;) {{
    if (({SHOWN})() !== before) return "taken";
    if (({SAID})()) return "said";
    await new Promise(requestAnimationFrame);
  }}
  return "silent";
}}"""
PRESSED = "([x, y]) => document.elementFromPoint(x, y).closest('button, [data-side], [data-next]')"
# What a second press at one place meets: nothing, the answer that the first one gave, or more.
MEETS = """([x, y]) => {
  const met = document.elementFromPoint(x, y).closest(".stage [data-side], [data-next]");
  return met ? (met.ariaPressed === "true" ? "the same answer" : "") : "nothing";
}"""
DISPATCHED = f"""([x, y]) => {{
  const pressed = ({PRESSED})([x, y]);
  pressed.focus();
  const at = {{ bubbles: true, cancelable: true, detail: 1, clientX: x, clientY: y }};
  for (const type of ["mousedown", "mouseup", "click"])
    pressed.dispatchEvent(new MouseEvent(type, at));
}}"""


@dataclass(frozen=True)
class Spot:
    """What can be pressed: its middle, its key, and its text."""

    x: float
    y: float
    key: str
    text: str

    @property
    def at(self) -> list[float]:
        return [self.x, self.y]


class Hand:
    """Presses spots of a page, in one way or in two by turns."""

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self._page, self._cdp = page, context.new_cdp_session(page)
        self._clicked: tuple[float, list[float]] = (0.0, [])
        self._rests = False

    def keyboard(self, spot: Spot) -> None:
        self._page.keyboard.press(spot.key)

    def held_key(self, spot: Spot) -> None:
        """Hold a key until it has repeated itself five times."""
        for _ in range(6):
            self._page.keyboard.down(spot.key)
            let_frames_pass(self._page, 2)
        self._page.keyboard.up(spot.key)

    def mouse(self, spot: Spot, pointer: str = "mouse") -> None:
        self._mouse("mouseMoved", spot, pointer, 0)
        # A browser counts the presses at one place within the double-click time.
        last, at = self._clicked
        clicks = 2 if at == spot.at and time.monotonic() - last < 0.5 else 1
        self._clicked = (time.monotonic(), spot.at)
        self._mouse("mousePressed", spot, pointer, clicks)
        self._mouse("mouseReleased", spot, pointer, clicks)

    def _mouse(self, kind: str, spot: Spot, pointer: str, clicks: int) -> None:
        button = "none" if kind == "mouseMoved" else "left"
        event = {"type": kind, "x": spot.x, "y": spot.y, "button": button, "clickCount": clicks}
        self._cdp.send("Input.dispatchMouseEvent", event | {"pointerType": pointer})

    def pen(self, spot: Spot) -> None:
        self.mouse(spot, "pen")

    def dwell(self, spot: Spot) -> None:
        """Rest on a spot until software clicks."""
        self._mouse("mouseMoved", spot, "mouse", 0)
        let_frames_pass(self._page, 12)
        self._mouse("mousePressed", spot, "mouse", 1)
        self._mouse("mouseReleased", spot, "mouse", 1)

    def touch(self, spot: Spot) -> None:
        finger = {"x": spot.x, "y": spot.y, "id": 1}
        resting = [{"x": 380, "y": 790, "id": 7}] if self._rests else []
        self._cdp.send(
            "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [*resting, finger]}
        )
        let_frames_pass(self._page, 2)
        ended = [finger] if self._rests else []
        self._cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": ended})

    def tap_beside_a_resting_finger(self, spot: Spot) -> None:
        if not self._rests:
            self._rests = True
            resting = {"type": "touchStart", "touchPoints": [{"x": 380, "y": 790, "id": 7}]}
            self._cdp.send("Input.dispatchTouchEvent", resting)
            let_frames_pass(self._page, 20)
        self.touch(spot)

    def lift(self) -> None:
        """Lift the finger that rests, before Continue is pressed."""
        if self._rests:
            self._rests = False
            self._cdp.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})

    def voice(self, spot: Spot) -> None:
        self._page.evaluate(f"at => ({PRESSED})(at).click()", spot.at)

    def switch(self, spot: Spot) -> None:
        """Press what has the focus, as scanning does."""
        self._page.evaluate(f"at => ({PRESSED})(at).focus()", spot.at)
        self._page.keyboard.press("Space")

    def screen_reader(self, spot: Spot) -> None:
        self._page.evaluate(DISPATCHED, spot.at)


WAYS: Mapping[str, tuple[str, ...]] = {
    "keyboard": ("keyboard",),
    "mouse": ("mouse",),
    "touch": ("touch",),
    "pen": ("pen",),
    "voice": ("voice",),
    "switch": ("switch",),
    "dwell": ("dwell",),
    "screen reader": ("screen_reader",),
    "held key": ("held_key",),
    "tap beside a resting finger": ("tap_beside_a_resting_finger",),
    "double click": ("mouse",),
    "mouse and keyboard by turns": ("mouse", "keyboard"),
}
BY_FINGER = {"touch", "tap beside a resting finger"}


@dataclass
class Outcome:
    """How many presses of real trials were meant, taken, refused and said, or neither."""

    meant: Counter[str] = field(default_factory=Counter)
    second: Counter[str] = field(default_factory=Counter)

    @property
    def refused(self) -> int:
        return self.meant["said"] + self.second["said"]


def press_through(
    context: BrowserContext,
    page: Page,
    way: str,
    choose: Callable[[list[Spot]], Spot],
    *,
    practice: int,
    trials: int,
) -> Outcome:
    """Take the practice and so many trials, pressing after everything was read."""
    hand, outcome = Hand(context, page), Outcome()
    acts = cycle([getattr(hand, name) for name in WAYS[way]])

    def is_past() -> bool:
        place = page.locator("#count").inner_text()
        return not place.startswith("Practice") and int(place.split()[0]) > trials

    while True:
        if page.locator("#feedback [data-go-on]").is_visible():
            hand.lift()
            page.locator("#feedback [data-go-on]").click()
            practice -= 1
        if page.locator("#break [data-go-on]").is_visible():
            page.locator("#break [data-go-on]").click()
        if not page.locator("#trial").is_visible():
            break
        if is_past():
            break
        page.evaluate(READ, 170)
        spots = [Spot(**spot) for spot in page.evaluate(SPOTS)]
        if not spots:
            continue
        counted = outcome if practice <= 0 else Outcome()
        spot, act = choose(spots), next(acts)
        before = page.evaluate(SHOWN)
        act(spot)
        counted.meant[page.evaluate(OUTCOME, before)] += 1
        goes_on = page.locator("#trial").is_visible() and not is_past()
        if way == "double click" and goes_on:
            before, met = page.evaluate(SHOWN), page.evaluate(MEETS, spot.at)
            act(spot)
            counted.second[met or page.evaluate(OUTCOME, before)] += 1
    hand.lift()
    return outcome
