"""Shared code of all pages: sign-in, answers as page or JSON, headers."""

import re
from collections.abc import Mapping
from typing import Any

from flask import (
    Blueprint,
    Response,
    current_app,
    g,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask import (
    session as cookie,
)
from pydantic import ValidationError
from sqlalchemy.orm import Session

from marketplace.mturk.errors import WorkerRefusedError
from marketplace.mturk.money import amount
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Worker
from marketplace.mturk.workers import Profile, find_worker, keep_profile

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:;"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'self'; frame-src 'self' "
)
_COOKIE = "worker_id"
# The sign-in page must not redirect to another site.
_OWN_PATH = re.compile(r"/(?![/\\])[!-~]*")
_ANYBODY = ("worker_id", "country", "subdivision")
_RECORD = ("approved_percent", "approved_before", "masters", "adult")


def answer(template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
    """Return the facts as a page, or as JSON if a program asks for JSON.

    Args:
        template: The page's template.
        facts: All values that the page shows, in plain types.
        status: The HTTP status.
    """
    if _asks_for_json():
        return make_response(jsonify(facts), status)
    return make_response(render_template(template, worker_id=cookie.get(_COOKIE), **facts), status)


def _asks_for_json() -> bool:
    return request.accept_mimetypes.best_match(["text/html", "application/json"]) == (
        "application/json"
    )


def may_frame(origin: str) -> None:
    """Let the current page show a frame of another site."""
    g.framed = origin


def remember_worker(worker: Worker) -> None:
    """Sign the worker in."""
    cookie[_COOKIE] = worker.worker_id


def forget_worker() -> None:
    """Sign the worker out."""
    cookie.clear()


def signed_in(session: Session) -> Worker:
    """Return the signed-in worker.

    Raises:
        WorkerRefusedError: No worker is signed in.
    """
    worker = find_worker(session, str(cookie.get(_COOKIE, "")))
    if worker is None:
        raise WorkerRefusedError("signed_out", "Please sign in first.", status=401)
    return worker


def dollars(cents: int) -> str:
    """Return cents in the format that workers see."""
    return f"${amount(cents)}"


def add_page_manners(site: Blueprint) -> None:
    """Show refusals as pages, and set the headers of every page."""
    site.register_error_handler(WorkerRefusedError, _refused)
    site.after_request(_with_headers)
    site.add_app_template_filter(dollars)


def _refused(error: WorkerRefusedError) -> Response:
    if error.code == "signed_out" and request.method == "GET" and not _asks_for_json():
        return make_response(redirect(url_for("site.sign_in", next=request.full_path), 303))
    current_app.logger.info("%s %s: %s", request.method, request.endpoint, error.code)
    return answer("refused.html", {"code": error.code, "problem": error.problem}, error.status)


def _with_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY + g.get("framed", "")
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def add_signing_in(site: Blueprint, store: Store, *, public: bool) -> None:
    """Add the sign-in and sign-out pages."""
    fields = _ANYBODY if public else _ANYBODY + _RECORD

    @site.get("/")
    def sign_in() -> Response:
        return answer("sign_in.html", {"public": public, "next": _next()})

    @site.post("/signin")
    def signed_in_now() -> Response:
        given = {name: request.form[name].strip() for name in fields if request.form.get(name)}
        try:
            profile = Profile.model_validate(given)
        except ValidationError as error:
            raise WorkerRefusedError("bad_profile", _problem(error), status=400) from error
        with store.moment() as (session, _):
            remember_worker(keep_profile(session, profile))
        return make_response(redirect(_next(), 303))

    @site.post("/signout")
    def sign_out() -> Response:
        forget_worker()
        return make_response(redirect(url_for("site.sign_in"), 303))


def _next() -> str:
    wanted = request.values.get("next", "")
    return wanted.rstrip("?") if _OWN_PATH.fullmatch(wanted) else url_for("site.listing")


def _problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    if problem["type"] == "value_error":
        said = problem["msg"].removeprefix("Value error, ")
        return f"{said[0].upper()}{said[1:]}."
    field = str(problem["loc"][0])
    needed = {
        "worker_id": "A worker ID has at least one character and at most 64.",
        "approved_percent": "An approval rate is from 0 to 100 percent.",
        "approved_before": "The number of approved HITs is a whole number.",
    }
    return needed.get(field, f"{field} cannot be read.")
