"""Certificates of sessions are read from an export, whatever a certificate holds besides."""

from analysis.findings.multiverse import read_certificates
from experiment.tables.files import write_table
from experiment.tables.observation_tables import INTEGRITY

_OF_TYPE = {"integer": 3, "number": 0.25, "text": "", "boolean": True}


def test_certificates_are_read_from_an_export(tmp_path):
    row = {column.name: _OF_TYPE.get(column.type, "") for column in INTEGRITY.columns}
    row |= {"participant": "p1", "signals": "no_device=1.50 rhythm=-0.25", "agent_likelihood": 0.9}
    write_table(INTEGRITY, [row], tmp_path / f"{INTEGRITY.name}.csv")
    found = read_certificates(tmp_path)
    assert found["p1"].signals == (("no_device", 1.5), ("rhythm", -0.25))
    assert (found["p1"].agent_likelihood, found["p1"].counting) == (0.9, ())
    assert read_certificates(tmp_path / "elsewhere") == {}
