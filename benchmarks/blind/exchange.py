"""The exchange of what people answered for something else."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import unquote

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.records import Kind
from webapp.database.engine import Sessions
from webapp.database.models import Response, Run, RunItem, Trial, Verdict
from webapp.runs.exclude import store_verdicts
from webapp.sessions.measurements import read_details, stored_steps


def give_traces(session: Session) -> None:
    """Give each answer a path of the mouse of its own, which no simulated browser sends."""
    for number, response in enumerate(session.scalars(select(Response)), start=1):
        response.trace = f"m{number + 9},{number + 9},7;m8,-2,{number + 9};d{number + 9};u9"


def exchange(sessions: Sessions, *, errors: bool = False) -> int:
    """Change what people answered, but nothing that a blind run may tell; return how many rows.

    Args:
        sessions: Of the installation.
        errors: Whether each person's number of errors on catch trials changes too: no rule that
            excludes people may be told by it.
    """
    with sessions.begin() as session:
        rows = session.execute(
            select(Trial, Response, RunItem.kind)
            .join(Response, Response.trial_id == Trial.id)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .order_by(Trial.participant_id, Trial.position)
        ).all()
        of_each = defaultdict[int, list[tuple[Trial, Response, str]]](list)
        for trial, response, kind in rows:
            of_each[trial.participant_id].append((trial, response, kind))
        for theirs in of_each.values():
            _exchanged(theirs)
            of_catch = [response for _, response, kind in theirs if kind == Kind.CATCH]
            for response in of_catch[:1] if errors else ():
                response.chosen_side = _turned(response.chosen_side)
    return len(rows)


def judge_again(sessions: Sessions, now: datetime, *, flips: bool = False) -> int:
    """Apply the rules to what people answer now, and return how many verdicts tell something else.

    Args:
        sessions: Of the installation.
        now: The time.
        flips: Whether somebody who was kept may be excluded now, and the reverse. Otherwise the
            earlier verdict stays where that would follow, and only the rule and figures change.
    """
    with sessions.begin() as session:
        run, earlier = session.scalars(select(Run)).one(), dict[int, tuple[bool, str, str]]()
        for each in session.scalars(select(Verdict)).all():
            earlier[each.participant_id] = each.kept, each.rule, each.evidence
            session.delete(each)
        session.flush()
        store_verdicts(session, run, now)
        changed = 0
        for each in session.scalars(select(Verdict)).all():
            before = earlier[each.participant_id]
            if each.kept != before[0] and not flips:
                each.kept, each.rule, each.evidence = before
            changed += (each.kept, each.rule, each.evidence) != before
    return changed


def turn_targets(sessions: Sessions) -> int:
    """Answer every trial but the catch trials the other way, and return how many."""
    with sessions.begin() as session:
        rows = session.execute(
            select(Trial, Response)
            .join(Response, Response.trial_id == Trial.id)
            .join(RunItem, RunItem.id == Trial.run_item_id)
            .where(RunItem.kind != Kind.CATCH)
        ).all()
        for trial, response in rows:
            if (text := _typed_text(response)) is not None:
                _type(response, _other_text(trial, text))
            if response.rating is not None and trial.points:
                response.rating = _mirrored(response.rating, trial.points)
            else:
                response.chosen_side = _turned(response.chosen_side)
    return len(rows)


def _exchanged(theirs: Sequence[tuple[Trial, Response, str]]) -> None:
    plain = [(trial, response) for trial, response, kind in theirs if kind != Kind.CATCH]
    catch = [(trial, response) for trial, response, kind in theirs if kind == Kind.CATCH]
    for some in (plain, catch):
        # A typed text is right where it is accepted: those of catch trials stay.
        responses = [
            response for _, response in some if some is plain or _typed_text(response) is None
        ]
        for column in ("rt_ms", "release_ms", "steps", "trace", "client_uuid"):
            values = [getattr(each, column) for each in responses]
            for each, value in zip(responses, values[1:] + values[:1], strict=True):
                setattr(each, column, value)
    for number, (trial, response) in enumerate(plain):
        if response.rating is not None and trial.points:
            response.rating = _mirrored(response.rating, trial.points)
        elif number % 2:
            response.chosen_side = _turned(response.chosen_side)
        else:
            trial.good_side = _turned(trial.good_side)
    catch = [one for one in catch if _typed_text(one[1]) is None]
    wrong = [one for one in catch if one[0].good_side != one[1].chosen_side]
    right = [one for one in catch if one[0].good_side == one[1].chosen_side]
    for pair in zip(wrong, right, strict=False):
        for _, response in pair:
            response.chosen_side = _turned(response.chosen_side)
    if not wrong:
        # Nothing was wrong: all catch trials are turned whole.
        for trial, response in catch:
            trial.good_side = _turned(trial.good_side)
            response.chosen_side = _turned(response.chosen_side)


def _mirrored(rating: int, points: int) -> int:
    """Return another rating; of several scales, each digit is the point of one."""
    if rating <= points:
        return points + 1 - rating
    return int("".join("2" if point == "1" else "1" for point in str(rating)))


def _typed_text(response: Response) -> str | None:
    """Return what was typed; None if nothing is typed in the trial."""
    text = (read_details(response.steps) or {}).get("text")
    return None if text is None else str(text)


def _type(response: Response, text: str) -> None:
    details = {**(read_details(response.steps) or {}), "text": text}
    response.steps = stored_steps(None, details)


def _other_text(trial: Trial, text: str) -> str:
    """Return an accepted answer for any other, and the reverse; "same" where none is accepted."""
    accepted = [unquote(answer) for answer in (trial.options or "").split()[1:]]
    return "same" if not accepted or text in accepted else accepted[0]


def _turned(side: str) -> str:
    return {"first": "second", "second": "first"}.get(side, side)
