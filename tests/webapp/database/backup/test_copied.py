"""A database's file that was copied by hand is no backup, unless its log came along."""

import shutil

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

import parallax
from webapp.database.backup.contents import BackupError
from webapp.database.engine import make_engine, make_sessions, reading
from webapp.database.models import Response

pytestmark = pytest.mark.one_database


@pytest.fixture
def restored(tmp_path, instance):
    """Return a function that restores a file elsewhere and counts the answers."""

    def restore(file, *options: str) -> int:
        folder = tmp_path / f"elsewhere{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        shutil.copy(instance / "secret_key", folder)
        command = ["db", "restore", str(file), "--without-record", *options]
        runner = CliRunner(env={"PARALLAX_INSTANCE": str(folder)})
        runner.invoke(parallax.cli, command, catch_exceptions=False)
        engine = make_engine(f"sqlite:///{folder}/parallax.sqlite3")
        with reading(make_sessions(engine)) as session:
            found = session.scalars(select(func.count(Response.id))).one()
        engine.dispose()
        return found

    return restore


def test_a_copy_without_its_log_is_refused_and_one_with_it_is_whole(
    app, visitor, instance, tmp_path, restored
):
    visitor.answer_all()
    copy = tmp_path / "copy.sqlite3"
    shutil.copy(instance / "parallax.sqlite3", copy)
    with pytest.raises(BackupError, match=r"lacks what the database had in its log.*--copied"):
        restored(copy)
    shutil.copy(instance / "parallax.sqlite3-wal", tmp_path / "copy.sqlite3-wal")
    before = copy.read_bytes()
    assert restored(copy) == 8
    assert copy.read_bytes() == before, "what somebody copied is left as it is"


def test_a_copy_of_a_database_at_rest_is_taken_where_somebody_says_so(
    app, visitor, instance, tmp_path, restored
):
    visitor.answer_all()
    app.extensions["parallax"].engine.dispose()
    assert not (instance / "parallax.sqlite3-wal").exists()
    shutil.copy(instance / "parallax.sqlite3", tmp_path / "copy.sqlite3")
    assert restored(tmp_path / "copy.sqlite3", "--copied") == 8


def test_a_backup_of_ours_needs_no_word(app, visitor, tmp_path, instance, restored):
    visitor.answer_all()
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})
    assert runner.invoke(parallax.cli, ["db", "backup", str(tmp_path / "made")]).exit_code == 0
    assert restored(tmp_path / "made") == 8
