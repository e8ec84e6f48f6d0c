"""Every intended answer is taken, or its refusal is stored and said: twelve ways, every type."""

import json
import re
import shutil
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.browser.browser_steps import consent, expect_saved, start
from tests.browser.reading_steps import EXAMPLES
from tests.browser.ways_of_pressing import BY_FINGER, WAYS, Spot, press_through
from tests.experiment.responses.studies import PRESENTATIONS
from webapp.database.engine import reading
from webapp.database.models import Event, Participant, Run

STUDIES = {
    "sentence_pair": EXAMPLES / "sentence_pair",
    "prefix_completion": EXAMPLES / "prefix_completion",
    "option_list": PRESENTATIONS / "german_case",
    "rating": EXAMPLES / "given_lists",
    "scales": EXAMPLES / "scales",
    "yes_no": EXAMPLES / "yes_no",
    "self_paced": EXAMPLES / "self_paced",
    "read_then_rate": EXAMPLES / "read_then_rate",
    "maze": EXAMPLES / "maze",
    "mixed": EXAMPLES / "mixed",
}
TRIALS = 3
# Different types, in ways that differ most: the others are a campaign.
SAMPLE = [
    ("scales", "screen reader"), ("read_then_rate", "tap beside a resting finger"),
    ("yes_no", "double click"), ("mixed", "mouse and keyboard by turns"),
]  # fmt: skip


def copied(name: str, folder: Path) -> Path:
    study = shutil.copytree(STUDIES[name], folder / name)
    toml = (study / "study.toml").read_text("utf-8")
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"', toml, flags=re.MULTILINE)
    (study / "study.toml").write_text(toml, encoding="utf-8")
    return study


def expect_every_press_accounted_for(
    site, new_context, folder: Path, name: str, way: str, n_trials: int
) -> None:
    screen = {"viewport": {"width": 1280, "height": 800}}
    if way in BY_FINGER:
        screen = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
    context = new_context(**screen)
    page = context.new_page()
    link = site.launch(copied(name, folder))
    consent(page, link)
    work = json.loads(page.locator("#session").text_content())
    trials = [*work["practice"], *work["trials"]]
    steps = {
        frozenset(words): words[0]
        for trial in trials
        for words in zip(trial.get("steps", ()), trial.get("distractors", ()), strict=False)
    }
    start(page)

    def choose(spots: list[Spot]) -> Spot:
        right = steps.get(frozenset(spot.text for spot in spots))
        return next((spot for spot in spots if spot.text == right), spots[0])

    outcome = press_through(
        context, page, way, choose, practice=len(work["practice"]), trials=n_trials
    )
    expect_saved(page)
    [stored] = site.stored(link)
    with reading(site.sessions) as session:
        of_run = select(Event).join(Participant).join(Run).order_by(Event.id)
        refused = of_run.where(Run.ref == link.rpartition("/")[2], Event.kind == "premature_press")
        reasons = [event.detail["reason"] for event in session.scalars(refused)]
    print(f"| {name} | {way} | {dict(outcome.meant)} | {dict(outcome.second)} | {reasons} |")
    assert set(outcome.meant) == {"taken"}
    assert outcome.second["silent"] == 0
    assert bool(outcome.second) == (way == "double click")
    assert len(reasons) == outcome.refused
    assert stored.positions == list(range(1, n_trials + 1))


@pytest.mark.parametrize(("name", "way"), SAMPLE)
def test_every_press_is_taken_or_its_refusal_is_stored_and_said(
    site, new_context, tmp_path: Path, name: str, way: str
):
    # A second press needs a second trial to meet.
    n_trials = 2 if way == "double click" else 1
    expect_every_press_accounted_for(site, new_context, tmp_path, name, way, n_trials)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "way"), [cell for cell in product(STUDIES, WAYS) if cell not in SAMPLE]
)
def test_every_press_of_every_way_and_type_is_accounted_for(
    site, new_context, tmp_path: Path, name: str, way: str
):
    expect_every_press_accounted_for(site, new_context, tmp_path, name, way, TRIALS)
