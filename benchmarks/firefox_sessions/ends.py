"""What people do once their session is over, and what the browser shows them then."""

import asyncio
import shutil
from pathlib import Path

from experiment.studies.load import BUILT_IN
from firefox_sessions.browser import Firefox, Stuck, Window
from firefox_sessions.faults import PLACE_TAKEN
from firefox_sessions.network import ELSEWHERE

# The next person sits down; somebody goes away, presses the button that keeps the page, reads on;
# somebody else has taken the place meanwhile.
ENDS = ("shared computer", "left open", "stays", "reads on", PLACE_TAKEN)
# Five minutes pass in three seconds.
_HURRIED = (
    "() => { const real = window.setTimeout;"
    " window.setTimeout = (act, ms, ...rest) => real(act, ms === 300000 ? 3000 : ms, ...rest); }"
)
_PAGE = "return document.body.dataset.page"
_SHARED = "\n[privacy]\nshared_device = true\n"
_PANEL = """
[panel]
person = ["rid"]
[panel.parameters.rid]
pattern = "[a-z0-9]+"
[panel.endings.completed]
method = "form"
address = "{elsewhere}"
"""


def study_of(folder: Path, end: str, origin: str) -> tuple[str, str]:
    """Write the smallest study as its end needs it; return its folder and its recruiter."""
    study = folder / end.replace(" ", "_")
    direct = end in ("shared computer", PLACE_TAKEN)
    if not study.exists():
        shutil.copytree(BUILT_IN / "minimal", study)
        toml = study / "study.toml"
        text = toml.read_text("utf-8")
        if end == PLACE_TAKEN:
            text = text.replace("participants_per_list = 4", "participants_per_list = 1")
        elif direct:
            text += _SHARED
        else:
            text += _PANEL.replace("{elsewhere}", f"{origin}{ELSEWHERE}")
        toml.write_text(text, encoding="utf-8")
    return str(study), "direct" if direct else "panel"


async def hurry(browser: Firefox) -> None:
    """Let the closing pages of all windows to come wait for seconds in place of minutes."""
    await browser.before_pages(_HURRIED)


async def after(browser: Firefox, window: Window, link: str, end: str) -> list[str]:
    """Do what somebody does at the end, and return what is not as it should be."""
    if end == "shared computer":
        return await _next_person(browser, window, link)
    if end == PLACE_TAKEN:
        text = await window.run("return document.querySelector('main').innerText")
        code = await window.run("return document.querySelector('.own-code code')?.innerText")
        wrong = [] if "Your place was given to somebody else" in text else ["no reason is given"]
        return wrong if code else [*wrong, "the last page shows no code"]
    if end == "stays":
        await window.click("#stay")
        await asyncio.sleep(6)
        left = await window.run(_PAGE) != "closing"
        focus = await window.run("return document.activeElement?.tagName")
        wrong = ["the page was left though its reader stays"] if left else []
        return wrong if focus == "H1" else [*wrong, f"the focus is on {focus}"]
    if end == "reads on":
        for _ in range(10):
            await window.press("\ue015")
            await asyncio.sleep(0.6)
        if await window.run(_PAGE) != "closing":
            return ["the page was left while somebody reads"]
    try:
        await window.until(f"location.pathname === '{ELSEWHERE}'")
    except Stuck as error:
        return [f"nobody was led back: {error}"]
    return []


async def _next_person(browser: Firefox, window: Window, link: str) -> list[str]:
    code = await window.run("return document.querySelector('.own-code code')?.innerText")
    if not code:
        return ["the last page shows no code"]
    wrong, other = [], await browser.window()
    await other.go(link)
    await other.until("document.body.dataset.page")
    shown = await other.run("return document.documentElement.outerHTML")
    if await other.run(_PAGE) != "consent" or code in shown:
        wrong.append("the link shows the next person who was there before")
    for _ in range(3):
        try:
            await window.call("browsingContext.traverseHistory", delta=-1)
        except Stuck:  # there is no page before
            break
        await asyncio.sleep(2)  # what is shown until then is the page before
        await window.until("document.body?.dataset.page")
        shown = await window.run("return document.documentElement.outerHTML")
        if await window.run(_PAGE) not in ("consent", "finished_before") or code in (shown or ""):
            wrong.append(f"the way back shows {await window.run(_PAGE)}")
    await other.go(f"{link}/data")
    await other.run(f"document.querySelector('#code').value = {code!r}")
    await other.click("main form button.primary")
    await other.until("document.body.dataset.page !== 'data'")
    page = await other.run(_PAGE)
    if page not in ("own_data", "closing"):
        wrong.append(f"the code leads to {page}")
    await other.call("browsingContext.close")
    return wrong
