# ruff: noqa: F811 - fixtures that another file has
"""Studies' whole lives on researcher pages: launched, published, watched, paid, put away.

Programs take part by the queue that a process of its own looks after, as on a server.
"""

import re
import shutil
import time

import pytest
from playwright.sync_api import expect

from tests.browser.browser_steps import (
    answer_by_click,
    assert_good,
    consent,
    minimal,
    questionnaire,
    start,
)
from tests.browser.keyboard import assert_keyboard, listen_for_clicks
from tests.browser.researcher_lab import lab, page, sign_in  # noqa: F401 - fixtures
from tests.browser.researcher_steps import (
    JOB_MS,
    figure,
    figures,
    launch,
    publish,
    put_away,
    send_programs,
    upload,
)
from webapp.jobs.platforms import send_reports

# Whoever clicks before a trial takes answers is not heard.
AT_ONCE = "[trial]\nlockout_ms = 0"
DECIDED = re.compile(r"^\s*(kept|excluded)\s*[1-9]")


# test_researcher_pages looks at Mechanical Turk's pages, and who is paid there is tried without a
# browser, in webapp/recruiters/mturk.
MTURK = pytest.param("mturk", marks=pytest.mark.campaign)


@pytest.mark.parametrize("recruiter", [MTURK, "prolific"])
def test_a_study_is_published_at_a_platform_watched_settled_paid_and_archived(recruiter, lab, page):
    def good(name: str) -> None:
        if recruiter == "mturk":
            return  # test_researcher_pages looks at these pages with it
        assert_good(page, f"{name}, {recruiter}")
        assert_keyboard(page, f"{name}, {recruiter}", within="main")

    listen_for_clicks(page.context)
    launch(page, lab, "minimal", recruiter)
    publish(page, good)
    send_programs(page, 2)
    figure(page, "finished", "2")
    # What a platform is told of by a job, it is told once a minute: now, so that nobody waits.
    send_reports(lab.app.extensions["parallax"])
    page.get_by_role("button", name="Recruitment…").click()
    figure(page, "submitted", "2")
    good("recruitment")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("button", name="Apply the exclusion rules").click()
    page.get_by_role("link", name="Money").click()
    page.get_by_role("button", name="Approve everyone").click()
    page.get_by_role("button", name=re.compile("^Yes: .* to 2")).click()
    expect(page.get_by_text("result: 2 done")).to_be_visible()
    page.get_by_role("button", name="Reconcile").click()
    expect(page.get_by_text(re.compile("agree"))).to_be_visible()
    page.get_by_role("link", name="Overview").click()
    figure(page, "people paid", "2")
    put_away(page)


def test_a_study_is_published_by_its_link_watched_exported_and_archived(lab, page, tmp_path):
    launch(page, lab, upload(page, lab, tmp_path), "panel")
    lab.list_at_panel(page.locator("dt", has_text="Link").locator("+ dd code").inner_text())
    send_programs(page, 2)
    figure(page, "finished", "2")
    with page.expect_navigation():
        page.get_by_role("button", name="Apply the exclusion rules").click()
    decided = page.locator("dl.figures > div").filter(has_text=DECIDED)
    expect(decided).not_to_have_count(0)
    # Programs err at random: who is kept is drawn with them, and none is left undecided.
    seen = figures(page)
    assert seen["kept"] + seen["excluded"] == 2
    with page.expect_download() as sent:
        page.get_by_role("button", name="Export").click()
    assert sent.value.suggested_filename.startswith("parallax-run-")
    put_away(page)


def test_two_people_edit_a_study_and_one_deletes_it_while_somebody_takes_part(
    lab, page, sign_in, new_context
):
    page.goto(f"{lab.researcher_url}/studies")
    page.locator("form[action$=copy] select").select_option("minimal")
    page.locator("form[action$=copy] [name=name]").fill("ours")
    page.get_by_role("button", name="Copy", exact=True).click()
    page.locator("textarea.writing").wait_for()
    bens = sign_in("ben")
    bens.goto(page.url)
    for each, added in ((page, f"# anna was here\n{AT_ONCE}"), (bens, "# ben was here")):
        text = each.locator("textarea[name=content]")
        text.fill(f"{text.input_value()}\n{added}\n")
        each.get_by_role("button", name="Save", exact=True).click()
        each.wait_for_load_state()
    expect(bens.get_by_role("alert")).to_contain_text("nothing was stored")
    theirs = bens.get_by_label("What somebody else saved").input_value()
    assert "# anna was here" in theirs and "# ben was here" not in theirs
    page.get_by_role("button", name="Try what is saved").click()
    expect(page.get_by_text("simulated", exact=True)).to_be_visible()
    link = page.locator("dt", has_text="Link").locator("+ dd code").inner_text()
    taking_part = new_context().new_page()
    consent(taking_part, link)
    start(taking_part)
    answer_by_click(taking_part, 2)
    bens.goto(f"{lab.researcher_url}/studies")
    bens.get_by_role("row", name=re.compile("^ours")).get_by_label("I am sure").check()
    bens.get_by_role("button", name="Delete ours").click()
    expect(bens.get_by_role("row", name=re.compile("^ours"))).to_have_count(0)
    answer_by_click(taking_part, 6)
    questionnaire(taking_part)
    page.reload()
    figure(page, "finished", "1")


def test_a_study_with_code_of_its_own_is_refused_whoever_asks(lab, page, tmp_path):
    study = minimal(tmp_path)
    text = (study / "study.toml").read_text("utf-8")
    own = text.replace('"sentence_pair"', '"mine:RESPONSE"')
    (study / "study.toml").write_text(own, "utf-8")
    (study / "mine.py").write_text("RESPONSE = None\n", "utf-8")
    page.goto(f"{lab.researcher_url}/launch")
    archive = shutil.make_archive(str(tmp_path / "own"), "zip", tmp_path, "minimal")
    page.get_by_label("Zip file").set_input_files(archive)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_text("would import code that is not installed")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Launch with seed"))).to_have_count(0)


def test_power_is_simulated_by_the_queue_and_what_works_there_is_cancelled(lab, page):
    page.goto(f"{lab.researcher_url}/studies/power?study=minimal")
    page.get_by_label("Participants per list").fill("3")
    page.get_by_label("Simulated studies for each number").fill("2")
    page.get_by_role("button", name="Simulate", exact=True).click()
    expect(page.get_by_text("done", exact=True)).to_be_visible(timeout=JOB_MS)
    expect(page.locator("pre[aria-label=Power]")).to_contain_text("participants")
    assert page.evaluate("document.querySelector('#jobs img').naturalWidth") > 100
    page.get_by_role("button", name=re.compile("^Delete")).click()
    page.get_by_label("Simulated studies for each number").fill("1000")
    page.get_by_role("button", name="Simulate", exact=True).click()
    # The page looks by itself, as above; meanwhile a processor would be busy for nothing.
    until = time.monotonic() + JOB_MS / 1000
    while page.get_by_text("waiting", exact=True).is_visible() and time.monotonic() < until:
        page.reload()
    expect(page.get_by_text("working", exact=True)).to_be_visible(timeout=JOB_MS)
    page.get_by_role("button", name=re.compile("^Cancel")).click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible(timeout=JOB_MS)
