"""Let each request of a session fail, one a session, and count who is stuck or loses an answer.

Usage: python benchmarks/page_faults.py [--chromium /usr/bin/chromium] [--most 1000]

The n-th session of a kind of failure loses the n-th request after the consent page has come, and no
other, until a session has no n-th request.
"""

import argparse
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from sqlalchemy import func, select
from werkzeug.serving import make_server

from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Run, Trial
from webapp.runs.launch import launch

SWITCHES = ["--no-sandbox", "--disable-gpu"]
PATIENCE_MS = 60_000
# A trial is over when the count says another position, or none is shown.
_NEXT = "before => document.getElementById('count')?.textContent !== before || !document.getElementById('trial') || document.getElementById('trial').hidden"  # noqa: E501


def _lose_the_reply(route: Route) -> None:
    route.fetch(max_redirects=0)
    route.abort()


FAILURES: dict[str, Callable[[Route], None]] = {
    "no connection": Route.abort,
    "the reply is lost": _lose_the_reply,
    "the server is in trouble": lambda route: route.fulfill(status=503, body="<h1>Busy</h1>"),
    "a login page": lambda route: route.fulfill(status=200, body="<h1>Please log in</h1>"),
}


class Failing:
    """Lets the n-th request fail.

    Attributes:
        lost: What it asked for; empty while it has not come.
    """

    def __init__(self, n: int, fail: Callable[[Route], None]) -> None:
        self._n, self._fail, self.lost = n, fail, ""

    def __call__(self, route: Route) -> None:
        """Answer a request."""
        self._n -= 1
        if self._n:
            route.continue_()
            return
        self.lost = f"{route.request.method} {_kind(route.request.url)}"
        self._fail(route)


def _kind(url: str) -> str:
    last = url.partition("?")[0].rpartition("/")[2]
    return "page" if not last or "/run/" in url else last


def take_part(page: Page, link: str, failing: Failing) -> None:
    """Do a whole session, of which one request fails."""
    page.goto(link)
    page.wait_for_load_state("networkidle")
    page.context.route("**/*", failing)
    page.locator("button[value=accept]").click()
    page.locator("#instructions [data-go-on]").click()
    while page.locator("body").get_attribute("data-page") == "working":
        if not page.locator("#trial").is_visible():
            page.wait_for_timeout(50)
            continue
        before = page.locator("#count").inner_text()
        page.wait_for_timeout(200)
        page.keyboard.press("1")
        page.wait_for_function(_NEXT, arg=before)
    page.locator("textarea[name=native_language]").fill("English")
    page.locator("button.primary").click()
    page.wait_for_selector("body[data-page=closing]")


def main() -> None:
    """Run the sessions and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    parser.add_argument("--most", type=int, default=1000, help="how many sessions at most")
    options = parser.parse_args()
    outcomes = Counter[tuple[str, str, str]]()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        app = create_app(Path(folder) / "instance")
        server = make_server("localhost", 0, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        browser = playwright.chromium.launch(executable_path=options.chromium, args=SWITCHES)
        try:
            for name, fail in FAILURES.items():
                for n in count(1):
                    if outcomes.total() >= options.most:
                        break
                    failing = Failing(n, fail)
                    came = _one(browser, app, f"http://localhost:{server.port}", failing)
                    if not failing.lost:
                        break
                    outcomes[name, failing.lost, came] += 1
        finally:
            browser.close()
            server.shutdown()
            thread.join()
            server.server_close()
            app.extensions["parallax"].engine.dispose()
    for (name, lost, came), n in sorted(outcomes.items()):
        print(f"{name:<26}{lost:<22}{came:<28}{n:>4}")
    well = sum(n for (*_, came), n in outcomes.items() if came == "finished, 8 answers")
    print(
        f"{sum(outcomes.values())} sessions, {sum(outcomes.values()) - well} stuck or with a loss"
    )


def _one(browser: Browser, app, origin: str, failing: Failing) -> str:  # noqa: ANN001
    """Return how a session of a run of its own ended."""
    sessions = app.extensions["parallax"].sessions
    study = load_study("minimal")
    with sessions() as session:
        run = launch(session, study, 1, "direct", now=utc_now(), code_version="0")
        session.commit()
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    try:
        take_part(context.new_page(), f"{origin}/run/{run.ref}", failing)
        stuck = ""
    except PlaywrightError:
        stuck = "stuck, "
    finally:
        context.close()
    with reading(sessions) as session:
        state, answers = session.execute(
            select(func.max(Participant.state), func.count(Response.id))
            .select_from(Participant)
            .join(Run, Run.id == Participant.run_id)
            .outerjoin(Trial, Trial.participant_id == Participant.id)
            .outerjoin(Response, Response.trial_id == Trial.id)
            .where(Run.ref == run.ref)
        ).one()
    return f"{stuck}{state}, {answers} answers"


if __name__ == "__main__":
    main()
