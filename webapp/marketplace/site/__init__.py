"""The workers' site: find HITs, preview, accept, return and submit them, see one's earnings."""

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

from webapp.marketplace.faults import FaultPlan
from webapp.marketplace.site.frame import add_frame_pages
from webapp.marketplace.site.listing import add_listing_pages
from webapp.marketplace.site.own import add_own_pages
from webapp.marketplace.site.pages import add_page_manners
from webapp.marketplace.site.signing_in import add_signing_in
from webapp.marketplace.store import Store

_HOUSE_STATIC = Path(__file__).parent.parent.parent / "static"


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

    @site.get("/site/parallax.css")
    def house_style() -> Response:
        return send_from_directory(_HOUSE_STATIC, "parallax.css")

    add_signing_in(site, store, public=public)
    add_listing_pages(site, store, faults)
    add_frame_pages(site, store)
    add_own_pages(site, store)
    return site
