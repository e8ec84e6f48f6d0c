"""The whole way of a worker in a browser: the marketplace's site with the study in its frame."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Frame, Page, expect
from werkzeug.serving import make_server

from experiment.studies.load import load_study
from marketplace.mturk import create_marketplace
from marketplace.serving import serve_in_thread
from tests.browser.browser_site import Site
from tests.browser.browser_steps import (
    answer_by_click,
    assert_good,
    minimal,
    questionnaire,
    start,
)
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.recruiters.mturk.client import MturkClient, open_client
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan
from webapp.runs.launch import launch_run


@dataclass
class Market:
    """A marketplace in which a run is published, and the server of the study."""

    url: str
    site: Site
    platform: MturkClient

    def publish(self, study: Path) -> str:
        """Launch and publish a study, and return its run's link."""
        with self.site.sessions() as session:
            run = launch_run(
                session, load_study(str(study)), 1, "mturk", now=utc_now(), code_version="0"
            )
            session.commit()
        link = f"{self.site.origin}/run/{run.ref}"
        plan = draft_plan(self.site.sessions, self.platform, run.ref, link, utc_now())
        assert list(carry_out_plan(self.site.sessions, self.platform, plan, utc_now))
        return link


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    marketplace = create_marketplace(tmp_path / "marketplace")
    with serve_in_thread(marketplace) as url:
        instance = tmp_path / "instance"
        instance.mkdir()
        (instance / "parallax.toml").write_text(f'mturk_endpoint = "{url}"')
        app = create_app(instance)
        # The other name of this machine, and so another site, as on a real platform.
        server = make_server("localhost", 0, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield Market(url, Site(app, server), open_client(url))
        server.shutdown()
        thread.join()
        server.server_close()
        app.extensions["parallax"].engine.dispose()
    marketplace.extensions["marketplace"].engine.dispose()


def sign_in(page: Page, market: Market, worker_id: str = "AANN") -> None:
    page.goto(market.url)
    page.locator("#worker_id").fill(worker_id)
    page.get_by_role("button", name="Sign in").click()


def in_frame(page: Page, name: str) -> Frame:
    """Wait until the study's page of that name is shown in the marketplace's frame."""
    shown = page.frame_locator("iframe").locator("body")
    expect(shown).to_have_attribute("data-page", name)
    return page.frames[1]


def accept(page: Page) -> Frame:
    page.get_by_role("button", name="Accept").click()
    frame = in_frame(page, "consent")
    frame.locator("button[value=accept]").click()
    return in_frame(page, "working")


def finish(page: Page, frame: Frame) -> Frame:
    start(frame)
    answer_by_click(frame, 8)
    questionnaire(frame)
    return in_frame(page, "closing")


def submitted(market: Market, link: str) -> int:
    return poll_run(
        market.site.sessions, market.platform, link.rpartition("/")[2], utc_now()
    ).submitted


def test_a_worker_looks_accepts_returns_begins_anew_and_hands_in(market, forgetful_page, tmp_path):
    page = forgetful_page
    link = market.publish(minimal(tmp_path))
    sign_in(page, market)
    page.get_by_role("link", name="Which sentence sounds better?", exact=True).click()
    frame = in_frame(page, "consent")
    frame.locator("button[value=accept]").click()
    frame = in_frame(page, "working")
    start(frame)
    preview = json.loads(frame.locator("#session").text_content())["trials"]
    answer_by_click(frame, len(preview))
    expect(frame.get_by_text("Nothing was stored")).to_be_visible()
    assert market.site.stored(link) == []
    frame = accept(page)
    start(frame)
    answer_by_click(frame, 3)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Return").click()
    page.get_by_role("link", name="Which sentence sounds better?", exact=True).click()
    # This browser gives a frame of another site no storage, so nothing shows that they are the
    # same: docs/decisions/forged-arrivals.md says why an id alone does not.
    frame = finish(page, accept(page))
    assert_good(frame, "the closing page in a marketplace")
    frame.get_by_role("button", name="Submit my work").click()
    expect(page.get_by_text("Your work is submitted. Thank you!")).to_be_visible()
    assert submitted(market, link) == 1
    [stored] = [each for each in market.site.stored(link) if each.state == "finished"]
    assert sorted(stored.positions) == list(range(1, 9))


def test_who_leaves_the_closing_page_open_hands_in_all_the_same(market, page, tmp_path):
    link = market.publish(minimal(tmp_path))
    sign_in(page, market)
    page.get_by_role("link", name="Which sentence sounds better?", exact=True).click()
    frame = accept(page)
    start(frame)
    answer_by_click(frame, 8)
    # Only now: presentation times are the browser's own, which this clock does not move.
    page.clock.install()
    questionnaire(frame)
    in_frame(page, "closing")
    assert submitted(market, link) == 0
    page.clock.fast_forward(301_000)
    expect(page.get_by_text("Your work is submitted. Thank you!")).to_be_visible()
    assert submitted(market, link) == 1
    [stored] = market.site.stored(link)
    assert (stored.state, stored.positions) == ("finished", list(range(1, 9)))
