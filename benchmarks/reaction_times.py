"""Measure the error of stored reaction times in a real browser at several loads.

Usage: python benchmarks/reaction_times.py [--types choice self-paced Maze] [--trials 40]
           [--busy 0 15 35] [--jspsych FOLDER] [--chromium PATH]

Each step of a sentence that is read step by step counts as a time of its own. FOLDER is the folder
in which `npm install jspsych @jspsych/plugin-html-keyboard-response` was run; without it, jsPsych
has no rows. The true time is the difference between the browser's presentation time of the text and
its time stamp of the key, both read by an observer script that is independent of the pages.
Parallax reads the same presentation time if the browser reports it, so its own rows only show that
nothing is lost on the way; the rows "two frames" omit that time, as in browsers without it.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from agent_bench.site import Site, served
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Trial

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

SWITCHES = ["--no-sandbox", "--disable-gpu"]
# How much of every 50 ms the page's thread is kept busy with something else.
LOADS_MS = (0, 15, 35)
# Of a sentence, about.
_STEPS = 6
# How often, and how long each time, the answers' arrival is waited for.
_MOST_WAITS, _WAIT_MS = 100, 100
Session = dict[str, Any]
Act = Callable[[Page, Session, int, random.Random], list[float]]
_WATCH = """
window.keyMs = []; window.paintedMs = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.paintedMs.push(entry.renderTime);
}).observe({ type: "element", buffered: true });
addEventListener("keydown", (event) => window.keyMs.push(event.timeStamp), true);
"""
_BUSY = """
setInterval(() => {
  const end = performance.now() + %d;
  while (performance.now() < end);
}, 50);
"""
_WITHOUT_PRESENTATION = """
Object.defineProperty(PerformanceObserver, "supportedEntryTypes", { get: () => [] });
"""
_PAINTED = "() => Math.max(...paintedMs) > (keyMs.at(-1) ?? 0)"
_JSPSYCH = """<!doctype html><meta charset="utf-8">
<script src="node_modules/jspsych/dist/index.browser.min.js"></script>
<script src="node_modules/@jspsych/plugin-html-keyboard-response/dist/index.browser.min.js">
</script>
<body></body>
<script>
const jsPsych = initJsPsych();
const timeline = Array.from({ length: %d }, (_, n) => ({
  type: jsPsychHtmlKeyboardResponse,
  stimulus: `<p id="n${n}" elementtiming="n${n}">The author of ${n} laughs.</p>`,
  choices: ["1", "2"],
}));
window.rtMs = () => jsPsych.data.get().select("rt").values;
jsPsych.run(timeline);
</script>
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def jspsych_site(folder: Path, trials: int) -> Iterator[str]:
    """Serve an experiment of jsPsych and yield its address."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "node_modules").symlink_to(folder.resolve() / "node_modules")
        (Path(place) / "index.html").write_text(_JSPSYCH % trials, encoding="utf-8")
        handler = partial(_Quiet, directory=place)
        server = ThreadingHTTPServer(("localhost", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def _page(browser: Browser, busy_ms: int, *more: str) -> Page:
    page = browser.new_page()
    page.set_default_timeout(15_000)
    for script in (_WATCH, *([_BUSY % busy_ms] if busy_ms else []), *more):
        page.add_init_script(script)
    return page


def _press(page: Page, shown: str, rng: random.Random, key: str = "1") -> float:
    """Press a key some time after something is on the screen; return the true reaction time."""
    page.wait_for_function(shown)
    page.wait_for_timeout(rng.uniform(300, 500))
    pressed = page.evaluate("() => keyMs.length")
    page.keyboard.press(key)
    page.wait_for_function("n => keyMs.length > n", arg=pressed)
    key_ms = page.evaluate("n => keyMs[n]", pressed)
    painted = page.evaluate("key => Math.max(...paintedMs.filter((ms) => ms < key))", key_ms)
    return float(key_ms - painted)


def choices(page: Page, session: Session, trials: int, rng: random.Random) -> list[float]:
    """Answer trials of choices by key; return the true reaction times, in milliseconds."""
    shown = "() => document.getElementById('count').textContent.startsWith('{} ')"
    return [_press(page, shown.format(position), rng) for position in range(1, trials + 1)]


def steps(page: Page, session: Session, trials: int, rng: random.Random) -> list[float]:
    """Read the practice and some sentences; return the true times of the stored steps, in ms."""
    true_ms = []
    for number, trial in enumerate([*session["practice"], *session["trials"][:trials]]):
        maze = "right" in trial
        if not maze:
            # The first press shows the first step.
            page.locator(f".window .step.masked >> nth={len(trial['steps']) - 1}").wait_for()
            page.wait_for_timeout(500)
            page.keyboard.press("Space")
        keys = ["f" if right == "l" else "j" for right in trial["right"]] if maze else []
        step_ms = [
            _press(page, _PAINTED, rng, key) for key in keys or ["Space"] * len(trial["steps"])
        ]
        if trial.get("question"):
            _press(page, _PAINTED, rng, "f" if maze else "1")
        if number < len(session["practice"]):
            page.locator("#feedback [data-go-on]").click()
        else:
            true_ms += step_ms
    return true_ms


def _choice_ms(response: Response) -> list[float | None]:
    return [response.rt_ms]


def _step_ms(response: Response) -> list[float | None]:
    return list(json.loads(response.steps or "{}")["rt_ms"])


# What each type of response is measured in: a study, what a participant does, and the stored times.
TYPES: dict[str, tuple[str, Act, Callable[[Response], list[float | None]]]] = {
    "choice": ("marvin_linzen_2018", choices, _choice_ms),
    "self-paced": ("docs/examples/self_paced", steps, _step_ms),
    "Maze": ("docs/examples/maze", steps, _step_ms),
}


def parallax(
    browser: Browser,
    site: Site,
    type_: str,
    trials: int,
    busy_ms: int,
    rng: random.Random,
    *more: str,
) -> list[float]:
    """Return the errors of a session's stored times, in milliseconds."""
    _, act, stored_ms = TYPES[type_]
    page = _page(browser, busy_ms, *more)
    page.goto(site.link)
    page.locator("button[value=accept]").click()
    session = json.loads(page.locator("#session").text_content() or "")
    page.locator("#instructions [data-go-on]:enabled").click()
    home = page.url
    true_ms = act(page, session, trials, rng)
    stored = (
        select(Response)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.ref == site.ref_of(home))
        .order_by(Trial.position)
    )
    recorded: list[float | None] = []
    for _ in range(_MOST_WAITS):
        with reading(site.app.extensions["parallax"].sessions) as database:
            recorded = [ms for response in database.scalars(stored) for ms in stored_ms(response)]
        if len(recorded) == len(true_ms):
            break
        page.wait_for_timeout(_WAIT_MS)
    page.close()
    return [ms - true for ms, true in zip(recorded, true_ms, strict=True) if ms is not None]


