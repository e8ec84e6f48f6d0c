"""Measure the error of stored reaction times in a real browser at several loads.

Usage: python benchmarks/reaction_times.py [--study marvin_linzen_2018] [--trials 25]
           [--busy 0 15 35] [--jspsych FOLDER] [--chromium PATH]

FOLDER is the folder in which `npm install jspsych @jspsych/plugin-html-keyboard-response` was run;
without it, jsPsych has no rows. The true time is the difference between the browser's presentation
time of the text and its time stamp of the key, both read by an observer script that is independent
of the pages. Parallax reads the same presentation time if the browser reports it, so its own rows
only show that nothing is lost on the way; the rows "two frames" omit that time, as in browsers
without it.
"""

import argparse
import random
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles

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
    page.set_default_timeout(120_000)
    for script in (_WATCH, *([_BUSY % busy_ms] if busy_ms else []), *more):
        page.add_init_script(script)
    return page


def _press(page: Page, shown: str, rng: random.Random) -> float:
    """Press a key some time after something is on the screen; return the true reaction time."""
    page.wait_for_function(shown)
    page.wait_for_timeout(rng.uniform(300, 500))
    pressed = page.evaluate("() => keyMs.length")
    page.keyboard.press("1")
    page.wait_for_function("n => keyMs.length > n", arg=pressed)
    key_ms = page.evaluate("n => keyMs[n]", pressed)
    painted = page.evaluate("key => Math.max(...paintedMs.filter((ms) => ms < key))", key_ms)
    return float(key_ms - painted)


def parallax(
    browser: Browser, site: Site, trials: int, busy_ms: int, rng: random.Random, *more: str
) -> list[float]:
    """Return the errors of a session's stored times, in milliseconds."""
    page = _page(browser, busy_ms, *more)
    page.goto(site.link)
    page.locator("button[value=accept]").click()
    page.locator("#instructions [data-go-on]:enabled").click()
    home, true_ms = page.url, []
    for position in range(1, trials + 1):
        shown = f"() => document.getElementById('count').textContent.startsWith('{position} ')"
        true_ms.append(_press(page, shown, rng))
    page.locator("#indicator").get_by_text("Saved").wait_for()
    page.close()
    stored = (
        select(Response.rt_ms)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.ref == site.ref_of(home))
        .order_by(Trial.position)
    )
    with reading(site.app.extensions["parallax"].sessions) as session:
        recorded = session.scalars(stored).all()
    return [one - true for one, true in zip(recorded, true_ms, strict=True) if one is not None]


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
        f"{name:<26}{busy_ms:>8}{len(errors):>6}{median(errors):>11.1f}{median(size):>11.1f}"
        f"{ninety:>9.1f}{size[-1]:>9.1f}",
        flush=True,
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--trials", type=int, default=25, help="of each row, at most a session's")
    parser.add_argument(
        "--busy", type=int, nargs="+", default=LOADS_MS, metavar="MS",
        help="how much of every 50 ms the page's thread is kept busy with something else",
    )  # fmt: skip
    parser.add_argument("--jspsych", type=Path, help="the folder that holds node_modules")
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trials, rng = options.trials, random.Random(options.seed)
    print(f"{'errors in ms':<26}{'busy ms':>8}{'n':>6}{'median':>11}{'size, med':>11}"
          f"{'90 %':>9}{'most':>9}")  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), options.study, options.seed) as (site, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        for busy_ms in options.busy:
            show("Parallax", busy_ms, parallax(browser, site, trials, busy_ms, rng))
            found = parallax(browser, site, trials, busy_ms, rng, _WITHOUT_PRESENTATION)
            show("Parallax, two frames", busy_ms, found)
            if options.jspsych:
                with jspsych_site(options.jspsych, trials) as address:
                    found = jspsych(browser, address, trials, busy_ms, rng)
                show("jsPsych", busy_ms, found)
        browser.close()


if __name__ == "__main__":
    main()
