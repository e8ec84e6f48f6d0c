import stat
from pathlib import Path

import pytest

from webapp import create_app
from webapp.core.instance import open_instance
from webapp.errors import WebappError


def test_the_folder_is_made_where_the_variable_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PARALLAX_INSTANCE", str(tmp_path / "own"))
    assert open_instance() == tmp_path / "own"
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WebappError, match="instance folder cannot be used"):
        open_instance(tmp_path / "file" / "instance")


def test_a_read_only_folder_is_a_clear_error(tmp_path, monkeypatch):
    # The superuser may write anywhere, so the operating system's answer is stood in for.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(WebappError, match=r"cannot be used: it is read-only. Expected a folder"):
        open_instance(tmp_path)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite:////proc/nowhere/x.sqlite3", "its folder does not exist"),
        ("nonsense://host/db", "nonsense"),
        ("postgresql+nodriver://user:pass@host/db", "nodriver"),
    ],
)
def test_a_database_that_cannot_be_used_stops_the_start(instance, monkeypatch, url, message):
    monkeypatch.setenv("PARALLAX_DATABASE_URL", url)
    with pytest.raises(WebappError, match="the database cannot be used") as caught:
        create_app(instance)
    assert message in str(caught.value)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///"])
def test_a_database_that_forgets_is_refused(instance, monkeypatch, url):
    monkeypatch.setenv("PARALLAX_DATABASE_URL", url)
    with pytest.raises(WebappError, match="would forget every answer"):
        create_app(instance)


@pytest.mark.one_database
def test_making_the_app_writes_only_into_its_instance(app, instance: Path):
    names = {path.name.split(".sqlite3")[0] for path in instance.iterdir()}
    assert names == {"erasures", "secret_key", "parallax", "paying_copy", "paying_copy.lock"}
