"""How far each word's stored time lies from the true one: ours and jsPsych's self-paced reading.

    npm install jspsych @jspsych-contrib/plugin-self-paced-reading
    python benchmarks/reading_timing.py FOLDER

FOLDER is where npm was run. Both pages run in one browser, whose thread is kept busy for some of
every 50 ms. Keys are pressed a known time after each word. The true time runs from the second
animation frame after the press that showed the word to the browser's own time stamp of the next
press; an observer that the pages know nothing of reads both. jsPsych's plug-in counts from press to
press, so its times are measured against that as well. Ours has its presentation times taken away
(the rows "two frames"), for a canvas such as the plug-in's has none. It then knows the painting
from two frames too: its rows show that nothing is lost on the way, not when light left the screen.
"""

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import reaction_times
from agent_bench.site import Site, served
from playwright.sync_api import Browser, Page, sync_playwright
from reaction_times import LOADS_MS, SWITCHES, jspsych_site, show
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Trial

sys.path.append(str(Path(__file__).parents[1]))
from tests.prerequisites import CHROMIUM

WORDS = ["The", "baker", "who", "lives", "next", "door", "opens", "his", "shop"]
_WATCH = """
window.keyMs = []; window.paintedMs = [];
addEventListener("keydown", (event) => {
  window.keyMs.push(event.timeStamp);
  const n = window.keyMs.length;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.paintedMs[n - 1] = performance.now();
  }));
}, true);
"""
_JSPSYCH = """<!doctype html><meta charset="utf-8">
<script src="node_modules/jspsych/dist/index.browser.min.js"></script>
<script src="node_modules/@jspsych-contrib/plugin-self-paced-reading/dist/index.browser.min.js">
</script>
<body></body>
<script>
const jsPsych = initJsPsych();
window.kept = () => jsPsych.data.get().select("rt").values;
jsPsych.run(Array.from({ length: %d }, () =>
  ({ type: jsPsychSelfPacedReading, sentence: "SENTENCE", canvas_size: [900, 400] })));
</script>
""".replace("SENTENCE", " ".join(WORDS))


def _page(browser: Browser, busy_ms: int) -> Page:
    page = browser.new_page()
    page.set_default_timeout(120_000)
    for script in (
        _WATCH,
        reaction_times._WITHOUT_PRESENTATION,
        *([reaction_times._BUSY % busy_ms] if busy_ms else []),
    ):
        page.add_init_script(script)
    return page


def _read(page: Page, n_words: int, rng: random.Random) -> tuple[list[float], list[float]]:
    """Read a sentence; return each word's true time, and the one from press to press."""
    before = page.evaluate("() => keyMs.length")
    for number in range(n_words + 1):
        page.wait_for_timeout(rng.uniform(200, 400))
        page.keyboard.press("Space")
        page.wait_for_function("n => paintedMs[n] !== undefined", arg=before + number)
    keys, painted = (page.evaluate(f"n => {name}.slice(n)", before) for name in
                     ("keyMs", "paintedMs"))  # fmt: skip
    pairs = range(n_words)
    return [keys[k + 1] - painted[k] for k in pairs], [keys[k + 1] - keys[k] for k in pairs]


def ours(
    browser: Browser, site: Site, sentences: int, busy_ms: int, rng: random.Random
) -> list[float]:
    """Return the errors of a session's stored times."""
    page, true = _page(browser, busy_ms), list[float]()
    page.goto(site.link)
    page.locator("button[value=accept]").click()
    page.locator("#instructions [data-go-on]:enabled").click()
    home = page.url
    for number in range(1, sentences + 1):
        page.wait_for_function(
            "n => document.getElementById('count').textContent.startsWith(`${n} `)", arg=number
        )
        n_words = page.locator(".step").count()
        true += _read(page, n_words, rng)[0]
        if page.locator(".asked").is_visible():
            page.wait_for_timeout(300)
            page.keyboard.press("1")
    page.locator("#indicator").get_by_text("Saved").wait_for()
    page.close()
    stored = (
        select(Response.steps)
        .join(Trial, Trial.id == Response.trial_id)
        .join(Participant, Participant.id == Trial.participant_id)
        .where(Participant.ref == site.ref_of(home))
        .order_by(Trial.position)
    )
    with reading(site.app.extensions["parallax"].sessions) as session:
        kept = [ms for text in session.scalars(stored) for ms in json.loads(text)["rt_ms"]]
    return [one - other for one, other in zip(kept, true, strict=True)]


def theirs(
    browser: Browser, address: str, sentences: int, busy_ms: int, rng: random.Random
) -> tuple[list[float], list[float]]:
    """Return the errors of jsPsych's times, and of the same against press to press."""
    page = _page(browser, busy_ms)
    page.goto(address)
    page.locator("canvas").wait_for()
    true, pressed = list[float](), list[float]()
    for _ in range(sentences):
        own = _read(page, len(WORDS), rng)
        true += own[0]
        pressed += own[1]
        page.wait_for_timeout(200)
    kept = [ms for rts in page.evaluate("() => kept()") for ms in rts[1:]]
    page.close()
    return tuple(
        [one - other for one, other in zip(kept, times, strict=True)] for times in (true, pressed)
    )


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jspsych", type=Path, help="the folder that holds node_modules")
    parser.add_argument("--sentences", type=int, default=6)
    parser.add_argument("--chromium", default=CHROMIUM.find(), help="the browser")
    options = parser.parse_args()
    example = Path(__file__).parents[1] / "docs" / "examples" / "self_paced"
    rng = random.Random(1)
    print(f"{'errors in ms':<26}{'busy ms':>8}{'n':>6}{'median':>11}{'size, med':>11}"
          f"{'90 %':>9}{'most':>9}")  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        served(_whole(example, Path(folder)).parent, str(Path(folder) / example.name), 1) as (
            site,
            _,
        ),
        sync_playwright() as playwright,
        patch.object(reaction_times, "_JSPSYCH", _JSPSYCH),
    ):
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        n = options.sentences
        for busy_ms in LOADS_MS:
            show("Parallax, two frames", busy_ms, ours(browser, site, n, busy_ms, rng))
            with jspsych_site(options.jspsych, n) as address:
                painted, pressed = theirs(browser, address, n, busy_ms, rng)
            show("jsPsych, from painting", busy_ms, painted)
            show("jsPsych, press to press", busy_ms, pressed)
        browser.close()


def _whole(example: Path, folder: Path) -> Path:
    """Return a copy of a study that people may be invited to, without practice."""
    copied = shutil.copytree(example, folder / example.name)
    text = (copied / "study.toml").read_text("utf-8")
    text = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"', text, flags=re.MULTILINE)
    text = text.replace('practice = "practice.toml"', "lockout_ms = 0\n#").replace(
        'by = "region"', 'by = "word"'
    )
    (copied / "study.toml").write_text(text, encoding="utf-8")
    return copied


if __name__ == "__main__":
    main()
