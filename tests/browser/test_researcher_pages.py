"""The researcher's pages in Chromium: good to use in light and dark, at a desk, on a phone.

The study is in Arabic, so its texts are seen where they have the least room.
"""

from itertools import count
from uuid import uuid4

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from analysis.report.write import render_report
from tests.analysis import small_run
from tests.browser import researcher_walk as walk
from tests.browser.browser_steps import assert_good, minimal
from tests.browser.keyboard import assert_keyboard, listen_for_clicks
from tests.browser.researcher_seen import REPORTS, Seen
from tests.webapp.payments.platform_double import WritingDouble
from webapp.core.clock import utc_now
from webapp.database.models import Assignment, Hit, Participant, Recruitment, Run
from webapp.gate.gate import begin_ledger_entry, store_ledger_state
from webapp.payments import run_payments
from webapp.researcher import recruitment
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user, make_first_owner_token

PASSWORD = "correct horse battery"
HERE = "http://127.0.0.1:9"  # of the platform: programs may be sent to this machine alone
HOSTILE = "\"'><img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}} \u202e=1+1"

# Every page is looked at on the phone in the dark, where it has the least room, and so many of them
# at the desk too.
AT_THE_DESK = [3, pytest.param(1, marks=pytest.mark.campaign)]

LOOKS = {
    "light at a desk": ("light", {"width": 1280, "height": 900}),
    "dark on a phone": ("dark", {"width": 390, "height": 800}),
}


@pytest.fixture
def run(site, tmp_path, monkeypatch) -> str:
    """A run with somebody who finished and handed in, and somebody at work; its reference."""
    ref = site.launch(minimal(tmp_path, language="ar")).rpartition("/")[2]
    client = site.app.test_client()
    homes = [client.post(f"/run/{ref}", data={"decision": "accept"}).location for _ in range(2)]
    for position in range(1, 9):
        body = {
            "uuid": str(uuid4()), "position": position, "side": "first", "rt_ms": 500.0,
            "input_method": "key", "client_time": utc_now().isoformat(),
        }  # fmt: skip
        assert client.post(f"{homes[0]}answers", json=body).status_code == 200
    client.post(f"{homes[0]}questionnaire", data={"native_language": HOSTILE})
    platform, now = WritingDouble(now=utc_now(), endpoint=HERE), utc_now()
    with site.sessions.begin() as session:
        # As publishing does: the file beside the database knows of the offer.
        begin_ledger_entry(session.connection())
        found = session.query(Run).filter_by(ref=ref).one()
        session.add(Recruitment(run_id=found.id, endpoint=HERE, published_at=now))
        hit = Hit(
            run_id=found.id, token=f"t{ref}", purpose="recruitment", places=9,
            platform_id=f"HIT{ref}", posted_at=now,
        )  # fmt: skip
        session.add(hit)
        session.flush()
        store_ledger_state(session.connection())
        who = session.query(Participant).filter_by(run_id=found.id).order_by(Participant.id).first()
        who.platform_id = f"A{ref}"
        found.recruiter = "mturk"  # people came by the plain link; the double answers for it
        session.add(
            Assignment(
                run_id=found.id,
                hit_id=hit.id,
                platform_id=f"ASSIGNMENT{ref}",
                status="submitted",
                participant_id=who.id,
                worker_id=f"A{ref}",
                submit_to="",
                receipt="",
                accepted_at=now,
                submitted_at=now,
            )
        )
        platform.add(f"ASSIGNMENT{ref}", f"A{ref}", hit=f"HIT{ref}")
        add_user(session, f"owner-{ref}", Role.OWNER, hash_password(PASSWORD), by="a test", now=now)
    for module in (run_payments, recruitment):
        monkeypatch.setattr(module, "open_platform", lambda *_, **__: platform)
    return ref


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    """A report as an analysis writes it, of four items and three people."""
    folder = tmp_path_factory.mktemp("report")
    export = small_run.write_export(folder / "export", small_run.tables(), small_run.facts())
    return render_report(small_run.compared(export), {}, {"python": "3.99"})


