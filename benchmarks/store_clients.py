"""Do the stand-ins of stores answer as the stores' own client programs expect?

JATOS's jatos.js and jsPsych's plugin for DataPipe, as their authors publish them, run in Chromium
against the stand-ins. Then people take a study of ours with JATOS's own jatos.js, all at once, with
replies that are lost and pages that are loaded again.

Usage: python -m benchmarks.store_clients --jatos FOLDER --npm FOLDER

The first folder is modules/publix/public/javascripts of a checkout of github.com/JATOS/JATOS. In
the second, `npm install jspsych @jspsych-contrib/plugin-pipe` was run. What is not given is left
out, and said.
"""

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Route,
    WebSocketRoute,
    sync_playwright,
)

from benchmarks.store_faults.acts import come_back
from marketplace.stores.datapipe import Experiment
from marketplace.stores.jatos.held import Jatos
from tests.browser.browser_steps import answer_by_key, minimal, questionnaire, start
from tests.browser.static_site import Stores, command, stores, written
from tests.prerequisites import CHROMIUM

_PIPE = "https://pipe.jspsych.org"
_PLUGIN = "node_modules/@jspsych-contrib/plugin-pipe"
# What the plugin and jsPsych are as one classic script each.
_SCRIPTS = ("node_modules/jspsych/dist/index.browser.min.js", f"{_PLUGIN}/dist/index.browser.js")

Claim = tuple[str, bool]


def plugin_claims(kept: Stores, page: Page, npm: Path) -> Iterator[Claim]:
    """Yield what jsPsych's plugin for DataPipe says and whether the stand-in bears it out."""
    page.route(f"{_PIPE}/**", lambda route: _to_the_stand_in(kept, route))
    page.route(
        f"{_PIPE}/page",
        lambda route: route.fulfill(
            body="<!doctype html><title>x</title>", content_type="text/html"
        ),
    )
    page.goto(f"{_PIPE}/page")
    for script in _SCRIPTS:
        page.add_script_tag(path=npm / script)
    experiments = kept.app.blueprints["datapipe"].experiments
    experiments["three00conds"] = Experiment(conditions=3)
    experiments["no0condition"] = Experiment(conditions=0)
    experiments["full00000000"] = Experiment(most_sessions=0)
    pipe = lambda call: page.evaluate(f"() => jsPsychPipe.{call}")  # noqa: E731
    given = [pipe('getCondition("three00conds")') for _ in range(4)]
    yield f"getCondition, called four times of three conditions: {given}", given == [0, 1, 2, 0]
    refused = pipe('getCondition("no0condition")')
    yield f"getCondition, not switched on: {refused}", refused is None
    text = json.dumps([{"trial": 1, "said": "naïve \U0001f600"}])
    saved = pipe(f'saveData("three00conds", "s1.json", {json.dumps(text)})')
    file = kept.folder / "datapipe" / "s1.json"
    same = file.is_file() and file.read_text("utf-8") == text
    yield (
        f"saveData: {_said(saved)}; the file is the text sent",
        saved.get("message") == "Success" and same,
    )
    again = pipe('saveData("three00conds", "s1.json", "[]")')
    yield f"saveData, the name again: {_said(again)}", "FILE_EXISTS" in again.get("error", "")
    yield "and the first file is unchanged", file.read_text("utf-8") == text
    full = pipe('saveData("full00000000", "s2.json", "[]")')
    yield f"saveData, no more sessions: {_said(full)}", full.get("error") == "SESSION_LIMIT_REACHED"
    yield from _timeline_claims(kept, page)


def _timeline_claims(kept: Stores, page: Page) -> Iterator[Claim]:
    """A whole jsPsych timeline, which draws a condition and saves its data."""
    page.evaluate(
        """async () => {
          const jsPsych = initJsPsych({});
          await jsPsych.run([
            { type: jsPsychPipe, action: "condition", experiment_id: "timeline0000" },
            { type: jsPsychPipe, action: "save", experiment_id: "timeline0000", filename: "t.json",
              data_string: () => jsPsych.data.get().json() },
          ]);
          window.successes = jsPsych.data.get().values().map((trial) => trial.success);
        }"""
    )
    successes = page.evaluate("() => window.successes")
    data = json.loads((kept.folder / "datapipe" / "t.json").read_text("utf-8"))
    yield (
        f"a timeline with both: success {successes}, condition {data[0]['result']}",
        (successes == [True, True] and data[0]["result"] == 0),
    )


