"""People whom a panel sends to a study without a server, and who go back to it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.browser_steps import (
    answer_by_key,
    consent,
    expect_page,
    minimal,
    questionnaire,
    start,
)
from tests.browser.static_site import command, stores, written

_PANEL = '\n[panel]\npreset = "prolific"\n[panel.codes]\ncompleted = "C1ABCD12"\n'
_BACK = "https://app.prolific.com/submissions/complete"
_HEX = "5f0000000000000000000001"
_IDS = f"PROLIFIC_PID={_HEX}&STUDY_ID={_HEX}&SESSION_ID={_HEX}"


@pytest.mark.parametrize("store", ["post", "jatos"])
def test_what_the_link_says_is_kept_and_the_way_back_is_the_panels(tmp_path, new_context, store):
    study, instance = minimal(tmp_path), tmp_path / "instance"
    with (study / "study.toml").open("a", encoding="utf-8") as file:
        file.write(_PANEL)
    with stores(tmp_path) as kept:
        if store == "jatos":
            options, out = ("--store", "jatos"), tmp_path / "study.jzip"
        else:
            options, out = ("--store", "post", "--url", f"{kept.origin}/keep"), tmp_path / "site"
        made = written(study, out, instance, *options, "--recruiter", "panel")
        jatos = kept.app.blueprints["jatos"].jatos
        if store == "jatos":
            link = f"{kept.origin}/publix/{jatos.import_archive(made.read_bytes())}"
        else:
            link = kept.host("s", made)
        nobody = new_context().new_page()
        nobody.goto(link)
        expect_page(nobody, "error")
        for _ in range(2):  # the same person, in two browsers
            page = new_context().new_page()
            consent(page, f"{link}?{_IDS}")
            start(page)
            answer_by_key(page, 8)
            questionnaire(page)
            page.route(f"{_BACK}**", lambda route: route.fulfill(body="back"))
            page.locator("form[data-submit-form] button.primary").click()
            expect(page).to_have_url(f"{_BACK}?cc=C1ABCD12")
        held = kept.folder / "post" if store == "post" else results(kept.folder, jatos)
        told = command("import", "sessions", str(held), "--instance", str(instance))
    assert "1 finished" in told
    assert told.count("the same person has another session in this run") == 1


def results(folder: Path, jatos) -> Path:
    [code] = jatos.studies
    file = folder / "results.jrzip"
    file.write_bytes(jatos.results(code))
    return file
