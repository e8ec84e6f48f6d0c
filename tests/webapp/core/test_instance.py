import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from webapp import create_app
from webapp.core.instance import open_instance, secret_key
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
    with pytest.raises(WebappError, match="read-only"):
        open_instance(tmp_path)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    key = secret_key(tmp_path)
    assert secret_key(tmp_path) == key
    assert len(key) == 64
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_servers_that_start_at_once_agree_on_the_secret(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(secret_key, [tmp_path] * 64))) == 1


def test_an_empty_secret_is_refused(tmp_path):
    (tmp_path / "secret_key").touch()
    with pytest.raises(WebappError, match="too short"):
        secret_key(tmp_path)


def test_a_secret_that_cannot_be_read_is_a_clear_error(tmp_path):
    (tmp_path / "secret_key").mkdir()
    with pytest.raises(WebappError, match="neither read nor made"):
        secret_key(tmp_path)


def test_a_key_that_machines_share_is_read_and_never_made(tmp_path):
    shared, instance = tmp_path / "shared_key", tmp_path / "instance"
    instance.mkdir()
    with pytest.raises(WebappError, match="shared_key: the secret key can be neither read nor"):
        secret_key(instance, str(shared))
    shared.write_text("k" * 64, encoding="utf-8")
    shared.chmod(0o644)
    with pytest.raises(WebappError, match="everybody on this machine can read the secret key"):
        secret_key(instance, str(shared))
    shared.chmod(0o640)
    assert secret_key(instance, str(shared)) == secret_key(instance, "../shared_key") == "k" * 64
    assert not list(instance.iterdir())


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
    assert names == {"secret_key", "parallax"}
