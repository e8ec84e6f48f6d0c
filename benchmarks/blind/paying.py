"""A paying platform of a blind run: Prolific's stand-in, which writes down what it is told."""

import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from flask import Flask

from marketplace.prolific import create_prolific
from marketplace.prolific.store import EXTENSION as STORE
from marketplace.serving import serve_in_thread
from webapp.jobs.platforms import send_reports
from webapp.recruiters.prolific.opening import open_prolific
from webapp.recruiters.prolific.participant import ParticipantSession
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.simulated_crowd import Visitor
from webapp.recruitment.poll import poll_run
from webapp.recruitment.publish import carry_out_plan, draft_plan

_BALANCE_MINOR = 10**7


class PaidBy:
    """The stand-in, behind one address, of which each reading has a copy of its own.

    Args:
        folder: Where it lies.
        instance: The installation's folder, which is told of it.
        now: The time.

    Attributes:
        calls: What it was told since the copy was made: method, address and body.
    """

    def __init__(self, folder: Path, instance: Path, now: datetime) -> None:
        self.calls: list[str] = []
        self._whole, self._now, self._stack = folder / "prolific", now, ExitStack()
        self._open(self._whole)
        self._url = self._stack.enter_context(serve_in_thread(self._answer))
        instance.mkdir()
        settings = f'prolific_endpoint = "{self._url}"\n'
        (instance / "parallax.toml").write_text(settings, encoding="utf-8")
        asked = ProlificSettings(endpoint=self._url)
        self._platform = open_prolific(asked, live=False, now=lambda: now)

    def publish(self, app: Flask, run_ref: str, url: str) -> Visitor:
        """Offer the run there, and return what makes a participant who comes from there."""
        sessions, link = app.extensions["parallax"].sessions, f"{url}/run/{run_ref}"
        asked = draft_plan(sessions, self._platform, run_ref, link, self._now)
        list(carry_out_plan(sessions, self._platform, asked, lambda: self._now))
        return partial(ParticipantSession, site=self._url)

    def hand_in(self, app: Flask, run_ref: str) -> None:
        """Tell the stand-in who finished, and learn what was handed in."""
        send_reports(app.extensions["parallax"])
        poll_run(app.extensions["parallax"].sessions, self._platform, run_ref, self._now)

    def go_on_with_a_copy(self, folder: Path) -> None:
        """Answer from now on by a copy of what was there when all had finished."""
        self._app.extensions[STORE].engine.dispose()
        self._open(shutil.copytree(self._whole, folder / "prolific"))
        self.calls.clear()

    def close(self) -> None:
        """End it."""
        self._stack.close()
        self._app.extensions[STORE].engine.dispose()

    def _open(self, folder: Path) -> None:
        self._app = create_prolific(
            folder, currency="USD", balance_minor=_BALANCE_MINOR, now=lambda: self._now,
            webhooks_by_themselves=False,
        )  # fmt: skip

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        asked = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        self.calls.append(f"{environ['REQUEST_METHOD']} {asked} {body.decode(errors='replace')}")
        return self._app(environ, start)
