"""The webhook URL that platforms call to report events."""

import logging

from flask import Blueprint, Response, request
from sqlalchemy import select

from experiment.errors import UnknownNameError
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.recruiters.base import HookedRecruiter
from webapp.recruiters.platform import PlatformError
from webapp.recruitment.poll import store_submission
from webapp.services import current_services

platform_hooks = Blueprint("platform_hooks", __name__)
_LOG = logging.getLogger("parallax.hooks")


@platform_hooks.post("/hooks/<name>")
def receive_notification(name: str) -> Response:
    """Accept a platform's notification; the next poll delivers any that are lost here."""
    services = current_services()
    with reading(services.sessions) as session:
        run_id = session.scalar(select(Run.id).where(Run.recruiter == name).limit(1))
    if run_id is None:
        # A name may be module:NAME, and outsiders must not be able to trigger an import.
        raise _make_not_found_error()
    try:
        recruiter = services.recruiter(name)
    except UnknownNameError as error:
        raise _make_not_found_error() from error
    if not isinstance(recruiter, HookedRecruiter):
        raise _make_not_found_error()
    try:
        submission = recruiter.heard(dict(request.headers), request.get_data(), services.now())
    except RequestError as error:
        _LOG.warning(
            "a call to /hooks/%s was refused (%s): if the platform made it, the secret in the"
            " settings is not the one it signs with, or the two clocks differ", name, error.code
        )  # fmt: skip
        raise
    except PlatformError as error:
        _LOG.warning("the state that a webhook announced could not be fetched: %s", error)
        return Response(status=204)
    if submission is not None:
        store_submission(services.sessions, submission, services.now())
    return Response(status=204)


def _make_not_found_error() -> RequestError:
    return RequestError(gettext("There is no such page."), status=404, code="not_found")
