"""The pages on which typed answers are coded, and the researcher's page of a run's coding."""

from flask import Flask

from webapp.coding_pages.coder import coder_pages
from webapp.coding_pages.desk import coding_pages, has_coding
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import guard_blueprint


def register_coding_pages(app: Flask) -> None:
    """Register the pages with the app."""
    app.register_blueprint(coder_pages)
    app.register_blueprint(guard_blueprint(coding_pages), url_prefix=RESEARCHER_PATH)
    app.jinja_env.globals["has_coding"] = has_coding
