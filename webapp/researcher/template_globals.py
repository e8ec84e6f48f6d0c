"""What templates of researcher pages share: variables, functions, filters, and pages of lists."""

from collections.abc import Sequence

from flask import g, request

from experiment import money
from experiment.exclusion.rules import reason
from webapp.database.engine import reading
from webapp.database.models import Payment, Run, User, Verdict
from webapp.gate.gate import find_blockers
from webapp.runs.blinding import evidence_shown, is_blind
from webapp.runs.people_table import ON_A_PAGE
from webapp.runs.runs import titles_of
from webapp.services import current_services
from webapp.users.roles import Right, Role


def _warnings_of_gate() -> list[tuple[str, str, str]]:
    """Return the blocked operations, the reason for each, and the remedy."""
    with reading(current_services().sessions) as session:
        return [
            (", ".join(sorted(each.forbids)), each.says, each.remedy)
            for _, each in find_blockers(session.connection())
        ]


def title_of(run: Run) -> str:
    """Return a run's title."""
    known: dict[int, str] = g.setdefault("titles", {})
    if run.id not in known:
        with reading(current_services().sessions) as session:
            known |= titles_of(session, [run])
    return known[run.id]


def _is_blind(run: Run) -> bool:
    """Return whether a run's results are hidden."""
    known: dict[int, bool] = g.setdefault("blind", {})
    if run.id not in known:
        with reading(current_services().sessions) as session:
            known[run.id] = is_blind(session, run)
    return known[run.id]


def _evidence_of(run: Run, verdict: Verdict) -> str:
    """Return a verdict's evidence as far as the run may show it now."""
    services = current_services()
    with reading(services.sessions) as session:
        return evidence_shown(session, run, services.study_of(session, run), verdict)


def template_globals() -> dict[str, object]:
    """Return the variables and functions of every researcher page's template."""
    user: User | None = g.get("user")
    return {
        "user": user,
        "warnings_of_gate": _warnings_of_gate() if user is not None else [],
        "title_of": title_of,
        "in_words": money.in_words,
        "reason_of_rule": reason,
        "is_blind": _is_blind,
        "evidence_of": _evidence_of,
        "form_token": g.get("form_token", ""),
        "may": lambda role: user is not None and Role(user.role).may(Role(role)),
        "can": lambda right: Right(right) in g.get("rights", ()),
    }


def number(value: float, places: int | None = None) -> str:
    """Return a number with commas between thousands.

    Args:
        value: The number.
        places: The number of decimals; None for as many as it has.
    """
    form = ",.10g" if isinstance(value, float) else ",d"
    return format(value, form if places is None else f",.{places}f")


def _amount(payment: Payment) -> str:
    return money.in_words(payment.amount_minor, payment.currency)


FILTERS = {"number": number, "amount": _amount}


_DIGITS = 6


def page_asked_for() -> int:
    """Return the page number in the address, from 1; 1 if there is none."""
    page = request.args.get("page", "")
    return max(1, whole_number(page, _DIGITS))


def page_of(name: str, rows: Sequence[object]) -> dict[str, object]:
    """Return the template variables for the requested page of a list.

    Args:
        name: The template's name for the rows.
        rows: The rows of all pages.
    """
    page = page_asked_for()
    begin, end = (page - 1) * ON_A_PAGE, page * ON_A_PAGE
    return {name: rows[begin:end], "page": page, "more": len(rows) > end, "total": len(rows)}


def whole_number(typed: str, n_digits: int, otherwise: int = 0) -> int:
    """Return a number with a limited count of digits, or a default if the text is not one.

    The digits are counted first: Python refuses to read numbers of thousands of digits.
    """
    good = typed.isascii() and typed.isdigit() and len(typed) <= n_digits
    return int(typed) if good else otherwise
