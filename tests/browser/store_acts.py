"""What may go wrong between a page and its store, one thing in each session."""

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from marketplace.stores.datapipe import Experiment
from tests.browser.browser_steps import answer_by_key, expect_page, questionnaire, start
from tests.browser.static_site import command
from tests.browser.store_place import SAYS, TRIALS, WAIT_MS, Found, Place, finish, look


def arrive(page: Page, link: str) -> None:
    """Open the link, again where the host fails."""
    page.goto(link)
    come_back(page)


def come_back(page: Page) -> None:
    """Load the page again where the host failed, as a person would."""
    if page.locator("body").get_attribute("data-page") is None:
        page.reload()


def agree(page: Page) -> None:
    """Agree, and begin the trials."""
    page.locator("button[value=accept]").click()
    _begin(page)


def _begin(page: Page) -> None:
    expect_page(page, "working")
    start(page)


def whole(context: BrowserContext, place: Place) -> Page:
    """Take the whole study."""
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    arrive(page, place.link)
    agree(page)
    answer_by_key(page, TRIALS)
    questionnaire(page)
    return page


Contexts = Callable[[], BrowserContext]


def each_request(place: Place, contexts: Contexts, kind: str, every: int) -> Found:
    """Let each request of a session fail once, a session for each."""
    found = Found()
    before = place.kept.faults.n_requests
    whole(contexts(), place)
    n_requests = place.kept.faults.n_requests - before
    for number in range(1, n_requests + 1, every):
        place.empty()
        place.kept.faults.plan[place.kept.faults.n_requests + number] = kind
        page = whole(contexts(), place)
        finish(page, place, found, f"{kind} {number}")
        page.context.close()
    return found


def offline(place: Place, contexts: Contexts) -> Found:
    """The connection goes after two answers and comes back before the last page."""
    found, context = Found(), contexts()
    page = context.new_page()
    arrive(page, place.link)
    agree(page)
    answer_by_key(page, 2)
    expect(page.locator("#indicator")).to_have_attribute("data-state", "saved")
    context.set_offline(True)
    answer_by_key(page, TRIALS - 2)
    if place.store not in ("datapipe",):
        expect(page.locator("#offline")).to_be_visible()
    look(page, place, found, over=False)
    context.set_offline(False)
    questionnaire(page)
    finish(page, place, found, "offline")
    return found


def offline_at_the_end(place: Place, contexts: Contexts) -> Found:
    """The connection goes before the questionnaire is sent; the page is loaded again later."""
    found, context = Found(), contexts()
    page = context.new_page()
    arrive(page, place.link)
    agree(page)
    answer_by_key(page, TRIALS)
    expect_page(page, "questionnaire")
    context.set_offline(True)
    page.locator("textarea[name=native_language]").fill("English")
    page.locator("button.primary").click()
    page.wait_for_function(SAYS, timeout=WAIT_MS)
    look(page, place, found, over=False)
    context.set_offline(False)
    if place.store != "jatos":  # which shows nobody the page of a run that has ended meanwhile
        page.reload()
    expect_page(page, "closing")
    finish(page, place, found, "offline at the end")
    return found


def reloads(place: Place, contexts: Contexts) -> Found:
    """Every page is loaded again."""
    found, page = Found(), contexts().new_page()
    arrive(page, place.link)
    page.reload()
    agree(page)
    for _ in range(TRIALS):
        answer_by_key(page, 1)
        page.reload()
        if page.locator("body").get_attribute("data-page") != "questionnaire":
            page.locator("#instructions [data-go-on], textarea").first.wait_for()
        if page.locator("#instructions").count():
            page.locator("#instructions [data-go-on]").click()
    page.reload()
    questionnaire(page)
    finish(page, place, found, "reloads")
    return found


def two_windows(place: Place, contexts: Contexts) -> Found:
    """The session goes on in a second window, and then in the first."""
    found, context = Found(), contexts()
    page = context.new_page()
    arrive(page, place.link)
    agree(page)
    answer_by_key(page, 1)
    expect(page.locator("#indicator")).to_have_attribute("data-state", "saved")
    other = context.new_page()
    other.goto(page.url)
    _begin(other)
    answer_by_key(other, 2)
    expect(other.locator("#indicator")).to_have_attribute("data-state", "saved")
    page.reload()
    _begin(page)
    answer_by_key(page, 1)
    questionnaire(page)
    finish(page, place, found, "two windows")
    return found


def closed(place: Place, contexts: Contexts) -> Found:
    """The window is closed at once after an answer; the study's link is opened again later."""
    found, context = Found(), contexts()
    page = context.new_page()
    arrive(page, place.link)
    agree(page)
    answer_by_key(page, 2)
    page.close()
    page = context.new_page()
    arrive(page, place.link)
    page.locator("#begun-before a").click()
    _begin(page)
    look(page, place, found, over=False)
    answer_by_key(page, TRIALS - 2)
    questionnaire(page)
    finish(page, place, found, "closed")
    return found


def full(place: Place, contexts: Contexts) -> Found:
    """The store is full before the session begins to send."""
    found, page = Found(), contexts().new_page()
    arrive(page, place.link)
    place.kept.app.blueprints["datapipe"].experiments["e1"] = Experiment(most_sessions=0)
    for study in place.kept.app.blueprints["jatos"].jatos.studies.values():
        study.largest_bytes = 600
    if place.store == "post":
        page.route("**/keep", lambda route: route.fulfill(status=413, body="full"))
    agree(page)
    answer_by_key(page, TRIALS)
    questionnaire(page)
    expect(page.locator("#kept-here")).to_be_visible()
    look(page, place, found)
    with page.expect_download() as download:
        page.locator("#answers-file a").click()
    mailed = place.kept.folder / "mailed.json"
    download.value.save_as(mailed)
    # The store has nothing, so nobody reads that their answers are stored.
    expect(page.locator("main > .done, main > .text > :not(h1)")).to_have_count(0)
    told = command("import", "sessions", str(mailed), "--instance", str(place.instance))
    if "1 finished" not in told or "not in the files" in told:
        found.unfinished.append(f"full: {told}")
    return found


def counter(place: Place, contexts: Contexts, to: int, named: str) -> Found:
    """The store's counter jumps, or repeats: the import must say it."""
    found = Found()
    whole(contexts(), place)
    experiments = place.kept.app.blueprints["datapipe"].experiments
    if "e1" in experiments:
        experiments["e1"].next_condition = to
    for study in place.kept.app.blueprints["jatos"].jatos.studies.values():
        study.batch["parallax_next"] = to
    page = whole(contexts(), place)
    look(page, place, found)
    told = command("import", "sessions", str(place.held()), "--instance", str(place.instance))
    if "2 finished" not in told or named not in told:
        found.unfinished.append(f"counter {to}: {told}")
    return found
