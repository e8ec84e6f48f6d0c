"""A study as a folder on a plain web host, with the stand-ins of its stores beside it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from flask import Flask
from werkzeug.serving import make_server

from marketplace.stores import create_stores
from marketplace.stores.faults import Faults
from parallax import cli


@dataclass
class Stores:
    """The stand-ins, listening.

    Attributes:
        app: Their app.
        origin: Their address.
        folder: Where they keep what they are sent.
        faults: What goes wrong.
    """

    app: Flask
    origin: str
    folder: Path
    faults: Faults

    def host(self, name: str, folder: Path) -> str:
        """Serve a folder as a plain web host does, and return its address."""
        self.app.blueprints["static_host"].folders[name] = folder
        return f"{self.origin}/sites/{name}/"


@contextmanager
def stores(folder: Path, jatos_programs: Path | None = None) -> Iterator[Stores]:
    """Yield the stand-ins, listening on this machine."""
    faults = Faults()
    app = create_stores(folder, faults, jatos_programs)
    server = make_server("localhost", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Stores(app, f"http://localhost:{server.server_port}", folder, faults)
    server.shutdown()
    thread.join()
    server.server_close()


def command(*arguments: str) -> str:
    """Run a command of Parallax, and return what it printed."""
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def written(study: Path | str, out: Path, instance: Path, *options: str) -> Path:
    """Write a study as static files, and return where."""
    command(
        "study", "static", str(study), "--seed", "1", "--simulated", "--out", str(out),
        "--instance", str(instance), *options,
    )  # fmt: skip
    return out
