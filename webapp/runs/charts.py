"""The charts of a run's page, computed from stored rows when sessions are summarised.

Counting a hundred thousand participants takes too long for a page request, so the figures are
stored and a page reads one row. Charts that reveal how often participants chose the expected option
are stored under a key of their own, which is not readable while the run is blind.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from experiment.payment.payment import PaymentKind, PaymentState
from experiment.responses.base import Gives
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.models import (
    Participant,
    Payment,
    Response,
    Run,
    RunCount,
    RunItem,
    RunSummary,
    SessionSummary,
    Trial,
    Verdict,
)
from webapp.database.row_counts import PLACES
from webapp.runs.blinding import is_blind
from webapp.runs.integrity import get_flags
from webapp.runs.people import parse_plausibility

# As many points as a chart of page width can show and a table next to it can list legibly.
_N_POINTS = 48
_STEPS_MIN = (1, 5, 15, 60, 180, 720, 1_440, 10_080, 40_320)


def make_time_ticks(first: datetime, last: datetime, events: Iterable[datetime]) -> list[datetime]:
    """Return evenly spaced times from the launch to after the last event."""
    events = list(events)
    first = min(first, *events) if len(events) > 1 else min([first, *events])
    # The axis of an open run ends soon after the last event, not months later.
    end = min(last, max(events) + (max(events) - first) / 4 + timedelta(minutes=5))
    minutes = max((end - first) / timedelta(minutes=1), 1.0)
    steps = (step for step in _STEPS_MIN if minutes / step <= _N_POINTS)
    step = timedelta(minutes=next(steps, minutes / _N_POINTS))
    n = int((max(end, max(events)) - first) / step) + 2
    return [first + number * step for number in range(n)]


def count_until(moments: Iterable[datetime], times: Sequence[datetime]) -> list[int]:
    """Return the cumulative number of moments at each of the times."""
    width, first = times[1] - times[0], times[0]
    counts = Counter(max(0, -(-(moment - first) // width)) for moment in moments)
    return list(accumulate(counts[number] for number in range(len(times))))


def to_unix_seconds(times: Iterable[datetime]) -> list[int]:
    """Return times in seconds since 1970."""
    return [int(time.timestamp()) for time in times]


Chart = dict[str, Any]
RESULTS = "accuracy"
_N_BINS = 20


def load_visible_charts(session: Session, run: Run) -> tuple[dict[str, Chart], datetime | None]:
    """Return a run's charts that may be shown now, and the time of their computation, if any."""
    row = session.execute(
        select(RunSummary.charts, RunSummary.made_at).where(RunSummary.run_id == run.id)
    ).first()
    if row is None or row[0] is None:
        return {}, None
    visible_charts = dict(row[0])
    if is_blind(session, run):
        visible_charts.pop(RESULTS, None)
    return visible_charts, row[1]


def compute_charts(session: Session, run: Run, study: Study, now: datetime) -> dict[str, Chart]:
    """Return all charts of a run by name, without empty charts.

    Args:
        session: A reading session.
        run: The run.
        study: Its study.
        now: The present time; the charts of an open run end there.
    """
    charts = {
        "recruitment": _chart_recruitment(session, run, now),
        "minutes": _chart_durations(session, run),
        "attrition": _chart_attrition(session, run),
        "flags": _chart_flags(session, run),
        "money": _chart_spending(session, run, now),
        RESULTS: _chart_accuracy(session, run, study),
    }
    return {name: chart for name, chart in charts.items() if chart is not None}


def _select_unrestricted(run: Run) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that select a run's participants whose data are not restricted."""
    return Participant.run_id == run.id, Participant.restricted_at.is_(None)


def _chart_recruitment(session: Session, run: Run, now: datetime) -> Chart | None:
    rows = session.execute(
        select(Participant.consented_at, Participant.finished_at).where(
            *_select_unrestricted(run), Participant.consented_at.is_not(None)
        )
    ).all()
    if not rows:
        return None
    begun = [begin for begin, _ in rows if begin]
    ended = [end for _, end in rows if end]
    places = session.scalar(
        select(func.sum(RunCount.n)).where(RunCount.run_id == run.id, RunCount.subject == PLACES)
    )
    times = make_time_ticks(run.launched_at, run.closed_at or now, [*begun, *ended])
    lines = {"agreed": count_until(begun, times), "finished": count_until(ended, times)}
    planned = {"planned": [places or 0] * len(times)}
    caption = _make_caption(
        "%(n)s of %(planned)s planned participants finished.", n=len(ended), planned=places or 0
    )
    return _make_chart(
        "Recruitment", caption, "time", to_unix_seconds(times), lines | planned, time=True
    )


