"""What a run's charts are drawn from, for the page's own program, and in the reader's language."""

from datetime import datetime

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.researcher.language import number, said
from webapp.runs.charts import Chart, charts_seen
from webapp.services import current_services
from webapp.sessions.lookup import find_run

chart_pages = Blueprint("charts", __name__)


@chart_pages.get("/runs/<ref>/charts")
@allowed(Right.SEE)
def show(ref: str) -> ResponseReturnValue:
    """Send the figures of every chart that may be seen now."""
    with reading(current_services().sessions) as session:
        charts, _ = charts_said(session, find_run(session, ref))
    return jsonify(charts)


def charts_said(session: Session, run: Run) -> tuple[dict[str, Chart], datetime | None]:
    """Return what may be drawn of a run now, in the reader's language, and when it was counted."""
    charts, at = charts_seen(session, run)
    return {name: _said(chart) for name, chart in charts.items()}, at


def _said(chart: Chart) -> Chart:
    across = said(chart["across"])
    lines = [
        {**each, "name": each["label"], "label": _label(each["label"])} for each in chart["lines"]
    ]
    return {
        **chart,
        "title": said(chart["title"]),
        "says": _sentence(chart["says"]),
        "across": across[:1].upper() + across[1:],
        "lines": lines,
    }


def _label(label: str) -> str:
    # Money is spent in a currency: "spent, EUR".
    word, comma, currency = label.partition(", ")
    found = said(word)
    return f"{word.replace('_', ' ') if found == word else found}{comma}{currency}"


def _sentence(says: str | dict[str, object]) -> str:
    # Runs that were summarised by an earlier version have the English sentence alone.
    if isinstance(says, str):
        return says
    values = says["values"]
    assert isinstance(values, dict)
    written = {
        name: value if isinstance(value, str) else number(value) for name, value in values.items()
    }
    return gettext(str(says["message"]), **written)
