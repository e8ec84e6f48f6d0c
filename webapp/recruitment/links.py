"""Arrivals by a link or an access code of a run."""

import re
from functools import cache

from sqlalchemy import Dialect, Integer, bindparam, exists, select
from sqlalchemy.orm import Session

from webapp.core.i18n import gettext
from webapp.database.models import Link, Run
from webapp.database.prepared import Prepared
from webapp.recruiters.arrivals import ArrivalError
from webapp.sessions.lookup import PARAMETER


class LinkRequiredError(ArrivalError):
    """The request uses the run's bare address, and the run requires a link or a code."""


def find_arrival_link(
    session: Session, run: Run, token_or_code: str, *, required: bool
) -> Link | None:
    """Return the link by which a participant arrives; None if the run requires none.

    Once links were made for a run, it admits nobody without one.

    Args:
        session: An open session.
        run: The run.
        token_or_code: The identifier in the address, or the typed code; empty for neither.
        required: Whether the run's recruiter requires a link in any case.

    Raises:
        LinkRequiredError: A link is required and missing.
        ArrivalError: The link was not made for this run, or is no longer valid.
    """
    token = re.sub(r"[\s-]", "", token_or_code).lower()
    if not token:
        if required or _has_links(session, run):
            raise LinkRequiredError(
                gettext("This study is open to those who were given a link or an access code."),
                code="missing_link",
            )
        return None
    link = session.scalar(select(Link).where(Link.run_id == run.id, Link.token == token))
    if link is None or link.revoked_at is not None:
        raise ArrivalError(
            gettext(
                "This link or access code is unknown or no longer valid. Please check it, or write"
                " to the person who gave it to you."
            ),
            code="unknown_link",
            parameter=PARAMETER,
        )
    return link


def _has_links(session: Session, run: Run) -> bool:
    connection = session.connection()
    [(has_links,)] = _prepare_links_query(connection.dialect).fetch(connection, run=run.id)
    return bool(has_links)


@cache
def _prepare_links_query(dialect: Dialect) -> Prepared:
    """Return the statement that every arrival waits for, built once for each kind of database."""
    has_link_of_run = exists().where(Link.run_id == bindparam("run", type_=Integer))
    return Prepared(select(has_link_of_run), dialect)
