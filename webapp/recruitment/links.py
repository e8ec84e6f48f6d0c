"""Arrivals by a link or an access code of a run."""

import re

from sqlalchemy import select
from sqlalchemy.orm import Session

from webapp.core.i18n import gettext
from webapp.database.models import Link, Run
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
        if required or run.has_links:
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
