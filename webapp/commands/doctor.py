"""``parallax doctor``."""

import sys
from contextlib import suppress
from pathlib import Path

import click

from webapp.commands.options import with_instance
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.keys import read_keys
from webapp.core.sealing import Sealer
from webapp.database.engine import usable_database
from webapp.database.models.identity import unlock
from webapp.database.schema import stored_revision
from webapp.doctor.checks import look_over
from webapp.doctor.findings import Installation, Level, json_text, metrics_text
from webapp.errors import WebappError
from webapp.recruiters.settings import load_settings


@click.command()
@click.option("--metrics", is_flag=True, help="Print metrics for Prometheus instead of text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@with_instance
def doctor(metrics: bool, as_json: bool, instance: Path) -> None:
    """Check the installation and say what to repair.

    One line for each finding, with what mends it; exit status 1 if one is a fault (0 always with
    --metrics and --json).
    """
    folder = open_instance(instance)
    settings = load_settings(folder)
    engine, trouble = None, ""
    try:
        with usable_database(settings.database_url) as engine:
            stored_revision(engine)
            with suppress(WebappError):  # the key's check reports it
                unlock(engine, Sealer(read_keys(folder, settings.secret_key_file)))
    except WebappError as error:
        engine, trouble = None, str(error)
    at = Installation(folder, settings, engine, trouble, utc_now)
    findings = []
    for finding in look_over(at):
        findings.append(finding)
        if not (metrics or as_json):
            click.echo(finding)  # printed immediately: a check may wait long for an answer
    if engine is not None:
        engine.dispose()
    if metrics:
        click.echo(metrics_text(findings), nl=False)
    elif as_json:
        click.echo(json_text(findings))
    elif any(finding.level is Level.FAULT for finding in findings):
        sys.exit(1)
