"""The participant pages: each route parses the request, calls one flow and renders the result."""

from flask import Flask, g, render_template

from webapp.core.addresses import RESEARCHER_PATH
from webapp.participant.admission import admission_pages
from webapp.participant.answers import answer_routes
from webapp.participant.consent import consent_pages
from webapp.participant.rights import compensation_page, rights_pages
from webapp.participant.session import session_pages


def register_participant_pages(app: Flask) -> None:
    """Register the participant pages with the app."""
    for pages in (
        consent_pages,
        admission_pages,
        session_pages,
        rights_pages,
        answer_routes,
        compensation_page,
    ):
        app.register_blueprint(pages)
    app.add_url_rule("/", "front", _show_front_page)
    app.context_processor(
        lambda: {
            "simulated": g.get("simulated", False),
            "run_ref": g.get("run_ref", ""),
            "shared_device": g.get("shared_device", False),
        }
    )


def _show_front_page() -> str:
    """Tell somebody who opened the server's bare address where studies and researchers' pages are.

    It is not known who opens it: a researcher, or a participant who shortened a study's address.
    """
    return render_template("front.html", researchers=f"{RESEARCHER_PATH}/")
