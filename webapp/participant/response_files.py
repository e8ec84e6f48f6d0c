"""Where the page finds what a type of response brings: its template and its script."""

import logging
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from flask import Flask
from jinja2 import ChoiceLoader, FunctionLoader

from experiment.errors import ParallaxError
from experiment.responses.registry import RESPONSE_TYPES, response_class

_FOLDER = Path(__file__).parent / "responses"


def find_templates(app: Flask) -> None:
    """Let the app's templates include those of the types of response."""
    own = [app.jinja_loader] if app.jinja_loader else []
    app.jinja_loader = ChoiceLoader([*own, FunctionLoader(_template)])


def _template(name: str) -> str | None:
    file = located(name)
    return file.read_text(encoding="utf-8") if file.is_file() else None


def response_scripts() -> dict[str, Traversable]:
    """Return the scripts of all types, built in or installed, by their names on the wire."""
    found = {}
    for name in RESPONSE_TYPES:
        try:
            script = response_class(name).script
            if (file := located(script)).is_file():
                found[script_name(script)] = file
        except (ParallaxError, ModuleNotFoundError) as error:
            # No run of it can be shown, and all others can.
            logging.getLogger(__name__).warning("%s: %s", name, error)
    return found


def script_name(name: str) -> str:
    """Return a script's name on the wire, where all programs lie in one folder."""
    return name.replace(":", "-").replace("/", "-")


def located(name: str) -> Traversable:
    """Return a file of a type of response.

    Args:
        name: Its path below ``webapp/participant/responses/``, or ``"package:path"``.
    """
    package, _, path = name.rpartition(":")
    return (files(package) if package else _FOLDER).joinpath(path)
