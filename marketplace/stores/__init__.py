"""Local stand-ins for the stores that keep the answers of studies without a server.

One app acts as DataPipe, as JATOS and as any server that accepts a POST, and serves folders of
static files as a plain web host does. Received data are kept in each store's own file format.
"""

from pathlib import Path

from flask import Flask

from marketplace.serving import RunningStandIn, StandInOptions
from marketplace.stores.datapipe import create_datapipe
from marketplace.stores.host import Faults, create_post_store, create_static_host
from marketplace.stores.jatos import create_jatos

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
        create_static_host(faults, folder / "sites"),
        create_post_store(folder / "post", faults),
        create_datapipe(folder / "datapipe", faults),
        create_jatos(faults, jatos_programs),
    ):
        app.register_blueprint(blueprint)
    return app


def start(options: StandInOptions) -> RunningStandIn:
    """Return the started stores and their addresses."""
    sites = options.folder / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    app = create_stores(options.folder)
    instructions = (
        f"Static studies below {sites}: {options.url}/sites/NAME/",
        f"--store post --url {options.url}/keep",
        f"--store datapipe --url {options.url}/datapipe --experiment any",
        f"JATOS: a POST of a study archive to {options.url}/jatos/archives answers with its link.",
    )
    return RunningStandIn(app, instructions, True, lambda: None)
