"""What templates of researcher pages share: variables, functions, filters, and pages of lists."""

from collections.abc import Sequence

from flask import g, request

from experiment import money
from experiment.exclusion.rules import reason
from experiment.records import Verdict as DecidedVerdict
from webapp.database.engine import reading
from webapp.database.models import Payment, Run, User, Verdict
from webapp.gate.gate import find_blockers
from webapp.runs.blinding import get_visible_verdict, hides_rules, is_blind
from webapp.runs.people_table import ON_A_PAGE
from webapp.runs.runs import list_titles
from webapp.services import current_services
from webapp.users.roles import Right, Role


def _list_gate_warnings() -> list[tuple[str, str, str]]:
    """Return the blocked operations, the reason for each, and the remedy."""
    with reading(current_services().sessions) as session:
        return [
            (", ".join(sorted(blocker.forbids)), blocker.says, blocker.remedy)
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


FILTERS = {"number": format_number, "amount": _format_amount}


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
    begin, end = (page - 1) * ON_A_PAGE, page * ON_A_PAGE
    return {name: rows[begin:end], "page": page, "more": len(rows) > end, "total": len(rows)}


def parse_whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number with a limited count of digits, or a default if the text is not one.

    The digits are counted first: Python refuses to read numbers of thousands of digits.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
