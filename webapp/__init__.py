"""The server: pages for participants and researchers, the database and the recruiters."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webapp.app import create_app as create_app


def __getattr__(name: str) -> object:
    # Read when it is asked for: most commands need a part of the package, and so does a server's
    # first process.
    if name == "create_app":
        from webapp.app import create_app

        return create_app
    raise AttributeError(name)
