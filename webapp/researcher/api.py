"""The API for programs with a token: progress, decisions, money and exports, as JSON or zip.

A browser's cookie is not accepted here, so other sites cannot misuse a browser. A token is accepted
only here.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Blueprint, current_app, g, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from structlog.contextvars import bind_contextvars

from experiment.errors import ParallaxError
from webapp.core.i18n import SOURCE_LANGUAGE, set_language
from webapp.database.engine import reading
from webapp.database.models import ApiToken, Participant, Run, Verdict
from webapp.errors import RequestError
from webapp.payments.accounts import load_accounts
from webapp.payments.ledger import load_payments
from webapp.payments.reconciliation.statement import build_statements
from webapp.researcher.access import check_project_right
from webapp.researcher.runs import decide_exclusions, make_export_zip
from webapp.runs.blinding import get_visible_verdict, is_blind
from webapp.runs.runs import RunProgress, list_run_progress
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.projects import filter_visible_runs
from webapp.users.roles import SCOPE_RIGHTS, Scope
from webapp.users.tokens import find_user_of_token, record_token_use

api = Blueprint("api", __name__)
View = TypeVar("View", bound=Callable[..., Any])


def require_scope(scope: Scope) -> Callable[[View], View]:
    """Declare which scope of a token a view needs."""

    def mark(view: View) -> View:
        view.scope = scope  # type: ignore[attr-defined]
        return view

    return mark


@api.get("/runs")
@require_scope(Scope.READ)
def list_runs() -> ResponseReturnValue:
    """Return the runs visible to the token's user, within the token's project."""
    token: ApiToken = g.token
    visible_runs = filter_visible_runs(g.user)
    if token.project_id is not None:
        visible_runs = visible_runs & (Run.project_id == token.project_id)
    with reading(current_services().sessions) as session:
        return jsonify(
            runs=[_make_run_json(run) for run in list_run_progress(session, visible_runs)]
        )


@api.get("/runs/<ref>")
@require_scope(Scope.READ)
def show_run(ref: str) -> ResponseReturnValue:
    """Return a run's progress."""
    with reading(current_services().sessions) as session:
        [of_run] = list_run_progress(session, Run.ref == ref)
    return jsonify(_make_run_json(of_run))


@api.get("/runs/<ref>/decisions")
@require_scope(Scope.REVIEW)
def list_decisions(ref: str) -> ResponseReturnValue:
    """Return who was kept and who excluded, with the rules that applied as far as they show."""
    with reading(current_services().sessions) as session:
        run = find_run(session, ref)
        study, blind = current_services().study_of(session, run), is_blind(session, run)
        rows = session.execute(
            select(Participant.ref, Verdict)
            .join(Verdict, Verdict.participant_id == Participant.id)
            .where(Participant.run_id == run.id)
            .where(Participant.restricted_at.is_(None))
            .order_by(Participant.id)
        ).all()
        decided = [
            {"participant": participant, "kept": visible_verdict.kept}
            | {"rule": visible_verdict.rule, "evidence": visible_verdict.evidence}
            for participant, verdict in rows
            for visible_verdict in [get_visible_verdict(study, verdict, blind=blind)]
        ]
    return jsonify(decisions=decided)


@api.post("/runs/<ref>/exclude")
@require_scope(Scope.REVIEW)
def apply_exclusion_rules(ref: str) -> ResponseReturnValue:
    """Apply the study's exclusion rules to participants who finished."""
    result = decide_exclusions(ref, by=_get_actor_name())
    return jsonify(decided=result.decided, kept=result.kept, excluded=result.excluded)


@api.get("/runs/<ref>/money")
@require_scope(Scope.MONEY)
def list_statements(ref: str) -> ResponseReturnValue:
    """Return the amounts owed and paid to each participant, in minor units; no platform call."""
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        paid = build_statements(load_accounts(session, run), load_payments(session, run), study)
    return jsonify(
        currency=run.currency,
        statements=[
            {"payee": line.payee, "owed": line.owed_minor, "paid": line.ledger_minor}
            for line in paid
        ],
    )


@api.post("/runs/<ref>/export")
@require_scope(Scope.EXPORT)
def export_run(ref: str) -> ResponseReturnValue:
    """Send all data of the run as one zip file."""
    return make_export_zip(ref, by=_get_actor_name())


@api.before_request
def _check_token() -> None:
    set_language(SOURCE_LANGUAGE)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    services = current_services()
    user_and_token = None
    if kind.lower() == "bearer":
        with reading(services.sessions) as session:
            user_and_token = find_user_of_token(session, token.strip(), services.now())
    if user_and_token is None:
        raise RequestError(
            "This needs a token that is valid, in the header Authorization: Bearer TOKEN. Make one"
            " on the researcher pages, under Tokens.",
            status=401,
            code="no_token",
        )
    g.user, g.token = user_and_token
    bind_contextvars(user=g.user.name)
    view: Any = current_app.view_functions[request.endpoint or ""]
    scope: Scope = view.scope
    if scope not in g.token.scopes.split():
        raise RequestError(
            f'This needs the scope "{scope}"; the token has: {g.token.scopes}.',
            status=403,
            code="scope_missing",
        )
    if request.view_args:
        check_project_right(g.user, SCOPE_RIGHTS[scope], only=g.token.project_id)
    record_token_use(services.sessions, g.token, services.now())


@api.errorhandler(ParallaxError)
def render_error(error: ParallaxError) -> ResponseReturnValue:
    """Return the error as JSON: its code, and a message that explains it."""
    if isinstance(error, RequestError):
        return jsonify(error={"code": error.code, "message": error.problem}), error.status
    return jsonify(error={"code": "refused", "message": str(error)}), 409


def _get_actor_name() -> str:
    return f"{g.user.name} (token {g.token.label})"


def _make_run_json(progress: RunProgress) -> dict[str, object]:
    run = progress.run
    return {
        "run": run.ref,
        "study": run.study,
        "version": run.study_version,
        "simulated": run.simulated,
        "open": run.closed_at is None,
        "places": progress.places,
        "taken": progress.taken,
        "finished": progress.finished,
        "excluded": progress.excluded,
    }
