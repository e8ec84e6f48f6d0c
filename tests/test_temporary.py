"""Where the tests' temporary files lie."""

import os
import tempfile
from collections import namedtuple
from pathlib import Path

import pytest

from tests import temporary

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(temporary, "_IN_MEMORY", tmp_path)
    monkeypatch.setattr(temporary.shutil, "disk_usage", lambda _: Usage(2**40, 0, 2**40))
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    monkeypatch.setenv("TMPDIR", "restored afterwards")
    monkeypatch.delenv("TMPDIR")
    return tmp_path


def test_they_lie_in_memory_where_there_is_enough(memory):
    temporary.keep_in_memory()
    assert Path(tempfile.gettempdir()) == memory
    assert os.environ["TMPDIR"] == str(memory)


def test_a_folder_that_somebody_chose_stays(memory, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/chosen")
    temporary.keep_in_memory()
    assert os.environ["TMPDIR"] == "/chosen"


def test_little_memory_is_left_alone(memory, monkeypatch):
    monkeypatch.setattr(temporary.shutil, "disk_usage", lambda _: Usage(2**26, 0, 2**26))
    temporary.keep_in_memory()
    assert "TMPDIR" not in os.environ


def test_a_folder_where_no_program_starts_is_left_alone(memory, monkeypatch):
    class Flags:
        f_flag = os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", lambda _: Flags)
    temporary.keep_in_memory()
    assert "TMPDIR" not in os.environ
