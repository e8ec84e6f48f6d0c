"""The values that a panel's templates may contain, and the texts about returning to the panel."""

import logging
from collections.abc import Mapping

from experiment.panels.panel import Panel
from experiment.panels.signing import UnfilledError, fill
from experiment.participation import Ending
from webapp.core.i18n import gettext
from webapp.errors import WebappError
from webapp.recruiters.endings import Departure
from webapp.recruiters.panel.settings import PanelSettings

_LOG = logging.getLogger("parallax.panels")
# Endings without paid work free the participant's place on the platform for somebody else.
_GIVES_BACK = (Ending.NO_CONSENT, Ending.DECLINED, Ending.FULL, Ending.DUPLICATE)


def secrets_of(panel: Panel, settings: PanelSettings) -> dict[str, str]:
    """Return the panel's secrets by their names in templates.

    Raises:
        WebappError: The installation lacks a secret.
    """
    for kept in panel.secrets.values():
        if kept not in settings.secrets:
            raise WebappError(
                f'the installation has no secret "{kept}", which the study\'s [panel] names',
                where="panel_secrets",
                expected=f'a line {kept} = "..." under [panel.secrets] in parallax.toml',
                remedy=(
                    "Secrets belong to the installation, not to the study: docs/panels.md "
                    "says where to find each one"
                ),
            )
    return {name: settings.secrets[kept].get_secret_value() for name, kept in panel.secrets.items()}


def secrets_at_hand(panel: Panel, settings: PanelSettings) -> dict[str, str]:
    """Return the panel's secrets that the installation has, and log the names of missing ones.

    A leaving participant must see a page in any case, as they cannot repair the installation.
    """
    there = {name: kept for name, kept in panel.secrets.items() if kept in settings.secrets}
    if len(there) < len(panel.secrets):
        _LOG.error(
            "panel_secrets lacks: %s", ", ".join({*panel.secrets.values()} - {*there.values()})
        )
    return {name: settings.secrets[kept].get_secret_value() for name, kept in there.items()}


def known_of(panel: Panel, departure: Departure, secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the values that templates may contain about a leaving participant."""
    known = {
        **{name: value for name, value in departure.parameters.items() if name in panel.parameters},
        **panel.values,
        **secrets,
        "participant": departure.platform_id or "",
        "receipt": departure.receipt,
    }
    try:
        known["code"] = fill(panel.code(departure.ending), known)
    except UnfilledError:
        known["code"] = ""
    return known


def text_of(ending: Ending, *, form: bool, code: bool, reported: bool) -> str:
    """Return the page's instructions for going on.

    Args:
        ending: How the visit ended.
        form: Whether a button leads back to the platform.
        code: Whether there is a completion code to copy.
        reported: Whether our server reports the ending to the platform.
    """
    if form and code:
        return gettext(
            "Please go back to the platform with the button below, which reports how your visit"
            " ended. If that fails, enter the code there."
        )
    if form:
        return gettext(
            "Please go back to the platform with the button below, which reports how your visit"
            " ended."
        )
    if code:
        return gettext("Please copy the completion code and enter it on the platform.")
    if reported:
        return gettext(
            "Our server reports to the platform how your visit ended. You can close this page now."
        )
    if ending in _GIVES_BACK:
        return gettext("Please give your place back on the platform. You can close this page now.")
    return gettext("You can close this page now.")
