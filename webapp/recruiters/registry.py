"""Load recruiters by name, and open their platforms, guarded so that only the paying copy acts."""

from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any, cast

from experiment.plugins import Registry
from webapp.core.logging import hide_in_log
from webapp.core.settings import Settings
from webapp.errors import RunError, WebappError
from webapp.gate.paying_copy import RIGHT_REMEDY, allow_platform_call
from webapp.recruiters import capabilities
from webapp.recruiters.base import PayingRecruiter, Recruiter
from webapp.recruiters.platform import Platform, PlatformError

RECRUITERS = Registry(
    "recruiter",
    {
        "direct": "webapp.recruiters.direct:DirectRecruiter",
        "mturk": "webapp.recruiters.mturk.recruiter:MturkRecruiter",
        "panel": "webapp.recruiters.panel.recruiter:PanelRecruiter",
        "prolific": "webapp.recruiters.prolific.recruiter:ProlificRecruiter",
        "simulator": "webapp.recruiters.direct:SimulatorRecruiter",
    },
    group="parallax.recruiters",
    requires=(
        "name", "simulated", "settings_model", "id_patterns",
        "check", "sites", "invitation", "posted_link", "arrival", "exit", "visitor",
    ),
)  # fmt: skip


def recruiter_class(name: str) -> type[Recruiter]:
    """Return the class of the recruiter of that name, or of ``"module:Class"``.

    Loading also makes the log mask the participant ids of its platform.

    Raises:
        UnknownNameError: There is no such recruiter.
        PluginError: The class cannot be imported or is not a recruiter.
    """
    recruiter = cast(type[Recruiter], RECRUITERS.load(name))
    hide_in_log(recruiter.id_patterns)
    return recruiter


def recruiter_classes() -> Iterator[type[Recruiter]]:
    """Yield every recruiter that is built in or offered by an installed package.

    Raises:
        PluginError: A package's recruiter cannot be imported or is not a recruiter.
    """
    return map(recruiter_class, RECRUITERS)


def load_recruiter(name: str, settings: Settings) -> Recruiter:
    """Return the recruiter of that name, or of ``"module:Class"``.

    Args:
        name: Its name.
        settings: The installation's settings, with the recruiter's own in its section.

    Raises:
        UnknownNameError: There is no such recruiter.
        PluginError: The class cannot be imported or is not a recruiter.
        SettingError: A required setting is missing.
    """
    recruiter = recruiter_class(name)
    return recruiter(settings.recruiter_settings(name, recruiter.settings_model))


def open_platform(recruiter: str, settings: Settings, *, live: bool = False) -> Platform:
    """Return the platform on which a recruiter pays, without calling it yet.

    Methods that move money or places, or write to people, raise an error if this copy of the
    installation is not the paying copy.

    Args:
        recruiter: Its name.
        settings: The installation's settings, which name the platform's endpoint.
        live: Whether the command allows spending real money.

    Raises:
        RunError: The recruiter pays nobody.
        WebappError: The platform is live and the command does not allow it, or settings,
            credentials or libraries are missing.
    """
    loaded = load_recruiter(recruiter, settings)
    if not isinstance(loaded, PayingRecruiter):
        paying = [
            recruiter_type.name
            for recruiter_type in recruiter_classes()
            if issubclass(recruiter_type, PayingRecruiter)
        ]
        raise RunError(
            f'the recruiter "{recruiter}" neither publishes runs nor pays participants',
            expected=f"a run launched with one of: {', '.join(paying)}",
            remedy="Launch such a run with: parallax launch STUDY --recruiter NAME",
        )
    try:
        platform = loaded.open_platform(live=live)
    except ModuleNotFoundError as error:
        raise WebappError(
            f'the recruiter "{recruiter}" needs a library that is not installed: {error.name}',
            remedy=f"pip install 'parallax-experiments[{recruiter}]'",
        ) from error
    if settings.instance is not None:
        _let_paying_copy_alone_act(platform, settings.instance)
    return platform


def _let_paying_copy_alone_act(platform: Platform, instance: Path) -> None:
    for name in _methods_of_paying_copy():
        # Also a method that a plug-in's platform has by itself and not by its class.
        method = getattr(platform, name, None)
        if method is not None:
            setattr(platform, name, _require_paying_copy(method, platform.endpoint, instance))


def _require_paying_copy(
    method: Callable[..., Any], endpoint: str, instance: Path
) -> Callable[..., Any]:
    @wraps(method)
    def call(*values: object, **named: object) -> Any:  # noqa: ANN401 - whatever the method returns
        with allow_platform_call(instance) as may_act:
            if not may_act:
                raise PlatformError(
                    "this copy of the installation does not have the right to pay and publish, so "
                    "nothing was done",
                    where=endpoint,
                    remedy=RIGHT_REMEDY,
                )
            return method(*values, **named)

    return call


@cache
def _methods_of_paying_copy() -> frozenset[str]:
    """Return the names of the methods that only the paying copy may call."""
    protocols = (Platform, *vars(capabilities).values())
    return frozenset(
        name
        for protocol in protocols
        if isinstance(protocol, type)
        for name, method in vars(protocol).items()
        if getattr(method, "by_paying_copy", False)
    )