def _chart_durations(session: Session, run: Run) -> Chart | None:
    pairs = session.execute(
        select(Participant.consented_at, Participant.finished_at).where(
            *_select_unrestricted(run), Participant.finished_at.is_not(None)
        )
    )
    took = sorted((end - begin) / timedelta(minutes=1) for begin, end in pairs if begin and end)
    if not took:
        return None
    # A few participants who left and came back would compress all others into one bar.
    longest = max(took[int(0.95 * (len(took) - 1))], 1.0)
    width = next(w for w in (0.5, 1, 2, 5, 10, 30, 60, 1_440, 1e9) if longest / w <= _N_BINS)
    bins = Counter(min(int(minutes / width), int(longest / width)) for minutes in took)
    edges = range(max(bins) + 1)
    n_longer = sum(1 for minutes in took if minutes >= (max(bins) + 1) * width)
    message = "Half of the %(n)s who finished took at most %(minutes)s minutes."
    if n_longer:
        message = (
            "Half of the %(n)s who finished took at most %(minutes)s minutes; the last bar holds "
            "%(beyond)s who took longer still."
        )
    half = round(took[len(took) // 2], 1)
    caption = _make_caption(message, n=len(took), minutes=half, beyond=n_longer)
    counts = {"participants": [bins.get(edge, 0) for edge in edges]}
    xs = [edge * width for edge in edges]
    return _make_chart("Time to finish", caption, "minutes, from", xs, counts, kind="bars")


def _chart_attrition(session: Session, run: Run) -> Chart | None:
    counts_by_stage = Counter(
        dict(
            session.execute(
                select(SessionSummary.answered, func.count())
                .where(SessionSummary.run_id == run.id)
                .group_by(SessionSummary.answered)
            ).all()
        )
    )
    n_agreed = session.scalar(
        select(func.count()).where(
            *_select_unrestricted(run), Participant.consented_at.is_not(None)
        )
    )
    if not counts_by_stage or not n_agreed:
        return None
    last = max(counts_by_stage)
    at_least = list(accumulate(counts_by_stage[trial] for trial in range(last, 0, -1)))[::-1]
    caption = _make_caption(
        "%(n)s of %(agreed)s who agreed answered trial %(last)s, the last.",
        n=at_least[-1],
        agreed=n_agreed,
        last=last,
    )
    xs = list(range(last + 1))
    return _make_chart(
        "Who stays", caption, "trials answered", xs, {"participants": [n_agreed, *at_least]}
    )


def _chart_flags(session: Session, run: Run) -> Chart | None:
    """Return the number of sessions with each flag, list by list."""
    rows = session.execute(
        select(Participant.list, SessionSummary.judged)
        .join(Participant, Participant.id == SessionSummary.participant_id)
        .where(SessionSummary.run_id == run.id, SessionSummary.n_flags > 0)
    )
    counts = Counter[tuple[str, int]]()
    for list_, stored in rows:
        if (plausibility := parse_plausibility(stored)) is not None:
            counts.update((flag, list_ or 0) for flag in get_flags(run, plausibility.certificate))
    if not counts:
        return None
    n_lists = session.scalar(select(func.max(RunItem.list)).where(RunItem.run_id == run.id))
    xs = list(range((n_lists or 0) + 1))
    lines = {flag: [counts[flag, x] for x in xs] for flag in sorted({flag for flag, _ in counts})}
    caption = _make_caption(
        "%(n)s flags of plausibility; each asks for a look, none is a verdict.",
        n=counts.total(),
    )
    return _make_chart("Flags", caption, "list", xs, lines, kind="map")


def _chart_spending(session: Session, run: Run, now: datetime) -> Chart | None:
    rows = session.execute(
        select(Payment.made_at, Payment.amount_minor)
        .where(Payment.run_id == run.id, Payment.state == PaymentState.DONE)
        .where(Payment.kind != PaymentKind.REJECTION)
        .order_by(Payment.made_at)
    ).all()
    if not rows:
        return None
    times = make_time_ticks(run.launched_at, run.closed_at or now, [at for at, _ in rows])
    spent = [sum(minor for at, minor in rows if at <= tick) / 100 for tick in times]
    caption = _make_caption(
        "%(amount)s %(currency)s spent, without the platform's fee.",
        amount=round(spent[-1], 2),
        currency=run.currency,
    )
    lines = {f"spent, {run.currency}": spent}
    return _make_chart("Money", caption, "time", to_unix_seconds(times), lines, time=True)


def _chart_accuracy(session: Session, run: Run, study: Study) -> Chart | None:
    if Gives.RIGHT not in response_of(study).gives:
        return None
    right = func.sum(case((Response.chosen_side == Trial.good_side, 1), else_=0))
    rows = session.execute(
        select(Trial.run_item_id, right, func.count())
        .join(Response, Response.trial_id == Trial.id)
        .join(Participant, Participant.id == Trial.participant_id)
        .outerjoin(Verdict, Verdict.participant_id == Participant.id)
        .where(*_select_unrestricted(run))
        .where(Trial.good_side != "", func.coalesce(Verdict.kept, True))
        .group_by(Trial.run_item_id)
    ).all()
    items = dict(
        session.execute(select(RunItem.id, RunItem.item).where(RunItem.run_id == run.id)).all()
    )
    n_right, n = Counter[str](), Counter[str]()
    for item_id, of_right, of_all in rows:
        name = items[item_id]["construction"]
        n_right[name] += of_right
        n[name] += of_all
    if not n:
        return None
    names = sorted(n)
    caption = _make_caption(
        "%(share)s %% of %(n)s answers chose as expected.",
        share=round(100 * n_right.total() / n.total()),
        n=n.total(),
    )
    shares = {"% as expected": [round(100 * n_right[name] / n[name], 1) for name in names]}
    return _make_chart("Accuracy", caption, "construction", names, shares, kind="ranks")


def _make_caption(message: str, **values: float | str) -> dict[str, Any]:
    """Return a message that is translated into the reader's language when it is read."""
    return {"message": message, "values": values}


def _make_chart(
    title: str,
    says: dict[str, Any],
    across: str,
    x: Sequence[Any],
    lines: dict[str, Any],
    *,
    kind: str = "lines",
    time: bool = False,
) -> Chart:
    labelled_lines = [{"label": label, "y": y} for label, y in lines.items()]
    about = {"title": title, "says": says, "across": across, "kind": kind, "time": time}
    return {**about, "x": list(x), "lines": labelled_lines}
