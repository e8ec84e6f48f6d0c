"""A real Chromium at a real server."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    expect,
    sync_playwright,
)
from werkzeug.serving import make_server

from tests.browser import browser_steps
from tests.browser.browser_site import Site
from tests.browser.static_site import StaticSite, stores
from tests.patience import PATIENCE_S
from tests.prerequisites import CHROMIUM, without_window
from tests.webapp.read_only import watch_reading_sessions
from webapp import create_app

SWITCHES = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-quic",
    "--in-process-gpu",  # without a GPU, a process of its own only passes on what is drawn
    "--font-render-hinting=none",  # as on a screen: without a window letters have whole widths
    # Pages live for seconds. Programs made faster are thrown away with them; what was compiled
    # is kept for the next page, which has the same program.
    "--js-flags=--no-opt --no-maglev --no-flush-bytecode",
]  # fmt: skip
# With a window: the list below the field for addresses is two pages more for each window. This
# takes the place of Playwright's own list, of which the rest is repeated as far as it matters here.
WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
expect.set_options(timeout=1000 * PATIENCE_S / 5)

watch_reading_sessions()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the browser: these wait the longest, and whoever has nothing left takes the rest.

    They were begun in the middle, and at the end one process of three was left alone with them.
    """
    here = Path(__file__).parent
    items.sort(key=lambda item: not item.path.is_relative_to(here))


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    CHROMIUM.require()
    with sync_playwright() as playwright:
        yield playwright


def launched(
    playwright: Playwright, program: Path, *more: str, environment: dict[str, str] | None = None
) -> Iterator[Browser]:
    switches = [*SWITCHES, *more]
    browser = playwright.chromium.launch(executable_path=program, args=switches, env=environment)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    yield from launched(playwright, without_window())


@pytest.fixture(scope="session")
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    without = f"--disable-features={','.join(WITHOUT)}"
    yield from launched(playwright, CHROMIUM.require(), without)


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Iterator[Site]:
    instance = tmp_path_factory.mktemp("site")
    # Any port of the other address may play the platform that shows the pages in a frame.
    (instance / "parallax.toml").write_text('frame_ancestors = "http://127.0.0.1:*"')
    app = create_app(instance)
    server = make_server("localhost", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Site(app, server)
    server.shutdown()
    thread.join()
    server.server_close()
    app.extensions["parallax"].engine.dispose()


@pytest.fixture(params=["server", "static"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site | StaticSite]:
    """Where studies are taken in the same way: a server, and a folder of files with a store."""
    if request.param == "server":
        yield request.getfixturevalue("site")
        return
    with stores(tmp_path / "kept") as kept:
        yield StaticSite(kept, tmp_path / "static")


@pytest.fixture
def link(site: Site, tmp_path: Path) -> str:
    return site.launch(browser_steps.minimal(tmp_path))


@contextmanager
def profiles(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Yield a function that opens a fresh browser profile; a failing program fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def make(**options: object) -> BrowserContext:
        context = browser.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE_S / 5)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    assert not errors


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that opens a fresh browser profile; a failing program fails the test."""
    with profiles(browser) as make:
        yield make


@pytest.fixture
def page(new_context) -> Page:
    return new_context().new_page()


@pytest.fixture
def forgetful_page(whole_browser: Browser) -> Iterator[Page]:
    """A page in a browser that lets another site's frame store nothing."""
    with profiles(whole_browser) as make:
        yield make().new_page()
