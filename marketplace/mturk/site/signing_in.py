"""Signing in: an invented identifier, and a profile where workers may give themselves one."""

import re

from flask import Blueprint, Response, make_response, redirect, request, url_for
from pydantic import ValidationError

from marketplace.mturk.errors import WorkerRefusedError
from marketplace.mturk.profiles import Profile, keep_profile
from marketplace.mturk.site.pages import answer, forget_worker, remember_worker
from marketplace.mturk.store import Store

# Nobody may be sent elsewhere by a link to the sign-in page.
_OWN_PATH = re.compile(r"/(?![/\\])[!-~]*")
_ANYBODY = ("worker_id", "country", "subdivision")
_RECORD = ("approved_percent", "approved_before", "masters", "adult")


def add_signing_in(site: Blueprint, store: Store, *, public: bool) -> None:
    """Add the pages to sign in and out."""
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
    field = str(error.errors()[0]["loc"][0])
    needed = {
        "worker_id": "A worker ID begins with A and goes on with capital letters and digits.",
        "country": "A country is two capital letters, e.g. US.",
        "subdivision": "A state or province is two capital letters, e.g. CA.",
        "approved_percent": "An approval rate is from 0 to 100 percent.",
        "approved_before": "The number of approved HITs is a whole number.",
    }
    return needed.get(field, f"{field} cannot be read.")
