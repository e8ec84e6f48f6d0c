"""The workers' site: find HITs, preview, accept, return and submit them, see one's earnings."""

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

from marketplace.faults import FaultPlan
from marketplace.mturk.site.listing import add_frame_pages, add_listing_pages
from marketplace.mturk.site.my_work import add_my_work
from marketplace.mturk.site.pages import add_page_manners, add_signing_in
from marketplace.mturk.store import Store

# The stylesheet that every stand-in uses.
_SHARED = Path(__file__).parents[2] / "static"


def worker_site(store: Store, faults: FaultPlan, *, public: bool) -> Blueprint:
    """Return the workers' pages.

    Args:
        store: The marketplace's state.
        faults: What goes wrong.
        public: Whether workers may not give themselves a record of approved work.
    """
    site = Blueprint(
        "site", __name__, template_folder="templates", static_folder="static",
        static_url_path="/site",
    )  # fmt: skip
    add_page_manners(site)

    @site.get("/site/pages.css")
    def shared_style() -> Response:
        return send_from_directory(_SHARED, "pages.css")

    add_signing_in(site, store, public=public)
    add_listing_pages(site, store, faults)
    add_frame_pages(site, store)
    add_my_work(site, store)
    return site
