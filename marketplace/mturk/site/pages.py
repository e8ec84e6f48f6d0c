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
from marketplace.mturk.money import format_amount
from marketplace.mturk.store import Store
from marketplace.mturk.tables import Worker
from marketplace.mturk.workers import Profile, find_worker, save_profile

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:;"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'self'; frame-src 'self' "
)
_COOKIE = "worker_id"
# The sign-in page must not redirect to another site.
_OWN_PATH = re.compile(r"/(?![/\\])[!-~]*")
_PUBLIC_FIELDS = ("worker_id", "country", "subdivision")
_RECORD_FIELDS = ("approved_percent", "approved_before", "masters", "adult")


def render_facts(template: str, facts: Mapping[str, Any], status: int = 200) -> Response:
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


def allow_frame(origin: str) -> None:
    """Let the current page show a frame of another site."""
    g.framed = origin


def remember_worker(worker: Worker) -> None:
    """Sign the worker in."""
    cookie[_COOKIE] = worker.worker_id


def forget_worker() -> None:
    """Sign the worker out."""
    cookie.clear()


def require_worker(session: Session) -> Worker:
    """Return the signed-in worker.

    Raises:
        WorkerRefusedError: No worker is signed in.
    """
    worker = find_worker(session, str(cookie.get(_COOKIE, "")))
    if worker is None:
        raise WorkerRefusedError("signed_out", "Please sign in first.", status=401)
    return worker


def format_dollars(cents: int) -> str:
    """Return cents in the format that workers see."""
    return f"${format_amount(cents)}"


def add_page_handlers(site: Blueprint) -> None:
    """Show refusals as pages, and set the headers of every page."""
    site.register_error_handler(WorkerRefusedError, _show_refusal)
    site.after_request(_add_headers)
    site.add_app_template_filter(format_dollars, "dollars")


def _show_refusal(error: WorkerRefusedError) -> Response:
    if error.code == "signed_out" and request.method == "GET" and not _asks_for_json():
        return make_response(redirect(url_for("site.sign_in", next=request.full_path), 303))
    current_app.logger.info("%s %s: %s", request.method, request.endpoint, error.code)
    return render_facts(
        "refused.html", {"code": error.code, "problem": error.problem}, error.status
    )


def _add_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY + g.get("framed", "")
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def add_sign_in_pages(site: Blueprint, store: Store, *, public: bool) -> None:
    """Add the sign-in and sign-out pages."""
    fields = _PUBLIC_FIELDS if public else _PUBLIC_FIELDS + _RECORD_FIELDS

    @site.get("/")
    def sign_in() -> Response:
        return render_facts("sign_in.html", {"public": public, "next": _next_url()})

    @site.post("/signin")
    def signed_in_now() -> Response:
        attributes = {name: request.form[name].strip() for name in fields if request.form.get(name)}
        try:
            profile = Profile.model_validate(attributes)
        except ValidationError as error:
            raise WorkerRefusedError("bad_profile", _describe_problem(error), status=400) from error
        with store.moment() as (session, _):
            remember_worker(save_profile(session, profile))
        return make_response(redirect(_next_url(), 303))

    @site.post("/signout")
    def sign_out() -> Response:
        forget_worker()
        return make_response(redirect(url_for("site.sign_in"), 303))


def _next_url() -> str:
    url = request.values.get("next", "")
    return url.rstrip("?") if _OWN_PATH.fullmatch(url) else url_for("site.listing")


def _describe_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    if problem["type"] == "value_error":
        message = problem["msg"].removeprefix("Value error, ")
        return f"{message[0].upper()}{message[1:]}."
    field = str(problem["loc"][0])
    needed = {
        "worker_id": "A worker ID has at least one character and at most 64.",
        "approved_percent": "An approval rate is from 0 to 100 percent.",
        "approved_before": "The number of approved HITs is a whole number.",
    }
    return needed.get(field, f"{field} cannot be read.")
