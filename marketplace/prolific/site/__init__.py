"""The participants' site: find studies, take a place, open, complete and track submissions."""

from collections.abc import Callable
from pathlib import Path

from flask import Blueprint, Response, make_response, send_from_directory

from marketplace.prolific.site.pages import add_page_manners, add_signing_in
from marketplace.prolific.site.taking_part import add_own_page, add_submission_pages
from marketplace.prolific.store import Store

# The stylesheet of every stand-in.
_SHARED = Path(__file__).parents[2] / "static"


def participant_site(store: Store, done: Callable[[], None]) -> Blueprint:
    """Return the blueprint of the participants' pages.

    Args:
        store: The stand-in's state.
        done: Called after each change.
    """
    site = Blueprint("prolific_site", __name__, template_folder="templates")
    add_page_manners(site)

    @site.get("/site/pages.css")
    def style() -> Response:
        return send_from_directory(_SHARED, "pages.css")

    @site.after_request
    def tell(response: Response) -> Response:
        done()
        return make_response(response)

    add_signing_in(site, store)
    add_submission_pages(site, store)
    add_own_page(site, store)
    return site
