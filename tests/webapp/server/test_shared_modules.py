"""What a server's processes share: an app made after the fork loads no more modules of its own."""

import subprocess
import sys
from pathlib import Path

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


def test_making_an_app_loads_no_module_of_ours_that_is_not_shared(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _LOADED_LATER, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
