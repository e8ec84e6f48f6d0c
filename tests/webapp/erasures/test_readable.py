"""A record that somebody edited, or a disk damaged, stops a restore before anything changes."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.webapp.erasures.sequences import new_world
from webapp.core.sealing import Sealer
from webapp.erasures.file import Entry, WishKind, append_entries, read_entry
from webapp.erasures.record import refuse_unreadable_entries
from webapp.errors import WebappError
from webapp.opening import installation_keys
from webapp.recruiters.settings import load_settings

pytestmark = pytest.mark.one_database
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_a_damaged_correction_restores_nothing(tmp_path):
    world = new_world(tmp_path, 1)
    world.open()
    world.take_part()
    world.back_up()
    world.close()
    sealer = Sealer(installation_keys(world.instance, load_settings(world.instance)))
    damaged = sealer.seal('{"native_language": "Dutch"}')[:-8]
    append_entries(
        world.instance, [Entry(WishKind.CORRECTED, sealer.digest("x"), AT, "mark", damaged)]
    )
    database = world.instance / "parallax.sqlite3"
    before = database.read_bytes()
    with pytest.raises(WebappError, match=r"a correction that cannot be read.*delete the line"):
        world.shell("db", "restore", str(world.backups[0]), "--replace")
    assert database.read_bytes() == before


@pytest.mark.parametrize("said", ["[]", '"a text"', "no JSON", ""])
def test_a_correction_says_what_is_right_in_which_field(tmp_path, said):
    world = new_world(tmp_path, 1)
    sealer = Sealer(installation_keys(world.instance, load_settings(world.instance)))
    entry = Entry(WishKind.CORRECTED, sealer.digest("x"), AT, "mark", sealer.seal(said))
    with pytest.raises(WebappError, match="cannot be read"):
        refuse_unreadable_entries([entry], sealer, Path("erasures"))
    sound = Entry(WishKind.CORRECTED, entry.digest, AT, "mark", sealer.seal(json.dumps({"a": "b"})))
    refuse_unreadable_entries([sound], sealer, Path("erasures"))


def test_a_time_without_its_place_cannot_be_compared_with_others():
    with pytest.raises(WebappError, match="not an entry of a record"):
        read_entry("erased 2.9f86 2026-03-01T09:00:00", "erasures")
