"""A study as a folder on a plain web host, with the stand-ins of its stores beside it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from flask import Flask
from werkzeug.serving import make_server

from experiment.studies.load import load_study
from marketplace.stores import create_stores
from marketplace.stores.host import Faults
from parallax import cli
from tests.browser.browser_site import Stored, stored
from webapp.commands.options import open_sessions


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

    @property
    def elsewhere(self) -> str:
        """Their address as another site's: what a page there sends leaves its own origin."""
        return self.origin.replace("localhost", "127.0.0.1")

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
    try:
        yield Stores(app, f"http://localhost:{server.server_port}", folder, faults)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def command(*arguments: str) -> str:
    """Run a command of Parallax, and return what it printed."""
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def written(
    study: Path | str, out: Path, instance: Path, *options: str, simulated: bool = True
) -> Path:
    """Write a study as static files, and return where."""
    command(
        "study", "static", str(study), "--seed", "1", *["--simulated"] * simulated,
        "--out", str(out), "--instance", str(instance), *options,
    )  # fmt: skip
    return out


class StaticSite:
    """Studies as folders of files, to be taken and looked at as those of a server are.

    Args:
        kept: The store.
        folder: An empty folder to work in.
    """

    def __init__(self, kept: Stores, folder: Path) -> None:
        self._kept, self._folder = kept, folder

    def launch(self, study: Path) -> str:
        """Return the link of a study's folder on a plain web host."""
        options = ("--store", "post", "--url", f"{self._kept.elsewhere}/keep")
        site, instance = self._folder / study.name, self._folder / "instance"
        # Of a study that does not say who answers for it, people cannot be asked.
        simulated = bool(load_study(str(study)).study.unnamed)
        folder = written(study, site, instance, *options, simulated=simulated)
        return self._kept.host(study.name, folder)

    def stored(self, link: str) -> list[Stored]:
        """Return what an import of everything that was kept stores of each participant."""
        instance = str(self._folder / "instance")
        told = command(
            "import", "sessions", str(self._kept.folder / "post"), "--instance", instance
        )
        assert "not in the files" not in told and "Session" not in told, told
        sessions = open_sessions(self._folder / "instance")
        return stored(sessions, f"/run/{told.partition('Run ')[2].split()[0]}")
