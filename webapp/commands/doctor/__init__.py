"""``parallax doctor``: the checks of an installation, in the order of the report."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click
from sqlalchemy.exc import SQLAlchemyError

from webapp.commands.doctor import machine, services, web
from webapp.commands.doctor.findings import Finding, Installation, Level, json_text, metrics_text
from webapp.commands.doctor.machine import check_network_time, check_owners, check_writes
from webapp.commands.doctor.services import check_connections, check_retention
from webapp.commands.doctor.web import check_certificate
from webapp.commands.options import add_new_instance_option
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.core.keys import read_keys
from webapp.core.sealing import Sealer
from webapp.database.engine import usable_database
from webapp.database.models.identity import unlock
from webapp.database.remedies import remedy_for
from webapp.database.schema import revisions, stored_revision
from webapp.errors import WebappError
from webapp.gate.gate import attach_installation, find_blockers
from webapp.gate.installation import Installation as GateInstallation
from webapp.recruiters.settings import load_settings


def check_gate(at: Installation) -> Iterator[Finding]:
    """Run every check of the gate; each check that blocks an operation is a fault."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("gate", Level.GOOD, "not checked: the database cannot be used yet")
        return
    attach_installation(at.engine, GateInstallation(at.folder, at.settings))
    clean = True
    with at.engine.connect().execution_options(reading=True) as connection:
        for name, blocker in find_blockers(connection):
            clean = False
            acts = ", ".join(sorted(blocker.forbids))
            text = f"{name}: {blocker.problem}. Until this is corrected, the server does not {acts}"
            yield Finding("gate", Level.FAULT, text, blocker.remedy)
    if clean:
        yield Finding(
            "gate", Level.GOOD, "nothing prevents admitting, paying, publishing or exporting"
        )


Check = Callable[[Installation], Iterator[Finding]]
CHECKS: Mapping[str, Check] = {
    "database": services.check_database,
    "owners": check_owners,
    "writes": check_writes,
    "connections": check_connections,
    "gate": check_gate,
    "key": machine.check_key,
    "files": machine.check_files,
    "disk": machine.check_disk,
    "open_files": machine.check_open_files,
    "clock": services.check_clock,
    "network_time": check_network_time,
    "backup": services.check_backup,
    "jobs": services.check_jobs,
    "ready": web.check_ready,
    "retention": check_retention,
    "hosts": web.check_hosts,
    "web": web.check_public_address,
    "certificate": check_certificate,
    "log": machine.check_log,
}


def run_checks(at: Installation) -> Iterator[Finding]:
    """Yield the findings of every check.

    A check that fails is a fault, and the others still run.
    """
    for name, check in CHECKS.items():
        try:
            yield from check(at)
        except (SQLAlchemyError, OSError, WebappError) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
            message = f"it could not be checked: {reason}"
            yield Finding(name, Level.FAULT, message, remedy_for(reason))


@click.command()
@click.option("--metrics", is_flag=True, help="Print metrics for Prometheus instead of text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@add_new_instance_option
def doctor(metrics: bool, as_json: bool, instance: Path) -> None:
    """Check the installation, and print each fault with its remedy.

    The exit status is 1 if there is a fault (always 0 with --metrics and --json).
    """
    folder = open_instance(instance)
    settings = load_settings(folder)
    engine, database_error = None, ""
    try:
        with usable_database(settings.database_url) as engine:
            stored_revision(engine)
            with suppress(WebappError):  # the key's check reports it
                unlock(engine, Sealer(read_keys(folder, settings.secret_key_file)))
    except WebappError as error:
        engine, database_error = None, str(error)
    at = Installation(folder, settings, engine, database_error, utc_now)
    findings = []
    for finding in run_checks(at):
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
