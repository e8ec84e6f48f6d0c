"""Open Mechanical Turk for commands that publish and pay."""

from webapp.errors import WebappError
from webapp.recruiters.mturk.client import MturkClient, open_client
from webapp.recruiters.mturk.settings import CLOSED, LIVE, MturkSettings


def open_mturk(settings: MturkSettings, *, live: bool = False) -> MturkClient:
    """Return the client of the endpoint that the settings name.

    Raises:
        WebappError: The endpoint is the live one, and the command does not allow it.
    """
    if settings.endpoint == LIVE and not live:
        raise WebappError(
            f"{CLOSED}, and its live endpoint spends real money",
            where="mturk_endpoint = live",
            remedy=(
                "Use a local marketplace (parallax marketplace), or add --live to the "
                "command if the service is open again"
            ),
        )
    return open_client(settings.endpoint)