def _said(result: dict) -> str:
    return str(result.get("error") or result.get("message"))


def _to_the_stand_in(kept: Stores, route: Route) -> None:
    url = route.request.url.replace(_PIPE, f"{kept.origin}/datapipe")
    route.fulfill(response=route.fetch(url=url, max_retries=2))


_BARE = '<!doctype html><title>x</title><script src="jatos.js"></script><body>'


def jatos_claims(kept: Stores, new_context: Callable[[], BrowserContext]) -> Iterator[Claim]:
    """Yield what JATOS's own program does, alone, and whether the stand-in bears it out."""
    jatos = kept.app.blueprints["jatos"].jatos
    code = jatos.bring_in(_bare_archive())
    pages = [new_context().new_page() for _ in range(2)]
    held = _holding_back(pages[1])
    for page in pages:
        page.goto(f"{kept.origin}/publix/{code}?PROLIFIC_PID=x1")
        page.evaluate("() => new Promise((done) => jatos.onLoad(done))")
    first, second = pages
    yield f"jatos.js {first.evaluate('() => jatos.version')} is ready", True
    asked = first.evaluate("() => jatos.urlQueryParameters")
    yield f"the link's parameters: {asked}", asked == {"PROLIFIC_PID": "x1"}
    first.evaluate("""async () => {
      await jatos.appendResultData("a\\n");
      await jatos.appendResultData({ b: 1 });
    }""")
    yield (
        "appendResultData twice, a text and an object",
        jatos.studies[code].runs[_run(first)].data == ['a\n{"b":1}'],
    )
    second.evaluate(
        "async () => { await jatos.appendResultData('a'); await jatos.submitResultData('c'); }"
    )
    yield (
        "submitResultData takes the place of what was there",
        jatos.studies[code].runs[_run(second)].data == ["c"],
    )
    first.evaluate("async () => await jatos.batchSession.set('n', 1)")
    second.wait_for_function("() => jatos.batchSession.get('n') === 1")
    yield "batchSession.set in one window is seen in the other", True
    held.append(True)
    outcome = [page.evaluate(_CHANGE) for page in pages]
    yield f"two changes of one version: {outcome[0]}, {outcome[1]}", outcome == ["made", "failed"]
    del held[:]
    again = second.evaluate(_CHANGE)
    yield f"and the second again, with the version that it was told: {again}", again == "made"
    first.evaluate("() => jatos.log('a line')")
    sent = first.evaluate(
        """async () => await jatos.appendResultData("d".repeat(6 * 1024 * 1024))
             .then(() => "taken", (why, status) => status)"""
    )
    yield f"more than 5 MB: {sent}", sent == 413
    first.evaluate("async () => await jatos.endStudyWithoutRedirect(true, 'done')")
    yield "endStudyWithoutRedirect ends the run", jatos.studies[code].runs[_run(first)].finished
    answer = first.goto(first.url)
    yield f"the page of an ended run, again: {answer.status}", answer.status == 403


def _run(page: Page) -> str:
    return page.evaluate("() => jatos.studyResultUuid")


_CHANGE = """async () => await jatos.batchSession
  .set("n", 5).then(() => "made", () => "failed")"""


def _holding_back(page: Page) -> list[bool]:
    """Keep others' changes from a window while the list that is returned holds something."""
    held: list[bool] = []

    def between(channel: WebSocketRoute) -> None:
        server = channel.connect_to_server()
        server.on_message(lambda text: None if held and '"SESSION"' in text else channel.send(text))

    page.route_web_socket("**/batch/open", between)
    return held


