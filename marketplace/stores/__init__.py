"""Local stand-ins for the stores that keep the answers of studies without a server.

One app acts as DataPipe, as JATOS and as any server that accepts a POST, and serves folders of
static files as a plain web host does. Received data are kept in each store's own file format.
"""

from pathlib import Path

from flask import Flask

from marketplace.serving import Asked, Started
from marketplace.stores.datapipe import datapipe
from marketplace.stores.host import Faults, post_store, static_host
from marketplace.stores.jatos import jatos

_LARGEST_BODY_BYTES = 32 * 1024 * 1024


def create_stores(
    folder: Path, faults: Faults | None = None, jatos_programs: Path | None = None
) -> Flask:
    """Return the app of all stores.

    Args:
        folder: Folder for the received data; created if missing.
        faults: The planned failures; none by default.
        jatos_programs: The folder of JATOS's own jatos.js, to serve that file.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    faults = faults or Faults()
    for blueprint in (
        static_host(faults, folder / "sites"),
        post_store(folder / "post", faults),
        datapipe(folder / "datapipe", faults),
        jatos(faults, jatos_programs),
    ):
        app.register_blueprint(blueprint)
    return app


def start(asked: Asked) -> Started:
    """Return the started stores and their addresses."""
    sites = asked.folder / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    app = create_stores(asked.folder)
    ways_in = (
        f"Static studies below {sites}: {asked.url}/sites/NAME/",
        f"--store post --url {asked.url}/keep",
        f"--store datapipe --url {asked.url}/datapipe --experiment any",
        f"JATOS: a POST of a study archive to {asked.url}/jatos/archives answers with its link.",
    )
    return Started(app, ways_in, True, lambda: None)
