"""``parallax study preview``: a study in the browser, without storing anything."""

import logging
import os
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from werkzeug.serving import BaseWSGIServer, make_server

from experiment.studies.load import load_study
from experiment.version import code_version
from webapp import create_app
from webapp.commands.options import open_sessions
from webapp.commands.texts import print_text_notes
from webapp.core.clock import utc_now
from webapp.errors import RunError
from webapp.runs.launch import launch_run

_HOST = "127.0.0.1"
_SEED = 1


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port to use; 0 takes any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
def preview(name_or_folder: str, port: int, no_browser: bool) -> None:
    """Show one trial of each kind of STUDY in the browser.

    The pages are the participants' own. They send and store nothing: the server answers only
    this machine, and its database is deleted at the end.
    """
    with preview_server(name_or_folder, port) as (server, link):
        click.echo(f"A preview of {name_or_folder}: {link}")
        study = load_study(name_or_folder)
        for number, levels in enumerate(study.design.combinations):
            if levels:
                level_names = ", ".join(f"{factor} = {level}" for factor, level in levels.items())
                click.echo(f"  {level_names}: {link}&list={number}")
        print_text_notes(study, name_or_folder)
        click.echo("Nothing is stored. Press Ctrl+C to end it.")
        if not no_browser:
            webbrowser.open(link)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("\nThe preview has ended.")


@contextmanager
def preview_server(name_or_folder: str, port: int) -> Iterator[tuple[BaseWSGIServer, str]]:
    """Yield a server of the study's pages, not yet serving, and the link to the pages.

    Args:
        name_or_folder: A built-in study or a study folder.
        port: The server's port on this machine; 0 for any free port.

    Raises:
        ParallaxError: The study has an error.
        RunError: The port is in use.
    """
    study = load_study(name_or_folder)
    with TemporaryDirectory(prefix="parallax_preview_") as folder:
        with open_sessions(Path(folder)).begin() as session:
            run = launch_run(
                session, study, _SEED, "direct", now=utc_now(), code_version=code_version()
            )
            ref = run.ref
        app = create_app(Path(folder))
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        try:
            # The server would end the program if the port were in use, so it gets an open socket.
            with socket.create_server((_HOST, port)) as free:
                port = free.getsockname()[1]
                server = make_server(_HOST, port, app, threaded=True, fd=free.fileno())
        except OSError as error:
            raise RunError(
                f"the port {port} cannot be used ({os.strerror(error.errno or 0)})",
                where="--port",
                remedy="Leave the option out to use any free port",
            ) from error
        try:
            yield server, f"http://{_HOST}:{port}/run/{ref}?preview=1"
        finally:
            server.server_close()
