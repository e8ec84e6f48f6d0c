"""The campaign of studies without a server, small: row for row what a server gives."""

import pytest

from benchmarks.static_study import compared


@pytest.mark.parametrize("store", ["post", "datapipe", "jatos", "file"])
def test_what_a_store_kept_is_row_for_row_what_a_server_has(store, tmp_path):
    rows, told = compared(store, 6, 0.4, tmp_path)
    assert {name: differing for name, (_, differing) in rows.items() if differing} == {}
    assert rows["responses"][0] > 0
    assert "Left out" not in told
