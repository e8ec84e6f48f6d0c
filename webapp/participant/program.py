"""The working page's program: small modules on disk, one file on the wire."""

import re
from pathlib import Path

from flask import Blueprint, Response, current_app, request
from flask.typing import ResponseReturnValue

program = Blueprint("program", __name__)

# In the order of their imports; each name at a module's top level is another.
_MODULES = ("store.js", "queue.js", "sequence.js", "device.js", "trial.js", "working.js")
_BETWEEN_MODULES = re.compile(r"^(?:import .*;\n|export )", re.MULTILINE)


@program.get("/program.js")
def send() -> ResponseReturnValue:
    """Send the modules as one, because each request more delays the first trial."""
    response = Response(joined_modules(Path(str(current_app.static_folder))))
    response.mimetype = "text/javascript"
    response.cache_control.no_cache = True
    response.add_etag()
    return response.make_conditional(request)


def joined_modules(folder: Path) -> str:
    """Return the modules as one, without the imports and exports that tie them together."""
    return "\n".join(
        _BETWEEN_MODULES.sub("", (folder / name).read_text(encoding="utf-8")) for name in _MODULES
    )
