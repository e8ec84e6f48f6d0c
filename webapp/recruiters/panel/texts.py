"""Texts about going back, for studies that give none of their own."""

from experiment.participation import Ending
from webapp.core.i18n import gettext

# Who did nothing that is paid gives their place back, so that somebody else can have it.
_GIVES_BACK = (Ending.NO_CONSENT, Ending.DECLINED, Ending.FULL, Ending.DUPLICATE)


def text_of(ending: Ending, *, form: bool, code: bool, reported: bool) -> str:
    """Return what the page says about going on.

    Args:
        ending: How the visit ended.
        form: Whether a button leads back to the platform.
        code: Whether there is a completion code to copy.
        reported: Whether our server tells the platform by itself.
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
