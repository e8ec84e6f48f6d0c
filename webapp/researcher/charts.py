"""What a run's charts are drawn from, for the page's own program."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from webapp.database.engine import reading
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.runs.charts import charts_seen
from webapp.services import current_services
from webapp.sessions.lookup import find_run

chart_pages = Blueprint("charts", __name__)


@chart_pages.get("/runs/<ref>/charts")
@allowed(Right.SEE)
def show(ref: str) -> ResponseReturnValue:
    """Send the figures of every chart that may be seen now."""
    with reading(current_services().sessions) as session:
        charts, _ = charts_seen(session, find_run(session, ref))
    return jsonify(charts)
