"""The page of a run: its charts, and the part that updates live."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import BoundedSemaphore

from flask import (
    Blueprint,
    Response,
    copy_current_request_context,
    current_app,
    jsonify,
    render_template,
)
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.gate.paying_copy import may_call_platforms
from webapp.privacy.retention import compute_erasure_time, is_erasure_due
from webapp.recruiters.base import PayingRecruiter
from webapp.recruitment.published import find_recruitment
from webapp.researcher.access import is_still_allowed, require_access
from webapp.researcher.template_globals import format_number
from webapp.runs.blinding import find_unblinding, is_blind
from webapp.runs.charts import Chart, load_visible_charts
from webapp.runs.export import has_answers
from webapp.runs.notes import list_notes_and_tags
from webapp.runs.overview import make_overview
from webapp.runs.runs import describe_rules, find_static_mark, is_pause_due
from webapp.runs.second_person import list_pending_requests
from webapp.services import current_services
from webapp.sessions.consent_texts import consent_texts
from webapp.sessions.lookup import find_run
from webapp.users.projects import get_project_name
from webapp.users.roles import Right

live_pages = Blueprint("live", __name__)
# Within the one process that serves researchers.
MOST_WATCHERS = 40
_CHECK_INTERVAL_S = 3.0
# A server notices only by writing that a browser has disconnected, and then frees its slot.
_PING_INTERVAL_S = 1.0
_PING = ":\n\n"  # a comment, which browsers ignore
# The stream ends after this many rounds; the browser reconnects, so no worker's shutdown waits
# long.
_MOST_CHECKS = 7
_PARTS_EXTENSION = "parallax_live_parts"
_watcher_slots = BoundedSemaphore(MOST_WATCHERS)
# By run: the time at which the part was made, and its HTML.
_Parts = dict[str, tuple[float, str]]


def render_run_page(ref: str, problem: str = "", asked: str = "") -> str:
    """Return the page of a run.

    Args:
        ref: The run's reference.
        problem: The reason why a request was refused; empty on a plain visit.
        asked: The act that the user may confirm although participants are still owed money; else
            empty.
    """
    facts = _collect_run_data(ref)
    services, run = current_services(), facts["run"]
    assert isinstance(run, Run)
    with reading(services.sessions) as session:
        charts, charts_at = get_visible_charts(session, run)
        facts |= {"charts": charts, "charts_at": charts_at, "blind": is_blind(session, run)}
        facts["written"] = list_notes_and_tags(session, run)
    return render_template(
        "researcher/run.html", problem=problem, asked=asked, utc=_to_utc, **facts
    )


def _to_utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def render_live_part(ref: str) -> str:
    """Return the part of a run's page that updates live."""
    return render_template("researcher/run_live.html", **_collect_run_data(ref))


def _collect_run_data(ref: str) -> dict[str, object]:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        recruiter = services.recruiter(run.recruiter)
        pays = isinstance(recruiter, PayingRecruiter)
        reward_minor = study.reward_minor if pays else 0
        published = find_recruitment(session, run) is not None
        is_pending = select(is_pause_due()).where(Run.id == run.id)
        pause_due = bool(run.closed_at and published and session.scalar(is_pending))
        counts = make_overview(session, run, services.now(), reward_minor)
        return {
            "run": run,
            "project": get_project_name(session, run),
            "pays": pays,
            "spends": pays and recruiter.endpoint == "live",
            "published": published,
            "has_answers": has_answers(session, run),
            "serverless": find_static_mark(session, run) is not None,
            "study": study,
            "erase_at": compute_erasure_time(run, study),
            "overdue": is_erasure_due(run, study, services.now()),
            "overview": counts,
            "rule": describe_rules(session, [run]).get(run.id),
            "pause_due": pause_due,
            "may_pause": not pause_due or may_call_platforms(services.instance),
            "hourly_minor": counts.hourly_minor(reward_minor),
            "unblinding": find_unblinding(session, run),
            "waiting": list_pending_requests(session, run, services.now()),
            "consent_texts": consent_texts(session, run),
            "invitation": recruiter.posted_link(services.settings.link_base, run.ref, study),
        }


@live_pages.get("/runs/<ref>/live")
@require_access(Right.SEE)
def stream_live_part(ref: str) -> ResponseReturnValue:
    """Stream the live part now, and again at each change."""
    if not _watcher_slots.acquire(blocking=False):
        raise RequestError(
            "Too many pages are watching runs at the moment, so this page does not update by "
            "itself.",
            status=503,
            code="too_many_watchers",
        )
    try:
        first = render_live_part(ref)  # an error is answered before the stream begins
    except BaseException:
        _watcher_slots.release()
        raise
    parts: _Parts = current_app.extensions.setdefault(_PARTS_EXTENSION, {})
    # Each update has its own request context, so no database session stays open in between.
    still_in = copy_current_request_context(is_still_allowed)
    render = copy_current_request_context(render_live_part)
    # Replaces the cached part, so that after an act the page never shows an older one.
    parts[ref] = time.monotonic(), first
    events = _make_events(ref, parts, render, still_in)
    response = Response(events, mimetype="text/event-stream")
    # Called also if the browser disconnected before the first event.
    response.call_on_close(_watcher_slots.release)
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _make_events(
    ref: str,
    parts: _Parts,
    render: Callable[[str], str],
    still_in: Callable[[], bool],
) -> Iterator[str]:
    last_part = ""
    for round_ in range(_MOST_CHECKS):
        if round_:
            deadline = time.monotonic() + _CHECK_INTERVAL_S
            while time.monotonic() < deadline:
                time.sleep(_PING_INTERVAL_S)
                yield _PING
            if not still_in():
                return
        made_at, part = parts.get(ref, (float("-inf"), ""))
        if time.monotonic() - made_at >= _CHECK_INTERVAL_S:
            part = render(ref)
            parts[ref] = time.monotonic(), part
        if part != last_part:
            last_part = part
            yield _format_event(part)


def _format_event(part: str) -> str:
    lines = "".join(f"data: {line}\n" for line in part.splitlines())
    return f"event: overview\n{lines}\n"


chart_pages = Blueprint("charts", __name__)


@chart_pages.get("/runs/<ref>/charts")
@require_access(Right.SEE)
def send_charts(ref: str) -> ResponseReturnValue:
    """Send the figures of every chart that the user may see."""
    with reading(current_services().sessions) as session:
        charts, _ = get_visible_charts(session, find_run(session, ref))
    return jsonify(charts)


def get_visible_charts(session: Session, run: Run) -> tuple[dict[str, Chart], datetime | None]:
    """Return the run's charts that the user may see, and the time at which they were computed."""
    charts, at = load_visible_charts(session, run)
    return {name: _prepare_chart(chart) for name, chart in charts.items()}, at


def _prepare_chart(chart: Chart) -> Chart:
    across = chart["across"]
    lines = [
        {**line, "name": line["label"], "label": line["label"].replace("_", " ")}
        for line in chart["lines"]
    ]
    return {
        **chart,
        "says": _format_caption(chart["says"]),
        "across": across[:1].upper() + across[1:],
        "lines": lines,
    }


def _format_caption(caption: str | dict[str, object]) -> str:
    # Some stored charts hold the whole sentence, others a message and its values.
    if isinstance(caption, str):
        return caption
    values = caption["values"]
    assert isinstance(values, dict)
    texts = {
        name: value if isinstance(value, str) else format_number(value)
        for name, value in values.items()
    }
    return str(caption["message"]) % texts