def jspsych(
    browser: Browser, address: str, trials: int, busy_ms: int, rng: random.Random
) -> list[float]:
    """Return the errors of the times that jsPsych keeps, in milliseconds."""
    page = _page(browser, busy_ms)
    page.goto(address)
    true_ms = [_press(page, f"() => !!document.getElementById('n{n}')", rng) for n in range(trials)]
    recorded = page.evaluate("() => rtMs()")
    page.close()
    return [one - true for one, true in zip(recorded, true_ms, strict=True)]


def show(name: str, busy_ms: int, errors: list[float]) -> None:
    """Print one row."""
    size = sorted(map(abs, errors))
    ninety = quantiles(size, n=10)[8]
    print(
        f"{name:<34}{busy_ms:>8}{len(errors):>6}{median(errors):>11.1f}{median(size):>11.1f}"
        f"{ninety:>9.1f}{size[-1]:>9.1f}",
        flush=True,
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--types", nargs="+", default=list(TYPES), choices=TYPES, help="the types of response")
    add("--study", help="the study of choices", default=TYPES["choice"][0])
    add("--trials", type=int, default=40, help="of choices, and steps of sentences, about")
    add(
        "--busy", type=int, nargs="+", default=LOADS_MS, metavar="MS",
        help="how much of every 50 ms the page's thread is kept busy with something else",
    )  # fmt: skip
    add("--jspsych", type=Path, help="the folder that holds node_modules")
    add("--chromium", default=CHROMIUM.find(), help="the browser")
    add("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"{'errors in ms':<34}{'busy ms':>8}{'n':>6}{'median':>11}{'size, med':>11}"
          f"{'90 %':>9}{'most':>9}")  # fmt: skip
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        for busy_ms in options.busy:
            for type_ in options.types:
                _measure_type(browser, type_, busy_ms, options, rng)
            if options.jspsych:
                with jspsych_site(options.jspsych, options.trials) as address:
                    errors = jspsych(browser, address, options.trials, busy_ms, rng)
                show("jsPsych, html-keyboard-response", busy_ms, errors)
        browser.close()


def _measure_type(
    browser: Browser, type_: str, busy_ms: int, options: argparse.Namespace, rng: random.Random
) -> None:
    choice = type_ == "choice"
    study = options.study if choice else TYPES[type_][0]
    trials = options.trials if choice else max(1, options.trials // _STEPS)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), study, options.seed) as (site, _),
    ):
        for note, more in (("", []), (", two frames", [_WITHOUT_PRESENTATION])):
            errors = parallax(browser, site, type_, trials, busy_ms, rng, *more)
            show(f"Parallax, {type_}{note}", busy_ms, errors)


if __name__ == "__main__":
    main()
