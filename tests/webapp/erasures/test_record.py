"""Who asked to be out stays out, whatever is restored; and the record says so aloud."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

import parallax
from tests.webapp.erasures.sequences import FORGETFUL, new_world, play
from tests.webapp.postgres import PostgresServer, postgres_server
from webapp import create_app
from webapp.erasures.file import Entry, WishKind, append_entries, read_record
from webapp.errors import WebappError


@pytest.fixture
def shell(instance):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    return run


@pytest.fixture
def erased(run, start, client, shell, sessions, tmp_path):
    """A backup, and somebody who has their data erased after it."""
    visitor = start(run)
    visitor.answer(1)
    shell("db", "backup", str(tmp_path / "backup"))
    client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    sessions.kw["bind"].dispose()
    return tmp_path / "backup"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.one_database
def test_nobody_who_asked_to_be_out_comes_back_in_a_random_sequence(tmp_path, seed):
    world = new_world(tmp_path, seed)
    assert play(world) == [], world.told


@pytest.fixture(scope="module")
def forgetful() -> Iterator[PostgresServer]:
    """A cluster of which every byte is looked at; each test has words that no other has."""
    with postgres_server(settings=FORGETFUL) as server:
        yield server


@pytest.mark.one_database
def test_nobody_comes_back_on_postgresql_and_no_byte_of_its_cluster_holds_them(forgetful, tmp_path):
    with forgetful.database() as url:
        # In this one nobody is left: ANALYZE keeps the examples of an empty table.
        world = new_world(tmp_path, 63, url, forgetful)
        assert play(world) == [], world.told


@pytest.mark.one_database
def test_without_scrubbing_postgresql_keeps_what_was_erased(forgetful, tmp_path, monkeypatch):
    """The search finds what is there: in a table's file and among the planner's examples."""
    monkeypatch.setattr("webapp.commands.options.scrub", lambda _engine: "")
    with forgetful.database() as url:
        found = play(new_world(tmp_path, 5, url, forgetful))
        assert {Path(each).name == "2619" for each in found} == {True, False}, "pg_statistic"


@pytest.mark.one_database
def test_a_restore_without_any_record_is_refused_until_it_is_said(erased, shell, instance):
    record = instance / "erasures"
    (erased.parent / "backup.erasures").unlink()
    kept = record.rename(erased.parent / "newest")
    with pytest.raises(WebappError, match=r"no record of erasures is found.*--record FILE"):
        shell("db", "restore", str(erased), "--replace")
    said = shell("db", "restore", str(erased), "--replace", "--record", str(kept))
    assert "1 people who had withdrawn or had their data erased are taken out again" in said
    assert [each.deed for each in read_record(record)] == [WishKind.ERASED]
    record.unlink()
    (instance / "parallax.sqlite3").unlink()
    said = shell("db", "restore", str(erased), "--replace", "--without-record")
    assert "The record of erasures has 0 entries" in said


@pytest.mark.one_database
def test_what_only_the_database_knows_that_is_replaced_is_carried_out_too(erased, shell, instance):
    """An older copy of the record was put in the place of the newest one."""
    shutil.copy(erased.parent / "backup.erasures", instance / "erasures")
    said = shell("db", "restore", str(erased), "--replace")
    assert "1 of them were only in a copy or in the database" in said
    assert "1 people who had withdrawn or had their data erased are taken out again" in said
    assert [each.deed for each in read_record(instance / "erasures")] == [WishKind.ERASED]


@pytest.mark.one_database
def test_a_record_older_than_the_database_takes_what_the_database_knows(
    erased, shell, instance, tmp_path
):
    shell("db", "backup", str(tmp_path / "later"))
    (instance / "erasures").write_text("")
    said = shell("db", "restore", str(tmp_path / "later"), "--replace")
    assert "1 of them were only in a copy or in the database" in said
    assert [each.deed for each in read_record(instance / "erasures")] == [WishKind.ERASED]
    shutil.copy(tmp_path / "backup.erasures", instance / "erasures")
    assert "has 1 entries" in shell("db", "record")


@pytest.mark.one_database
def test_a_record_that_lies_nowhere_is_made_from_the_database_when_somebody_says_so(
    erased, shell, instance
):
    (instance / "erasures").unlink()
    with pytest.raises(WebappError, match="there is no record of erasures"):
        shell("db", "record")
    assert "has 1 entries" in shell("db", "record", "--from-database")


@pytest.mark.one_database
def test_another_installation_s_record_is_refused_and_nothing_is_restored(erased, shell, instance):
    theirs = erased.parent / "theirs"
    theirs.write_text("erased 77.abcdef 2026-03-01T09:00:00+00:00\n")
    before = (instance / "erasures").read_text()
    with pytest.raises(WebappError, match=r"needs key 77.*belongs to another installation"):
        shell("db", "restore", str(erased), "--replace", "--record", str(theirs))
    assert (instance / "erasures").read_text() == before
    theirs.write_text("a poem\n")
    with pytest.raises(WebappError, match="a line is not an entry of a record of erasures"):
        shell("db", "record", "--add", str(theirs))


@pytest.mark.one_database
def test_two_installations_do_not_share_a_record_although_they_number_their_keys_alike(
    erased, shell, instance, tmp_path
):
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    create_app(other).extensions["parallax"].engine.dispose()
    theirs, mine = other / "erasures", instance / "erasures"
    before = mine.read_bytes(), (instance / "parallax.sqlite3").read_bytes()
    for arguments in (
        ("db", "restore", str(erased), "--replace", "--record", str(theirs)),
        ("db", "record", "--add", str(theirs)),
    ):
        with pytest.raises(WebappError, match="belongs to another installation"):
            shell(*arguments)
    assert (mine.read_bytes(), (instance / "parallax.sqlite3").read_bytes()) == before
    shutil.copy(theirs, mine)
    with pytest.raises(WebappError, match="belongs to another installation"):
        create_app(instance)
    mine.write_bytes(before[0])
    assert "has 1 entries" in shell("db", "record")


@pytest.mark.one_database
def test_the_copy_beside_a_backup_says_whose_it_is_and_a_rotated_key_reads_it(
    erased, shell, instance
):
    copy = (erased.parent / "backup.erasures").read_text()
    assert copy.startswith("installation ") and copy.count("installation ") == 1
    shell("keys", "rotate", "pseudonyms")
    said = shell("db", "restore", str(erased), "--replace")
    assert "1 people who had withdrawn or had their data erased are taken out again" in said
    lines = (instance / "erasures").read_text().splitlines()
    assert len([each for each in lines if each.startswith("installation ")]) == 2


@pytest.mark.one_database
def test_somebody_who_had_everything_erased_and_comes_back_is_somebody_new(
    erased, shell, instance, client, run
):
    """Neither the wish nor a restore reaches what they give when they take part again."""
    create_app(instance).extensions["parallax"].engine.dispose()
    home = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
    answer = {"uuid": str(uuid4()), "position": 1, "side": "first", "rt_ms": 812.5,
              "input_method": "key", "client_time": "2026-03-01T09:00:01.500Z"}  # fmt: skip
    assert client.post(f"{home}answers", json=answer).status_code == 200
    later = erased.parent / "later"
    shell("db", "backup", str(later))
    client.application.extensions["parallax"].engine.dispose()
    said = shell("db", "restore", str(later), "--replace")
    assert "taken out again" not in said
    again = client.post(f"{home}answers", json={**answer, "uuid": str(uuid4()), "position": 2})
    assert (again.status_code, again.json["remaining"]) == (200, 6)


@pytest.mark.one_database
def test_somebody_who_is_forgotten_while_at_work_is_told_and_nobody_else_notices(
    run, start, shell, instance
):
    gone, other = start(run), start(run)
    assert gone.answer(1).status_code == other.answer(1).status_code == 200
    ref = gone.home.split("/")[2].partition(".")[0]
    assert "Forgotten: 1 participation(s)" in shell("forget", ref, "--yes")
    refused = gone.answer(2)
    assert 400 <= refused.status_code < 500
    assert gone.page().status_code in (200, 303, 410)
    assert other.answer(2).status_code == 200


def test_a_line_that_a_crash_cut_off_is_not_read_and_the_next_one_is_whole(tmp_path):
    first, second = (Entry(WishKind.ERASED, f"2.{digit * 64}", None) for digit in "ab")
    append_entries(tmp_path, [first])
    with (tmp_path / "erasures").open("a") as file:
        file.write("erased 2.cc")
    assert read_record(tmp_path / "erasures") == [first]
    append_entries(tmp_path, [second])
    assert read_record(tmp_path / "erasures") == [first, second]
