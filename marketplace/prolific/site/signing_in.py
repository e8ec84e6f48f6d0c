"""Signing in: an identifier of your choice, and a profile to try out filters."""

import re

from flask import Blueprint, Response, make_response, redirect, request, url_for
from sqlalchemy import select

from marketplace.prolific.errors import ParticipantRefusedError
from marketplace.prolific.ids import is_id, new_id
from marketplace.prolific.people import Participant
from marketplace.prolific.site.pages import answer, forget, remember
from marketplace.prolific.store import Store

# Nobody may be sent elsewhere by a link to the sign-in page.
_OWN_PATH = re.compile(r"/(?![/\\])[\w/.?=&%~-]*")
_DEVICES = ("desktop", "tablet", "mobile")


def add_signing_in(site: Blueprint, store: Store) -> None:
    """Add the pages that sign in and out."""

    @site.get("/")
    def sign_in() -> Response:
        wanted = request.args.get("next", "")
        facts = {"next": wanted if _OWN_PATH.fullmatch(wanted) else "", "proposed": new_id()}
        return answer("sign_in.html", facts)

    @site.post("/signin")
    def sign_in_now() -> Response:
        form = request.form
        ref, age = form.get("participant_id", ""), form.get("age") or "30"
        device, country = form.get("device") or "desktop", form.get("country") or "GB"
        if not (is_id(ref) and age.isdecimal() and len(age) < 4 and device in _DEVICES):
            raise ParticipantRefusedError(
                "no_id", "A participant ID has 24 hexadecimal digits.", status=400
            )
        with store.moment() as moment:
            found = moment.session.scalar(select(Participant).where(Participant.ref == ref))
            found = found or Participant(ref=ref)
            found.age, found.device, found.country = int(age), device, country[:2].upper()
            moment.session.add(found)
            remember(found)
        wanted = form.get("next", "")
        home = wanted if _OWN_PATH.fullmatch(wanted) else url_for("prolific_site.studies")
        return make_response(redirect(home, 303))

    @site.post("/signout")
    def sign_out() -> Response:
        forget()
        return make_response(redirect(url_for("prolific_site.sign_in"), 303))
