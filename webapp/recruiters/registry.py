"""The recruiters by name."""

from collections.abc import Callable
from typing import cast

from experiment.plugins import Registry
from webapp.errors import RunError, WebappError
from webapp.recruiters.base import Recruiter
from webapp.recruiters.platform import Platform
from webapp.settings import Settings

RECRUITERS = Registry(
    "recruiter",
    {
        "direct": "webapp.recruiters.direct:DirectRecruiter",
        "mturk": "webapp.recruiters.mturk.recruiter:MturkRecruiter",
        "simulator": "webapp.recruiters.simulator:SimulatorRecruiter",
    },
)

# Those of them that pay: name -> what opens the platform from the settings and the flag of a
# command that may spend real money.
_PLATFORMS = Registry("platform", {"mturk": "webapp.recruiters.mturk.opening:open_mturk"})


def open_platform(recruiter: str, settings: Settings, *, live: bool = False) -> Platform:
    """Return the platform on which a recruiter pays; nothing is called yet.

    Args:
        recruiter: Its name.
        settings: The installation's; they say where the platform is.
        live: Whether the command said that real money may be spent.

    Raises:
        RunError: The recruiter pays nobody.
        WebappError: The platform is live and the command does not say so, or the settings,
            credentials or libraries are not there.
    """
    if recruiter not in _PLATFORMS:
        raise RunError(
            f'the recruiter "{recruiter}" publishes nothing and pays nobody',
            expected=f"a run launched with one of: {', '.join(_PLATFORMS)}",
            remedy="Launch such a run with: parallax launch STUDY --recruiter mturk",
        )
    try:
        opens = cast(Callable[..., Platform], _PLATFORMS.load(recruiter))
    except ModuleNotFoundError as error:
        raise WebappError(
            f'the recruiter "{recruiter}" needs a library that is not installed: {error.name}',
            remedy=f"pip install 'parallax[{recruiter}]'",
        ) from error
    return opens(settings, live=live)


def load_recruiter(name: str) -> Recruiter:
    """Return the recruiter of that name.

    Raises:
        UnknownNameError: There is none.
    """
    return cast(type[Recruiter], RECRUITERS.load(name))()
