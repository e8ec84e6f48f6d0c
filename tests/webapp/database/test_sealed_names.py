"""Names are found by the keys of every machine, or the machine says which key it lacks."""

import shutil

import pytest
from sqlalchemy import select

from webapp.core.keys import Purpose, make_keys, rotate_key
from webapp.database.engine import open_database
from webapp.database.models import Identity
from webapp.database.models.identity import identity_key
from webapp.errors import WebappError


def test_a_machine_with_the_keys_of_yesterday_says_so_and_changes_no_digest(tmp_path):
    url = f"sqlite:///{tmp_path}/names.sqlite3"
    engine = open_database(url, make_keys(tmp_path))
    with engine.begin() as connection:
        known = identity_key(connection, "AWORKER1")
    engine.dispose()
    shutil.copytree(tmp_path, elsewhere := tmp_path / "elsewhere")
    rotate_key(tmp_path, "", Purpose.PSEUDONYMS)
    open_database(url, make_keys(tmp_path)).dispose()

    with pytest.raises(WebappError, match=r"lacks key 4 for pseudonyms"):
        open_database(url, make_keys(elsewhere))
    engine = open_database(url, make_keys(tmp_path))
    with engine.begin() as connection:
        assert connection.scalar(select(Identity.id).where(Identity.hash == "AWORKER1")) == known
        assert identity_key(connection, "AWORKER1") == known
    engine.dispose()
