"""One setting is written into the instance's file, and nothing else changes."""

import pytest

from webapp.core.settings_sources import write_setting
from webapp.errors import SettingError
from webapp.recruiters.settings import load_settings

MINE = '# mine\nport = 8001\n\n[prolific]  # here\nworkspace = ""\n\n[panel.secrets]\na = "b"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '[prolific]\nhook_secret = "x-1"\n'),
        (MINE, MINE.replace("# here\n", '# here\nhook_secret = "x-1"\n')),
        ('prolific_hook_secret = "o"\nport = 1\n', 'prolific_hook_secret = "x-1"\nport = 1\n'),
        ('[prolific]\nhook_secret="o"\n', '[prolific]\nhook_secret = "x-1"\n'),
        ('port = 8001\n[mturk]\n', 'port = 8001\n[mturk]\n\n[prolific]\nhook_secret = "x-1"\n'),
    ],
)  # fmt: skip
def test_it_stands_where_settings_are_read_and_the_rest_stays(tmp_path, before, after):
    if before is not None:
        (tmp_path / "parallax.toml").write_text(before)
    path = write_setting(tmp_path, "prolific", "hook_secret", "x-1")
    assert path.read_text() == after
    if before is None:
        assert path.stat().st_mode & 0o777 == 0o600
    settings = load_settings(tmp_path, {})._recruiters["prolific"]
    assert settings.hook_secret.get_secret_value() == "x-1"


def test_a_file_that_is_written_otherwise_is_left_alone(tmp_path):
    text = 'prolific = { hook_secret = "o" }\n'
    (tmp_path / "parallax.toml").write_text(text)
    with pytest.raises(SettingError, match=r"cannot be written there.*under \[prolific\] yourself"):
        write_setting(tmp_path, "prolific", "hook_secret", "x-1")
    assert (tmp_path / "parallax.toml").read_text() == text
