"""An installation with its worker and its platforms, for researcher pages in Chromium."""

import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest
from flask import Flask
from playwright.sync_api import Page
from werkzeug.serving import make_server

from marketplace.mturk import create_marketplace
from marketplace.panels import create_panels
from marketplace.prolific import create_prolific
from marketplace.serving import serve_in_thread
from tests.browser.browser_steps import enter_researcher_pages
from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.core.subprocesses import command_environment, parallax_command
from webapp.recruiters.demonstration import LISTED, TOKEN
from webapp.recruiters.panel.demonstration import find_listing
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.users import add_user

PASSWORD = "correct horse battery"
PANEL = "sona_redirect"


@dataclass
class Lab:
    """An installation with its worker, and the platforms that it knows."""

    app: Flask
    researcher_url: str
    panels: str

    def list_at_panel(self, link: str) -> None:
        """Give the study's link to the panel, as a researcher does on the panel's own page."""
        body = find_listing(PANEL).listed(LISTED, link)
        httpx.post(
            f"{self.panels}/control/studies", json=body, trust_env=False, timeout=PATIENCE_S
        ).raise_for_status()


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[Lab]:
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    with ExitStack() as stack:
        mturk, prolific = (
            create_marketplace(folder / "mturk"),
            create_prolific(folder / "prolific", currency="USD"),
        )
        sites = [stack.enter_context(serve_in_thread(each)) for each in (mturk, prolific)]
        panels = stack.enter_context(serve_in_thread(create_panels()))
        instance = folder / "instance"
        instance.mkdir()
        (instance / "parallax.toml").write_text(
            f'port = {port}\nmturk_endpoint = "{sites[0]}"\nprolific_endpoint = "{sites[1]}"\n'
            f'[panel]\nstand_in = "{panels}/{LISTED}"\n[panel.secrets]\ncredit_token = "{TOKEN}"\n'
        )
        app = create_app(instance)
        with app.extensions["parallax"].sessions.begin() as session:
            for name in ("anna", "ben"):
                add_user(session, name, Role.OWNER, hash_password(PASSWORD), by="t", now=utc_now())
        server = make_server("127.0.0.1", port, app, threaded=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        worker = subprocess.Popen(
            parallax_command("work"), env=os.environ | command_environment(instance),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stack.callback(worker.wait)
        stack.callback(worker.terminate)
        yield Lab(app, f"http://127.0.0.1:{port}/researcher", panels)
    server.server_close()
    for each in (app.extensions["parallax"], mturk.extensions["marketplace"],
                 prolific.extensions["prolific"]):  # fmt: skip
        each.engine.dispose()


@pytest.fixture
def sign_in(lab, new_context) -> Callable[[str], Page]:
    """Return a function that opens a browser of anna or ben."""

    def of(name: str) -> Page:
        page = new_context().new_page()
        enter_researcher_pages(page, f"{lab.researcher_url}/", name, PASSWORD)
        return page

    return of


@pytest.fixture
def page(sign_in) -> Page:
    return sign_in("anna")
