"""The workers' site: find, preview, accept, return and submit HITs, and see earnings."""

from pathlib import Path

from flask import Blueprint, Response, send_from_directory

from marketplace.faults import FaultPlan
from marketplace.mturk.site.listing import add_frame_pages, add_listing_pages
from marketplace.mturk.site.my_work import add_my_work
from marketplace.mturk.site.pages import add_page_manners, add_signing_in
from marketplace.mturk.store import Store

# The stylesheet of every stand-in.
_SHARED = Path(__file__).parents[2] / "static"


def worker_site(store: Store, faults: FaultPlan, *, public: bool) -> Blueprint:
    """Return the blueprint of the workers' pages.

    Args:
        store: The marketplace's state.
        faults: The planned faults.
        public: Whether to prevent workers from setting their own record of approved work.
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
