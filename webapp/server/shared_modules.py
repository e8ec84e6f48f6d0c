"""What all processes of a server share: modules that are loaded once, before they are forked."""

from contextlib import suppress
from importlib import import_module

from sqlalchemy.orm import configure_mappers

from experiment.errors import ParallaxError
from experiment.plugins import is_here
from experiment.responses.registry import RESPONSE_TYPES
from webapp.app import ALL_PAGES
from webapp.recruiters.registry import RECRUITERS

_MODULES = (
    "re2", "regex", "jinja2.ext", "sqlalchemy.dialects.sqlite",
    "webapp.server.app_on_demand", "webapp.server.background", "webapp.server.private_port",
    "webapp.server.waiting",
)  # fmt: skip


def load_shared_modules() -> None:
    """Load what every worker needs; a plug-in that cannot be loaded is reported by its users."""
    for module in _MODULES:
        import_module(module)
    for registration in filter(is_here, ALL_PAGES):
        import_module(registration.partition(":")[0])
    for registry in (RESPONSE_TYPES, RECRUITERS):
        for name in registry:
            with suppress(ParallaxError):
                registry.load(name)
    configure_mappers()
