"""The figures that a run's charts are drawn from, for the page's script and its tables."""

from datetime import datetime

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.researcher.template_globals import number
from webapp.runs.charts import Chart, charts_seen
from webapp.services import current_services
from webapp.sessions.lookup import find_run

chart_pages = Blueprint("charts", __name__)


@chart_pages.get("/runs/<ref>/charts")
@allowed(Right.SEE)
def show(ref: str) -> ResponseReturnValue:
    """Send the figures of every chart that may be seen now."""
    with reading(current_services().sessions) as session:
        charts, _ = charts_shown(session, find_run(session, ref))
    return jsonify(charts)


def charts_shown(session: Session, run: Run) -> tuple[dict[str, Chart], datetime | None]:
    """Return the charts of a run that may be seen now, and when their answers were counted."""
    charts, at = charts_seen(session, run)
    return {name: _shown(chart) for name, chart in charts.items()}, at


def _shown(chart: Chart) -> Chart:
    across = chart["across"]
    lines = [
        {**line, "name": line["label"], "label": line["label"].replace("_", " ")}
        for line in chart["lines"]
    ]
    return {
        **chart,
        "says": _sentence(chart["says"]),
        "across": across[:1].upper() + across[1:],
        "lines": lines,
    }


def _sentence(says: str | dict[str, object]) -> str:
    # Some stored charts hold the whole sentence, others a message and its values.
    if isinstance(says, str):
        return says
    values = says["values"]
    assert isinstance(values, dict)
    written = {
        name: value if isinstance(value, str) else number(value) for name, value in values.items()
    }
    return str(says["message"]) % written