def turn(page: Page, look: str) -> None:
    """Show the page as it is in one of the looks."""
    scheme, size = LOOKS[look]
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(size)


@pytest.mark.parametrize("one_in", AT_THE_DESK)
def test_every_page_is_good_and_what_people_typed_never_runs(
    site, run, report, new_context, tmp_path, monkeypatch, one_in
):
    context = new_context(locale="en")
    listen_for_clicks(context)
    # Every page but a few is looked at, and what looks is half a megabyte.
    context.add_init_script(AXE_SCRIPT)
    page, seen = context.new_page(), Seen(site.app)
    alerts, reports, number = list[str](), set[str](), count()
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))

    def look_at(name: str, look: str, *, known: bool) -> None:
        turn(page, look)
        try:
            assert_good(page, f"{name}, {look}", known=known)
        except AssertionError:
            page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
            raise

    def good(name: str) -> None:
        seen.look()
        if name in REPORTS:
            # No program runs in it, nor what looks at it: so it is looked at elsewhere.
            html = page.content()
            if html in reports:
                return  # who has its link reads the very same page
            reports.add(html)
            page.goto("about:blank")
            page.set_content(html)
        # Pages are opened on the phone; what no screen decides is looked at once, there.
        look_at(name, "dark on a phone", known=False)
        if next(number) % one_in == 0:
            look_at(name, "light at a desk", known=True)
        whole = name in {"sign_in", "run_blind"}
        assert_keyboard(page, name, within="body" if whole else "main")
        turn(page, "dark on a phone")

    pages_url = f"{site.origin}/researcher"
    # Colours are looked at as they stay, not on the way to them.
    page.emulate_media(reduced_motion="reduce")
    turn(page, "dark on a phone")
    with monkeypatch.context() as before_anybody:
        before_anybody.setattr("webapp.users.users.has_owner", lambda _: False)
        token = make_first_owner_token(site.app.extensions["parallax"].tokens, utc_now())
        page.goto(f"{pages_url}/first-owner?token={token}")
        good("first_owner")
    page.goto(f"{pages_url}/runs/{run}")
    good("sign_in")
    page.get_by_label("Name").fill(f"owner-{run}")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text(run)
    good("run_blind")
    page.get_by_label("Why do you need").fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(page.get_by_text("unblinded the run on")).to_be_visible()
    for name, path in walk.addresses(run).items():
        page.goto(f"{pages_url}/{path}")
        good(name)
    walk.make_a_study(page, pages_url, f"mine_{run}", good)
    walk.make_a_project(page, pages_url, f"mine_{run}", good)
    walk.make_keys(page, pages_url, f"new-{run}", good)
    page.goto(f"{pages_url}/runs/{run}/participants")
    page.locator("tbody a").first.click()
    expect(page.get_by_text("Trial by trial", exact=True).first).to_be_visible()
    good("participant")
    page.get_by_text("Write a note or tags").click()
    page.get_by_label("Note", exact=True).fill(HOSTILE)
    page.get_by_label("Tags, separated by commas").fill("slow, pilot")
    page.get_by_role("button", name="Write", exact=True).press("Enter")
    expect(page.locator(".note .said")).to_have_text(HOSTILE)
    good("noted")
    page.get_by_role("link", name="Play it as a film").click()
    page.get_by_role("button", name="Next trial").click()
    expect(page.locator("[data-part=count]")).to_contain_text("trial 2 of 8")
    good("film")
    page.go_back()
    walk.settle(page, HOSTILE, good, says="Nothing is left to do")
    page.goto(f"{pages_url}/runs/{run}")
    page.get_by_label("More places in each list").fill("2")
    page.get_by_role("button", name="Add places").press("Enter")
    expect(page.get_by_text("/ 12")).to_be_visible()
    walk.recruit(page, pages_url, run, good)
    walk.share_a_report(page, pages_url, site.app, run, report, good)
    page.goto(f"{pages_url}/runs/none")
    good("error")
    walk.set_a_second_factor_up(page, pages_url, f"owner-{run}", PASSWORD, good)
    seen.refuse_unseen()
    assert alerts == []
