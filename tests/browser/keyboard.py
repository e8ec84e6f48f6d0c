"""A page by keyboard alone: Tab comes by everything, it is seen where it stands, and Enter acts."""

from playwright.sync_api import BrowserContext, Page

# Every place where the keyboard stops, numbered in the page's order; one for a group of radios.
# What Enter presses is kept in a list and goes no further: the page stays. Tab begins at the top of
# what is looked at.
_STOPS = """within => {
  const root = document.querySelector(within);
  const stops = [...root.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
    .filter(one => !one.disabled && one.tabIndex >= 0
      && one.checkVisibility({ visibilityProperty: true }))
    .filter((one, _, all) => one.type !== "radio"
      || one === (all.find(other => other.name === one.name && other.checked)
        ?? all.find(other => other.name === one.name)));
  window.lookOf = one => {
    const style = getComputedStyle(one);
    const outline = style.outlineStyle === "none" ? "" : style.outlineWidth + style.outlineColor;
    return [outline, style.boxShadow, style.backgroundColor, style.borderColor].join(" ");
  };
  document.activeElement.blur();
  window.pressed = [];
  window.kept = new AbortController();
  window.standsAt = () => {
    const here = document.activeElement;
    return [Number(here.dataset.stop ?? -1), here.dataset.look !== window.lookOf(here)];
  };
  window.stood = [];
  window.addEventListener("keydown", event => {
    if (event.key === "Tab") window.stood.push(window.standsAt());
  }, { capture: true, signal: window.kept.signal });
  window.addEventListener("click", event => {
    event.preventDefault();
    event.stopImmediatePropagation();
    window.pressed.push(Number(event.target.dataset.stop ?? -1));
  }, { capture: true, signal: window.kept.signal });
  // What comes from the server meanwhile would take the places away that have just been numbered.
  for (const swap of ["htmx:beforeSwap", "htmx:sseBeforeMessage"]) {
    window.addEventListener(swap, event => event.preventDefault(), { signal: window.kept.signal });
  }
  const before = root.getAttribute("tabindex");
  root.tabIndex = -1;
  root.focus();
  if (before === null) root.removeAttribute("tabindex");
  return stops.map((one, number) => {
    one.dataset.stop = number;
    one.dataset.look = window.lookOf(one);
    const field = one.matches("input")
      && !["checkbox", "radio", "file", "range"].includes(one.type);
    const button = field && one.form?.querySelector("button:not([type=button])");
    const acts = one.matches("a, button, summary") ? one : button;
    return [one.outerHTML.slice(0, 90), acts ? [...stops].indexOf(acts) : null];
  });
}"""
# Where the keyboard stood when Tab was pressed, but for the first time, and where it stands now.
_STOOD = """() => {
  window.kept.abort();
  return [[...window.stood.slice(1), window.standsAt()], window.pressed];
}"""
# What only a mouse can press: it hears clicks, and the keyboard does not stop there. Forms hear
# their buttons.
_LISTEN = """
  window.clickable = new Set();
  const { addEventListener: add } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (kind, ...more) {
    if (/^(click|mousedown|pointerdown)$/.test(kind) && this instanceof Element) {
      window.clickable.add(this);
    }
    return add.call(this, kind, ...more);
  };"""
_MOUSE_ONLY = """() => [...window.clickable]
  .filter(one => one.isConnected && !one.matches("html, body, form")
    && one.tabIndex < 0 && one.checkVisibility())
  .map(one => one.outerHTML.slice(0, 90))"""


def listen_for_clicks(context: BrowserContext) -> None:
    """Let a browser's pages keep what hears clicks, for ``assert_keyboard``."""
    context.add_init_script(_LISTEN)


def assert_keyboard(page: Page, name: str, *, within: str = "body") -> None:
    """Fail unless a page can be used without a mouse; nothing is really pressed.

    Tab comes by everything, in order; what it comes to looks different; Enter on a link or a button
    is a click, and in a field a click on its form's button; nothing else hears clicks.

    Args:
        page: The page, as it was opened.
        name: What a failure calls it.
        within: Which part of it: the head that all pages share is looked at once.
    """
    # What has the focus looks different at once, and not only after a transition.
    page.emulate_media(reduced_motion="reduce")
    mouse_only = page.evaluate(_MOUSE_ONLY)
    assert not mouse_only, f"{name}: only a mouse can press {mouse_only}"
    stops = page.evaluate(_STOPS, within)
    assert stops or within != "body", f"{name}: the keyboard stops nowhere"
    for _, acts in stops:
        page.keyboard.press("Tab")
        if acts is not None:
            page.keyboard.press("Enter")
    stood, pressed = page.evaluate(_STOOD)
    for number, (stop, _) in enumerate(stops):
        at, seen = stood[number]
        there = stops[at][0] if at >= 0 else "something that is no stop"
        assert at == number, f"{name}: Tab goes to {there}, not to {stop}"
        assert seen, f"{name}: nothing shows that the keyboard is at {stop}"
    wanted = [acts for _, acts in stops if acts is not None]
    wrong = [stops[acts][0] for acts in wanted if acts not in pressed]
    assert pressed == wanted, f"{name}: Enter does not press {wrong}"
