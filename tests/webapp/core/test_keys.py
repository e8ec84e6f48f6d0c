"""Keys have ids, overlap, and are rotated; the one key of earlier versions goes on."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import parallax
from webapp.core.keys import Key, Keys, Purpose, drop_key, make_keys, read_keys, rotate_key
from webapp.core.tokens import Tokens
from webapp.errors import RequestError, WebappError

_FIRST = (Key(0, "k" * 64),)
ONE = Keys(_FIRST, _FIRST, _FIRST)


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    keys = make_keys(tmp_path)
    assert make_keys(tmp_path) == read_keys(tmp_path) == keys
    secrets = {key.secret for purpose in Purpose for key in keys.for_purpose(purpose)}
    assert len(secrets) == len(Purpose)
    assert {len(secret) for secret in secrets} == {64}
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_servers_that_start_at_once_agree_on_the_secret(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(make_keys, [tmp_path] * 64))) == 1


def test_an_empty_secret_is_refused(tmp_path):
    (tmp_path / "secret_key").touch()
    with pytest.raises(WebappError, match="too short"):
        read_keys(tmp_path)


def test_keys_that_cannot_be_written_are_a_clear_error(tmp_path):
    with pytest.raises(WebappError, match="the keys cannot be written"):
        make_keys(tmp_path / "nowhere")


def test_a_secret_that_cannot_be_read_is_a_clear_error(tmp_path):
    (tmp_path / "secret_key").mkdir()
    with pytest.raises(WebappError, match="cannot be read"):
        read_keys(tmp_path)


def test_a_key_that_machines_share_is_read_and_never_made(tmp_path):
    shared, instance = tmp_path / "shared_key", tmp_path / "instance"
    instance.mkdir()
    with pytest.raises(WebappError, match="shared_key: the keys file is missing"):
        read_keys(instance, str(shared))
    shared.write_text("k" * 64, encoding="utf-8")
    shared.chmod(0o644)
    with pytest.raises(WebappError, match="every user of this machine can read the secret key"):
        read_keys(instance, str(shared))
    shared.chmod(0o640)
    assert read_keys(instance, str(shared)) == read_keys(instance, "../shared_key") == ONE
    assert not list(instance.iterdir())


def test_what_an_older_key_signed_is_read_until_it_is_dropped(tmp_path):
    """The old key here is the one that earlier versions made."""
    (tmp_path / "secret_key").write_text("k" * 64)
    (tmp_path / "secret_key").chmod(0o600)
    before = Tokens("k" * 64)
    old = before.issue("somebody")
    assert Tokens.from_keys(read_keys(tmp_path)).issue("somebody") == old
    rotate_key(tmp_path, "", Purpose.SIGNING)
    both = Tokens.from_keys(read_keys(tmp_path))
    new = both.issue("somebody")
    assert new != old
    assert both.read(old) == both.read(new) == "somebody"
    assert both.digest("text") == before.digest("text"), "only one purpose has a new key"
    with pytest.raises(WebappError, match="key 0 is the current key for pseudonyms"):
        drop_key(tmp_path, "", 0)
    rotate_key(tmp_path, "", Purpose.PSEUDONYMS)
    rotate_key(tmp_path, "", Purpose.SEALING)
    drop_key(tmp_path, "", 0)
    only = Tokens.from_keys(read_keys(tmp_path))
    assert only.read(new) == "somebody"
    with pytest.raises(RequestError):
        only.read(old)
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.parametrize("line", ["signing 1", "salting 1 " + "k" * 64, "signing one " + "k" * 64])
def test_a_line_that_is_no_key_is_refused(tmp_path, line):
    make_keys(tmp_path)
    with (tmp_path / "secret_key").open("a") as file:
        file.write(line)
    with pytest.raises(WebappError, match="a line of the keys file is not a key") as caught:
        read_keys(tmp_path)
    assert "k" * 64 not in str(caught.value)


def test_a_file_without_a_purpose_is_refused(tmp_path):
    (tmp_path / "secret_key").write_text("signing 1 " + "k" * 64)
    with pytest.raises(WebappError, match="the keys file has no key for pseudonyms"):
        read_keys(tmp_path)


def test_the_commands_list_rotate_and_drop(tmp_path):
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(tmp_path)})

    def shell(*arguments: str) -> str:
        return runner.invoke(parallax.cli, ["keys", *arguments], catch_exceptions=False).output

    make_keys(tmp_path)  # as the first start does
    listed = shell("list")
    assert [line.split() for line in listed.splitlines()[-3:]] == [
        ["1", "signing", "used"], ["2", "pseudonyms", "used"], ["3", "sealing", "used"],
    ]  # fmt: skip
    assert not any(
        key.secret in listed
        for purpose in Purpose
        for key in read_keys(tmp_path).for_purpose(purpose)
    )
    assert "parallax reload" in shell("rotate", "signing")
    assert ["1", "signing", "still", "understood"] in [
        line.split() for line in shell("list").splitlines()
    ]
    shell("drop", "1")
    assert [key.id for key in read_keys(tmp_path).signing] == [4]
