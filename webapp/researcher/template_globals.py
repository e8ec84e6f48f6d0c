"""Shared by templates of researcher pages: variables, functions, filters, and pages of lists."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from flask import g, request
from sqlalchemy import select

from experiment import money
from experiment.exclusion.rules import reason
from experiment.participation import State
from experiment.records import Verdict as DecidedVerdict
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Payment, Run, User, Verdict
from webapp.gate.gate import find_blockers
from webapp.runs.blinding import get_visible_verdict, hides_rules, is_blind
from webapp.runs.people_table import PAGE_SIZE
from webapp.runs.runs import list_titles
from webapp.services import current_services
from webapp.users.roles import Right, Role


def _list_gate_warnings() -> list[tuple[str, str, str]]:
    """Return the blocked operations, the reason for each, and the remedy."""
    with reading(current_services().sessions) as session:
        return [
            (", ".join(sorted(blocker.forbids)), blocker.problem, blocker.remedy)
            for _, blocker in find_blockers(session.connection())
        ]


def get_run_title(run: Run) -> str:
    """Return a run's title."""
    titles: dict[int, str] = g.setdefault("titles", {})
    if run.id not in titles:
        with reading(current_services().sessions) as session:
            titles |= list_titles(session, [run])
    return titles[run.id]


def _is_run_blind(run: Run) -> bool:
    """Return whether a run's results are hidden."""
    blind_runs: dict[int, bool] = g.setdefault("blind", {})
    if run.id not in blind_runs:
        with reading(current_services().sessions) as session:
            blind_runs[run.id] = is_blind(session, run)
    return blind_runs[run.id]


def _get_verdict(run: Run, verdict: Verdict) -> DecidedVerdict:
    """Return a verdict as far as the run may show it now."""
    services = current_services()
    with reading(services.sessions) as session:
        study = services.study_of(session, run)
    return get_visible_verdict(study, verdict, blind=_is_run_blind(run))


def _hides_rules(run: Run) -> bool:
    """Return whether the run may not show now which rule excluded a participant."""
    services = current_services()
    with reading(services.sessions) as session:
        return hides_rules(session, run, services.study_of(session, run))


# An act that was logged longer ago is not the one that led to this page.
_DONE_SHOWN_FOR = timedelta(minutes=2)
# The argument of a page's address after an act; the page then says what was done.
DONE_ARGUMENT = "done"


def _find_act_done(user: User) -> tuple[str, bool] | None:
    """Return the user's latest act by the audit log, and whether all of it succeeded.

    The address says only that something was done, so a forged link announces nothing false.
    """
    if request.method != "GET" or DONE_ARGUMENT not in request.args:
        return None
    services = current_services()
    of_user = (
        AuditEntry.who == user.name,
        AuditEntry.run_ref == (request.view_args or {}).get("ref"),
        AuditEntry.at >= services.now() - _DONE_SHOWN_FOR,
    )
    latest = select(AuditEntry).where(*of_user).order_by(AuditEntry.number.desc()).limit(1)
    with reading(services.sessions) as session:
        entry = session.scalar(latest)
    return None if entry is None else describe_act(entry.act, entry.after)


_ACT_SENTENCES = {
    "discrepancies mended": "What was safe to do is done: {found}.",
    "payment settled by hand": "Payment {payment} is settled: {state}.",
    "run closed": "The run is closed: nobody new is let in.",
    "run opened": "The run is open again.",
    "run archived": "The run is in the archive.",
    "run taken out of the archive": "The run is listed again.",
    "run unblinded": "The run is unblinded: its results can be seen and exported.",
    "places added": "Places were added: the run now has {places}.",
    "exclusion rules applied": "The exclusion rules were applied; {decided} new verdicts.",
    "recruitment paused": "Recruitment is paused: {offers} offers are hidden from newcomers.",
    "recruitment extended": "Recruitment goes on until {until}: {offers} offers.",
    "participants written to": "The message was sent to {participants} participants.",
    "run published": "The run is published.",
}


def describe_act(act: str, details: Mapping[str, str]) -> tuple[str, bool]:
    """Return a sentence on a logged act, and whether all of it succeeded."""
    if act == "payment made":
        return _describe_payment(details)
    values = {name: value.removesuffix(".") for name, value in details.items()}
    try:
        return _ACT_SENTENCES[act].format_map(values), True
    except KeyError:
        return f"Done: {act}.", True


def _describe_payment(details: Mapping[str, str]) -> tuple[str, bool]:
    result, amount = details.get("result", ""), details.get("amount", "")
    if result == "offered":
        is_reported = details.get("told") == "by the platform"
        return (
            "The compensation is offered, and the platform told them."
            if is_reported
            else "The compensation is offered, but the platform could not tell them. Write to them."
        ), is_reported
    all_done = re.fullmatch(r"(\d+) done", result)
    if all_done is None:
        return (
            f"Not everything is done: {result}. {details.get('answers', '')} What is not done is "
            "listed below, and can be asked for again: nobody is paid twice."
        ), False
    number = f"{all_done[1]} {'decision' if not amount else 'payment'}"
    plural = "" if all_done[1] == "1" else "s"
    was = "was" if all_done[1] == "1" else "were"
    return f"{number}{plural} {was} made{f', {amount} in all' if amount else ''}.", True


def make_template_globals() -> dict[str, object]:
    """Return the variables and functions of every researcher page's template."""
    user: User | None = g.get("user")
    return {
        "user": user,
        "warnings_of_gate": _list_gate_warnings() if user is not None else [],
        "title_of": get_run_title,
        "in_words": money.in_words,
        "reason_of_rule": reason,
        "is_blind": _is_run_blind,
        "verdict_of": _get_verdict,
        "hides_rules": _hides_rules,
        "form_token": g.get("form_token", ""),
        "act_done": _find_act_done(user) if user is not None else None,
        "may": lambda role: user is not None and Role(user.role).may(Role(role)),
        "can": lambda right: Right(right) in g.get("rights", ()),
    }


def format_number(value: float, places: int | None = None) -> str:
    """Return a number with commas between thousands.

    Args:
        value: The number.
        places: The number of decimals; None for as many as it has.
    """
    form = ",.10g" if isinstance(value, float) else ",d"
    return format(value, form if places is None else f",.{places}f")


def _format_amount(payment: Payment) -> str:
    return money.in_words(payment.amount_minor, payment.currency)


_STATE_WORDS = {
    State.WORKING: "at work",
    State.ANSWERED: "at work: last questions",
    State.ABANDONED: "left before the end",
    State.LEFT: "ended early",
}


def _describe_state(state: str) -> str:
    """Return a participant's state in the words of the run's overview."""
    return _STATE_WORDS.get(State(state), state)


TEMPLATE_FILTERS = {
    "number": format_number,
    "amount": _format_amount,
    "state_words": _describe_state,
}


_DIGITS = 6


def get_page_number() -> int:
    """Return the page number in the address, from 1; 1 if there is none."""
    page = request.args.get("page", "")
    return max(1, parse_whole_number(page, _DIGITS))


def slice_page(name: str, rows: Sequence[object]) -> dict[str, object]:
    """Return the template variables for the requested page of a list.

    Args:
        name: The template's name for the rows.
        rows: The rows of all pages.
    """
    page = get_page_number()
    begin, end = (page - 1) * PAGE_SIZE, page * PAGE_SIZE
    return {name: rows[begin:end], "page": page, "more": len(rows) > end, "total": len(rows)}


def parse_whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number with a limited count of digits, or a default if the text is not one.

    The digits are counted first: Python refuses to read numbers of thousands of digits.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
