"""Modules of a server's processes: few for participants, and none loaded after the fork."""

import subprocess
import sys
from pathlib import Path

# What participants' processes execute, a twentieth above what was measured.
MOST_PARTICIPANT_LINES = 39_600

_COUNT_LINES = """
import sys
from pathlib import Path
from webapp.app import PARTICIPANT_PAGES, create_app
create_app(Path(sys.argv[1]) / "instance", pages=PARTICIPANT_PAGES)
packages = ("webapp", "experiment")
own = {name: module for name, module in sys.modules.items() if name.split(".")[0] in packages}
print(sum(len(Path(module.__file__).read_bytes().splitlines()) for module in own.values()))
print(*(name for name in own if name.startswith(("webapp.researcher", "webapp.coding_pages"))))
"""
_LOADED_LATER = """
import sys
from webapp.server.shared_modules import load_shared_modules
load_shared_modules()
shared = set(sys.modules)
from pathlib import Path
from webapp import create_app
create_app(Path(sys.argv[1]) / "instance").test_client().get("/researcher/")
own = ("webapp", "experiment")
print(*sorted(name for name in set(sys.modules) - shared if name.startswith(own)))
"""


def _print(program: str, folder: Path) -> list[str]:
    command = [sys.executable, "-c", program, str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def test_a_participants_app_needs_few_modules_and_none_of_researchers(tmp_path: Path) -> None:
    n_lines, others = _print(_COUNT_LINES, tmp_path)
    assert int(n_lines) <= MOST_PARTICIPANT_LINES
    assert not others


def test_making_an_app_loads_no_module_of_ours_that_is_not_shared(tmp_path: Path) -> None:
    assert _print(_LOADED_LATER, tmp_path) == [""]
