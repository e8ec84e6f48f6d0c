"""A study without a server whose levels read and are asked different things, on some devices."""

import re
import shutil
from pathlib import Path

from playwright.sync_api import expect
from sqlalchemy import select

from tests.browser.browser_steps import answer_by_key, consent, expect_page, start
from tests.browser.static_site import StaticSite, stores
from webapp.commands.options import open_sessions
from webapp.database.engine import reading
from webapp.database.models import Response

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "between_participants"
MORE = """
[[design.wording]]
when = { filler_length = "long" }
title = "Which long sentence sounds better?"
pages = { instructions = "instructions_long", debrief = "debrief_long" }

[trial]
lockout_ms = 0

[taking_part]
devices = ["desktop"]
traces = true

[[questionnaire]]
name = "tired"
label = "Did the long sentences tire you?"
type = "choice"
options = ["yes", "no"]
required = true
when = { filler_length = "long" }
"""
PHONE = {"viewport": {"width": 320, "height": 568}, "is_mobile": True, "has_touch": True}


def with_levels(folder: Path) -> Path:
    study = shutil.copytree(EXAMPLE, folder / EXAMPLE.name)
    toml = re.sub('^(contact|institution|ethics) = ""', r'\1 = "x"',
                  (study / "study.toml").read_text("utf-8"), flags=re.MULTILINE)  # fmt: skip
    (study / "study.toml").write_text(toml + MORE, encoding="utf-8")
    for page in ("instructions", "debrief"):
        text = study / "texts" / "en" / f"{page}_long.md"
        text.write_text(f"# Long {page}\n\nOf long sentences.\n", encoding="utf-8")
    return study


def test_each_level_reads_its_own_pages_and_is_asked_its_own_questions(tmp_path, new_context):
    with stores(tmp_path / "kept") as kept:
        site = StaticSite(kept, tmp_path / "static")
        link = site.launch(with_levels(tmp_path))
        phone = new_context(**PHONE).new_page()
        phone.goto(link)
        expect(phone.locator("#wrong-device")).to_be_visible()
        expect(phone.locator("button[value=accept]")).to_have_count(0)
        for session, long in ((1, False), (2, True)):
            page = new_context().new_page()
            consent(page, f"{link}?session={session}")
            expect(page.get_by_text("Of long sentences.")).to_have_count(int(long))
            start(page)
            title = f"Which {'long ' * long}sentence sounds better?"
            expect(page.locator("#trial .question")).to_have_text(title)
            answer_by_key(page, 16)
            expect_page(page, "questionnaire")
            expect(page.get_by_text("tire you")).to_have_count(int(long))
            if long:
                page.get_by_role("radio", name="no", exact=True).check()
            page.get_by_label("What is your native language?").fill(" ")
            page.get_by_role("button", name="Finish").click()
            expect(page.locator(".problem")).to_have_count(1)
            expect(page.get_by_text("tire you")).to_have_count(int(long))
            page.get_by_label("What is your native language?").fill("English")
            page.get_by_role("button", name="Finish").click()
            expect_page(page, "closing")
            expect(page.get_by_text("Of long sentences.")).to_have_count(int(long))
        stored = site.stored(link)
    assert [one.questionnaire.get("tired") for one in stored] == [None, "no"]
    assert [(one.state, len(one.responses)) for one in stored] == [("finished", 16)] * 2
    with reading(open_sessions(tmp_path / "static" / "instance")) as session:
        assert all(session.scalars(select(Response.trace)))
