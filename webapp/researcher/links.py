"""The page of a run's links and access codes: creating, ending, listing their participants."""

import segno
from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from experiment.errors import ParallaxError
from experiment.tables.files import safe_csv
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.researcher.access import current_user, require_access
from webapp.researcher.template_globals import get_page_number, parse_whole_number
from webapp.runs.links import (
    LinkWithArrivals,
    find_people_of_codes,
    list_links,
    list_list_numbers,
    make_links,
    make_number_labels,
    revoke_links,
)
from webapp.runs.people_table import PAGE_SIZE
from webapp.services import current_services
from webapp.sessions.leave import ending_of
from webapp.sessions.lookup import CODE, MULTI, SINGLE, find_run
from webapp.users.audit_log import record_act
from webapp.users.roles import Right

link_pages = Blueprint("links", __name__)
_KIND_LABELS = {
    SINGLE: "personal links, each for one person",
    CODE: "access codes, which people type in",
    MULTI: "a link for many people",
}
_MOST_CODES = 500
_COLUMNS = ("label", "kind", "list", "link", "code", "came")


@link_pages.get("/runs/<ref>/links")
@require_access(Right.CONDUCT)
def show_links(ref: str) -> str:
    """Show a page of the run's links and codes, with the participants of each."""
    return _render_page(ref)


@link_pages.post("/runs/<ref>/links")
@require_access(Right.CONDUCT)
def create_links(ref: str) -> ResponseReturnValue:
    """Create links or codes; from then on the run requires one."""
    kind, list_ = request.form.get("kind", ""), request.form.get("list", "")
    number = 1 if kind == MULTI else parse_whole_number(request.form.get("number", ""), 6)
    if kind not in _KIND_LABELS or number < 1:
        raise RunError(
            "the form does not say what to make, or how many",
            expected="personal links, access codes or a link for many; a whole number from 1",
        )

    def work(session: Session) -> None:
        run = find_run(session, ref)
        lists: list[int] | list[None] = [None]
        if list_ == "each":
            lists = list_list_numbers(session, run)
        elif list_:
            lists = [parse_whole_number(list_, 6, otherwise=-1)]
        now = current_services().now()
        new_links = make_links(session, run, kind, make_number_labels(kind, number), lists, now)
        _log_act(session, run, "links made", kind=kind, links=str(len(new_links)))

    run_in_transaction(current_services().sessions, work)
    return redirect(url_for("links.show_links", ref=ref), 303)


@link_pages.post("/runs/<ref>/links/end")
@require_access(Right.CONDUCT)
def end_link(ref: str) -> Response:
    """Close a link to new participants; participants who arrived by it can go on."""

    def work(session: Session) -> None:
        run, token = find_run(session, ref), request.form.get("link", "")
        revoke_links(session, run, [token], current_services().now())
        _log_act(session, run, "link ended", link=token[:4] + "...")

    run_in_transaction(current_services().sessions, work)
    return redirect(url_for("links.show_links", ref=ref), 303)


@link_pages.post("/runs/<ref>/links/table")
@require_access(Right.CONDUCT)
def download_link_table(ref: str) -> Response:
    """Send every link as a table, for a mailing."""
    services = current_services()
    with reading(services.sessions) as session:
        links = list_links(session, find_run(session, ref), services.settings.link_base)
    rows = (
        (link.link.label, link.link.kind, link.link.list, link.address, link.code,
         " ".join(link.came))
        for link in links
    )  # fmt: skip
    name = f"parallax-links-{ref}.csv"
    response = Response(safe_csv(_COLUMNS, rows), mimetype="text/csv")
    response.headers["Content-Disposition"] = f"attachment; filename={name}"
    return response


@link_pages.post("/runs/<ref>/links/whose")
@require_access(Right.CONDUCT)
def look_up_codes(ref: str) -> str:
    """Show which participant received each of the typed completion codes."""
    codes, services = request.form.get("codes", "").split()[:_MOST_CODES], current_services()
    with reading(services.sessions) as session:
        people = find_people_of_codes(session, find_run(session, ref), codes, services.tokens)
    rows = []
    for code, person in people:
        ending = ending_of(person) if person else None
        rows.append((code, person.ref if person else "", ending or ""))
    return _render_page(ref, codes=rows)


@link_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the page of links."""
    return _render_page((request.view_args or {})["ref"], problem=str(error)), 409


def _render_page(
    ref: str, *, codes: list[tuple[str, str, str]] | None = None, problem: str = ""
) -> str:
    services, page = current_services(), get_page_number()
    n_before = (page - 1) * PAGE_SIZE
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        base = services.settings.link_base
        links = list_links(session, run, base, after=n_before, most=PAGE_SIZE + 1)
        lists = list_list_numbers(session, run)
    on_page = links[:PAGE_SIZE]
    return render_template(
        "researcher/links.html",
        run=run,
        links=on_page,
        drawn={link.link.id: _make_qr_code(link) for link in on_page}
        if "qr" in request.args
        else {},
        more=len(links) > PAGE_SIZE,
        page=page,
        lists=lists,
        kinds=_KIND_LABELS,
        codes=codes,
        problem=problem,
    )


def _make_qr_code(link: LinkWithArrivals) -> str:
    """Return a link's QR code as a data URI."""
    uri: str = segno.make(link.address, micro=False).svg_data_uri(scale=3, light="#fff")
    return uri


def _log_act(session: Session, run: Run, act: str, **after: str) -> None:
    user_name, now = current_user().name, current_services().now()
    record_act(session, user_name, act, now, run_ref=run.ref, after=after)
