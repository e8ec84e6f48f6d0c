"""The variables, functions and filters of every researcher page's template."""

from flask import g

from experiment import money
from experiment.exclusion.rules import reason
from webapp.database.engine import reading
from webapp.database.models import Payment, Run, User, Verdict
from webapp.gate.gate import blockers
from webapp.runs.blinding import evidence_shown, is_blind
from webapp.runs.runs import titles_of
from webapp.services import current_services
from webapp.users.roles import Right, Role


def _warnings_of_gate() -> list[tuple[str, str, str]]:
    """Return the blocked operations, the reason for each, and the remedy."""
    with reading(current_services().sessions) as session:
        return [
            (", ".join(sorted(each.forbids)), each.says, each.remedy)
            for _, each in blockers(session.connection())
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
