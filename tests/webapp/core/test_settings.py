import socket
from pathlib import Path

import pytest

from webapp.core.settings import Settings
from webapp.errors import SettingError
from webapp.recruiters.mturk.settings import MturkSettings
from webapp.recruiters.settings import load_settings
from webapp.server import server_control


def write(instance: Path, toml: str) -> None:
    (instance / "parallax.toml").write_text(toml, encoding="utf-8")


def test_without_any_source_every_setting_has_its_default(tmp_path):
    settings = load_settings(tmp_path, {})
    assert settings == Settings().for_instance(tmp_path)


def test_the_environment_overrules_the_file_and_the_file_the_default(tmp_path):
    write(tmp_path, 'port = 9000\nhost = "0.0.0.0"\n')
    settings = load_settings(tmp_path, {"PARALLAX_PORT": "9001"})
    assert (settings.port, settings.host) == (9001, "0.0.0.0")


def test_a_relative_sqlite_file_lies_in_the_instance_folder(tmp_path):
    assert load_settings(tmp_path, {}).database_url == f"sqlite:///{tmp_path}/parallax.sqlite3"


@pytest.mark.parametrize("url", ["sqlite:////srv/data.sqlite3", "postgresql+psycopg://db/parallax"])
def test_other_databases_stay_as_they_are_given(tmp_path, url):
    assert load_settings(tmp_path, {"PARALLAX_DATABASE_URL": url}).database_url == url


def test_what_a_setting_of_an_address_or_of_secrets_must_be_is_told(tmp_path):
    with pytest.raises(SettingError, match="the provider's address must begin with https://"):
        load_settings(tmp_path, {"PARALLAX_OIDC_ISSUER": "http://sign-in.example"})
    with pytest.raises(SettingError, match="not a JSON object of names and secrets"):
        load_settings(tmp_path, {"PARALLAX_PANEL_SECRETS": "key=value"})


def test_every_problem_of_every_source_is_told_at_once(tmp_path):
    write(tmp_path, 'port = "8000"\nhots = "localhost"\n')
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, {"PARALLAX_LOG_LEVEL": "loud", "PARALLAX_COLOUR": "red"})
    message = str(caught.value)
    assert "4 setting(s)" in message
    assert (
        f"{tmp_path / 'parallax.toml'}: port = '8000': Input should be a valid integer" in message
    )
    assert "hots" in message and 'did you mean "host"?' in message
    assert "PARALLAX_LOG_LEVEL = 'loud'" in message
    assert "PARALLAX_COLOUR" in message and "there is no such setting" in message
    assert "\n" not in message


def test_the_variable_that_names_the_instance_is_no_setting(tmp_path):
    load_settings(tmp_path, {"PARALLAX_INSTANCE": "elsewhere", "HOME": "/"})


def test_a_file_that_is_not_toml_is_told_with_its_place(tmp_path):
    write(tmp_path, "port = = 3")
    with pytest.raises(SettingError, match=r"parallax\.toml"):
        load_settings(tmp_path, {})


def test_links_begin_with_the_public_url_or_the_servers_own_address():
    assert Settings().link_base == "http://127.0.0.1:8000"
    assert Settings(public_url="https://study.example/").link_base == "https://study.example"


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999", "http://127.0.0.1:0", "http://[::1"])
def test_an_address_that_leads_nowhere_is_refused(tmp_path, address):
    with pytest.raises(SettingError, match="PARALLAX_MTURK_ENDPOINT"):
        load_settings(tmp_path, {"PARALLAX_MTURK_ENDPOINT": address})


def mturk(settings: Settings) -> MturkSettings:
    return settings.recruiter_settings("mturk", MturkSettings)


def test_a_recruiters_settings_stand_in_its_section_or_under_its_name(tmp_path):
    assert mturk(load_settings(tmp_path, {})) == MturkSettings()
    write(tmp_path, '[mturk]\nendpoint = "https://market.example"\n')
    assert mturk(load_settings(tmp_path, {})).endpoint == "https://market.example"
    write(tmp_path, 'mturk_endpoint = "https://market.example"\n')
    assert mturk(load_settings(tmp_path, {})).endpoint == "https://market.example"
    environment = {"PARALLAX_MTURK_ENDPOINT": "live"}
    assert mturk(load_settings(tmp_path, environment)).endpoint == "live"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[mturk]\nendpint = "live"', 'no such setting, did you mean "endpoint"?'),
        ("[mturk]\nendpoint = 3", "[mturk] endpoint = 3: Input should be a valid string"),
        ("[mturks]\nendpoint = 3", 'there is no such section, did you mean "mturk"?'),
        ("[mturks]", 'there is no such section, did you mean "mturk"?'),
        ('mturk_endpint = "live"', 'mturk_endpint = \'live\': there is no such setting'),
        ('mturk_endpoint = "live"\n[mturk]\nendpoint = "live"', "is also given in"),
        ("[direct]\ncolour = 1", "there is no such setting"),
    ],
)  # fmt: skip
def test_a_recruiters_settings_are_checked_like_all_others(tmp_path, toml, message):
    write(tmp_path, toml)
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, {})
    assert message in str(caught.value)
    assert "parallax.toml" in str(caught.value)


def test_settings_remain_each_others_when_copied(tmp_path):
    write(tmp_path, 'port = 9000\n[mturk]\nendpoint = "live"\n')
    settings = load_settings(tmp_path, {})
    assert mturk(settings.for_instance(tmp_path)).endpoint == "live"


def test_without_gunicorn_links_name_the_server_s_port_too(tmp_path: Path, monkeypatch):
    for name in ("PORT", "INSTANCE"):
        monkeypatch.setenv(f"PARALLAX_{name}", "1")
    addresses = []

    def serve(instance: Path, listening: socket.socket) -> None:
        addresses.append((load_settings(instance).link_base, server_control._server_url(listening)))
        listening.close()

    monkeypatch.setattr(server_control, "_check_instance", lambda instance: None)
    monkeypatch.setattr(server_control, "has_forking_server", lambda: False)
    monkeypatch.setattr(server_control, "_serve_in_this_process", serve)
    with pytest.raises(SystemExit):
        server_control.serve(tmp_path, "127.0.0.1", 0)
    [(link, address)] = addresses
    assert link == address


def test_links_name_the_port_on_which_the_server_listens(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        environment = server_control._server_environment(tmp_path, listening)
    assert load_settings(tmp_path, environment).link_base == f"http://127.0.0.1:{port}"
