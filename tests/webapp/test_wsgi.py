import os
import subprocess
import sys
from pathlib import Path

from tests.programs.start import GIVEN


def load(instance: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, GIVEN, "import wsgi; print(wsgi.app.name)"],
        env={**os.environ, "PARALLAX_INSTANCE": str(instance), **environment},
        capture_output=True,
        text=True,
    )


def test_the_door_opens_on_the_instance_the_variable_names(tmp_path):
    loaded = load(tmp_path / "own")
    assert (loaded.returncode, loaded.stdout) == (0, "webapp\n")
    assert (tmp_path / "own" / "secret_key").is_file()


def test_a_wrong_setting_is_one_paragraph_and_no_second_try(tmp_path):
    loaded = load(tmp_path, PARALLAX_PORT="many")
    assert loaded.returncode == 3
    assert "PARALLAX_PORT = 'many'" in loaded.stderr
    assert "Traceback" not in loaded.stderr and loaded.stderr.count("\n") == 1
