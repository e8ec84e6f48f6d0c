"""Archives of sessions that cannot be read are named."""

import pytest

from webapp.errors import RunError
from webapp.serverless import session_files


def test_an_archive_that_is_none_or_holds_too_much_is_named(tmp_path, monkeypatch):
    (tmp_path / "results.zip").write_bytes(b"no zip")
    with pytest.raises(RunError, match=r"results.zip: the archive cannot be read"):
        session_files.read_session_files([tmp_path / "results.zip"])
    with session_files.zipfile.ZipFile(tmp_path / "large.zip", "w") as archive:
        archive.writestr("session.json", "{}")
    monkeypatch.setattr(session_files, "_LARGEST_BYTES", 1)
    with pytest.raises(RunError, match=r"large.zip: the archive is too large. Expected at most"):
        session_files.read_session_files([tmp_path / "large.zip"])
