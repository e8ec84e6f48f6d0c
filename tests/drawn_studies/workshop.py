"""Runs Parallax's commands one after the other in a folder, against a server of its own."""

import os
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from werkzeug.serving import WSGIRequestHandler, make_server

import parallax
from webapp import create_app


class _Quiet(WSGIRequestHandler):
    def log(self, *args: object) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed.

    Attributes:
        command: Its words.
        text: All that it printed.
        code: Its exit code.
        crash: What it raised that is no refusal; empty for none.
    """

    command: tuple[str, ...]
    text: str
    code: int
    crash: str


@dataclass(slots=True)
class Workshop:
    """A folder with an installation, and what its commands said.

    Attributes:
        folder: Where studies and exports lie.
        url: The server's address.
        said: What every command printed, in order.
    """

    folder: Path
    url: str
    said: list[Said] = field(default_factory=list)

    def __call__(self, *words: object) -> Said:
        """Run a command as its words say, and keep what it said."""
        command = tuple(map(str, words))
        done = CliRunner().invoke(parallax.cli, list(command))
        known = done.exception is None or isinstance(done.exception, SystemExit)
        refused = not known and hasattr(done.exception, "problem")
        crash = "" if known or refused else f"{type(done.exception).__name__}: {done.exception}"
        text = done.output + (f"\nError: {done.exception}" if refused else "")
        one = Said(command, text, 2 if refused else done.exit_code, crash)
        self.said.append(one)
        return one

    def taken(self, study: str, seed: int) -> str:
        """Launch a study, have its places taken by simulated people, and return the run."""
        launched = self("launch", study, "--seed", seed, "--simulated")
        run = launched.text.partition("Run ")[2].partition(" ")[0]
        self("simulate", run, "--url", self.url, "--workers", 2)
        for command in ("close", "exclude"):
            self(command, run)
        self("export", run, "--out", f"{study}-export")
        return run


@contextmanager
def workshop(folder: Path) -> Iterator[Workshop]:
    """Yield a workshop in a folder, whose server answers as long as the block runs."""
    instance = folder / "instance"
    before = os.environ.get("PARALLAX_INSTANCE")
    os.environ["PARALLAX_INSTANCE"] = str(instance)
    app = create_app(instance)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        with chdir(folder):
            yield Workshop(folder, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        if before is None:
            del os.environ["PARALLAX_INSTANCE"]
        else:
            os.environ["PARALLAX_INSTANCE"] = before
