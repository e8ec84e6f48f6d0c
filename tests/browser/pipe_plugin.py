"""What jsPsych's own plugin for DataPipe expects of the stand-in, as its authors publish it."""

import json
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, Route

from marketplace.stores.datapipe import Experiment
from tests.browser.static_site import Stores

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
    experiments["three00conds"] = Experiment(n_conditions=3)
    experiments["no0condition"] = Experiment(n_conditions=0)
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
