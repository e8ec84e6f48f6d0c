"""What the gate says: whether keys, erasures and ledger let participants in and money out."""

from collections.abc import Iterator

from webapp.database.schema import revisions, stored_revision
from webapp.doctor.findings import Finding, Installation, Level
from webapp.gate.gate import objections, put_up
from webapp.gate.premises import Premises


def gate(at: Installation) -> Iterator[Finding]:
    """Ask every check of the gate; each objection is a fault."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("gate", Level.GOOD, "not checked: the database cannot be used yet")
        return
    put_up(at.engine, Premises(at.folder, at.settings))
    clean = True
    with at.engine.connect().execution_options(reading=True) as connection:
        for name, each in objections(connection):
            clean = False
            acts = ", ".join(sorted(each.forbids))
            say = f"{name}: {each.says}. Until this is mended, the server does not {acts}"
            yield Finding("gate", Level.FAULT, say, each.remedy)
    if clean:
        yield Finding("gate", Level.GOOD, "nothing forbids to admit, pay, publish or export")
