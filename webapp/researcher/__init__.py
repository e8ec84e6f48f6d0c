"""Researcher pages: watching runs, reading about participants, and acting on them.

Every route declares the role it needs (``access.allowed``). A route without a declaration is
refused, and a test checks the table of all routes against all roles.
"""

from flask import Blueprint, Flask

from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import guard_blueprint
from webapp.researcher.accounts import account_pages
from webapp.researcher.api import api
from webapp.researcher.film import film_pages
from webapp.researcher.installation import audit_pages, installation_pages
from webapp.researcher.launch import launch_pages, show_study_name
from webapp.researcher.links import link_pages
from webapp.researcher.money import money_pages
from webapp.researcher.notifications import notification_pages
from webapp.researcher.own_account import password_pages, second_factor_pages, token_pages
from webapp.researcher.participants import (
    note_pages,
    participant_pages,
    rights_of_people_pages,
)
from webapp.researcher.power import power_pages
from webapp.researcher.projects import joining_pages, project_pages
from webapp.researcher.reconciling import reconciling_pages
from webapp.researcher.recruitment import recruitment_pages
from webapp.researcher.reports import reading_pages, reports_pages
from webapp.researcher.rule_forms import rule_pages
from webapp.researcher.run_checks import why_not
from webapp.researcher.run_page import chart_pages, live_pages
from webapp.researcher.runs import archive_pages, rehearsing_pages, run_pages
from webapp.researcher.sign_in import code_pages, elsewhere_pages, sign_in_pages
from webapp.researcher.studies import editor_pages, study_pages
from webapp.researcher.study_forms import form_pages
from webapp.researcher.template_globals import TEMPLATE_FILTERS

_BLUEPRINTS = (
    sign_in_pages,
    elsewhere_pages,
    code_pages,
    second_factor_pages,
    password_pages,
    account_pages,
    run_pages,
    archive_pages,
    chart_pages,
    study_pages,
    editor_pages,
    form_pages,
    rule_pages,
    power_pages,
    launch_pages,
    link_pages,
    live_pages,
    participant_pages,
    film_pages,
    note_pages,
    rights_of_people_pages,
    money_pages,
    reconciling_pages,
    recruitment_pages,
    reports_pages,
    reading_pages,
    rehearsing_pages,
    audit_pages,
    installation_pages,
    project_pages,
    joining_pages,
    token_pages,
    notification_pages,
)


def register_researcher_pages(app: Flask) -> None:
    """Add the researcher pages to the app."""
    for pages in _BLUEPRINTS:
        app.register_blueprint(guard_blueprint(pages), url_prefix=RESEARCHER_PATH)
    app.register_blueprint(api, url_prefix=f"{RESEARCHER_PATH}/api")
    files = Blueprint("researcher_files", __name__, static_folder="static")
    app.register_blueprint(files, url_prefix=RESEARCHER_PATH)
    app.jinja_env.globals["why_not"] = why_not
    app.jinja_env.filters |= TEMPLATE_FILTERS | {"study_name": show_study_name}