def _bare_archive() -> bytes:
    about = {
        "version": "3",
        "data": {
            "uuid": "u",
            "title": "t",
            "componentList": [{"uuid": "c", "htmlFilePath": "index.html"}],
        },
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("bare/index.html", _BARE)
        archive.writestr("bare.jas", json.dumps(about))
    return made.getvalue()


def our_claims(
    kept: Stores, new_context: Callable[[], BrowserContext], folder: Path, people: int
) -> Iterator[Claim]:
    """Yield what becomes of our own study with JATOS's own program."""
    instance = folder / "instance"
    archive = written(minimal(folder), folder / "study.jzip", instance, "--store", "jatos")
    jatos = kept.app.blueprints["jatos"].jatos
    code = jatos.bring_in(archive.read_bytes())
    pages = [new_context().new_page() for _ in range(people)]
    kept.faults.plan.update({kept.faults.seen + n: "lost_after" for n in range(12, 200, 7)})
    for number, page in enumerate(pages):
        # The last has a link of their own.
        page.goto(f"{kept.origin}/publix/{code}" + "?session=8" * (number == people - 1))
        page.locator("button[value=accept]").wait_for()
    for page in pages:
        page.locator("button[value=accept]").click(no_wait_after=True)
    for number, page in enumerate(pages):
        page.locator("#instructions").wait_for(timeout=60_000)
        start(page)
        answer_by_key(page, 3)
        if number % 2:
            page.reload()
            come_back(page)
            start(page)
        answer_by_key(page, 5)
        questionnaire(page)
    ended = sum(run.finished for run in jatos.studies[code].runs.values())
    yield f"{people} people take it: {ended} runs ended in JATOS", ended == people
    results = folder / "results.jrzip"
    results.write_bytes(jatos.results(code))
    told = command("import", "sessions", str(results), "--instance", str(instance))
    yield f"the import says: {people} finished", f"{people} finished" in told
    yield (
        "no number is given twice, nothing is missing",
        not re.search(r"several people|not in the files", told),
    )
    ways = re.findall(r'"number\\":(\d+),\\"by\\":\\"(\w+)', "".join(_results(jatos, code)))
    yield f"sessions drawn: {_drawn(ways)}", ("8", "link") in ways and len(set(ways)) == people
    yield f"{len(kept.faults.struck)} replies were lost on the way", bool(kept.faults.struck)


def _results(jatos: Jatos, code: str) -> list[str]:
    return [data for run in jatos.studies[code].runs.values() for data in run.data]


def _drawn(ways: list[tuple[str, str]]) -> str:
    return ", ".join(f"{number} by {by}" for number, by in sorted(set(ways)))


def told_of(what: str, claims: Iterator[Claim]) -> bool:
    """Print each claim as it is decided, and return whether all hold."""
    click.echo(what)
    holds = True
    for claim, true in claims:
        click.echo(f"  {'yes' if true else 'NO '}  {claim}")
        holds &= true
    return holds


@click.command()
@click.option("--jatos", type=click.Path(path_type=Path, exists=True), help="jatos.js's folder.")
@click.option("--npm", type=click.Path(path_type=Path, exists=True), help="Where npm installed.")
@click.option("--people", default=6, show_default=True)
def main(jatos: Path | None, npm: Path | None, people: int) -> None:
    """Run the clients that are given against the stand-ins."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM.find())
        holds = _run_all(browser, Path(place), jatos, npm, people)
        browser.close()
    raise SystemExit(0 if holds else 1)


def _run_all(
    browser: Browser, folder: Path, jatos: Path | None, npm: Path | None, people: int
) -> bool:
    holds = True
    with stores(folder / "kept", jatos) as kept:
        if npm:
            version = json.loads((npm / _PLUGIN / "package.json").read_text())["version"]
            title = f"DataPipe's client, @jspsych-contrib/plugin-pipe {version}"
            holds &= told_of(title, plugin_claims(kept, browser.new_page(), npm))
        else:
            click.echo("DataPipe's client was not given (--npm).")
        if jatos:
            holds &= told_of("JATOS's client, alone", jatos_claims(kept, browser.new_context))
            ours = our_claims(kept, browser.new_context, folder, people)
            holds &= told_of("A study of ours with JATOS's client", ours)
        else:
            click.echo("JATOS's client was not given (--jatos).")
    return holds


if __name__ == "__main__":
    main()
