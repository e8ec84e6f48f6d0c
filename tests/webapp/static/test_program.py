import re
import shutil
import subprocess
from pathlib import Path

import pytest

from webapp.participant.program import joined_modules

HERE = Path(__file__).parent
STATIC = HERE.parents[2] / "webapp" / "static"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed (apt install nodejs)")


def node(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NODE), *arguments], input=text, capture_output=True, text=True)


@needs_node
@pytest.mark.parametrize("tests", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_the_modules_do_what_their_own_tests_say(tests: Path):
    run = node("--test", str(tests))
    assert run.returncode == 0, run.stdout + run.stderr


@needs_node
@pytest.mark.parametrize("file", sorted(STATIC.glob("*.js")), ids=lambda file: file.name)
def test_every_module_can_be_read_by_a_browser(file: Path):
    run = node("--check", "--input-type=module", "-", text=file.read_text(encoding="utf-8"))
    assert run.returncode == 0, run.stderr


@needs_node
def test_the_joined_modules_are_one_program():
    run = node("--check", "--input-type=module", "-", text=joined_modules(STATIC))
    assert run.returncode == 0, run.stderr


def test_the_program_is_sent_whole_and_only_when_it_changed(client):
    first = client.get("/program.js")
    assert first.mimetype == "text/javascript"
    assert not re.search(r"^(import|export) ", first.text, re.MULTILINE)
    for module in ("store.js", "queue.js", "sequence.js", "device.js", "trial.js", "working.js"):
        last_line = (STATIC / module).read_text("utf-8").rstrip().splitlines()[-2]
        assert last_line in first.text
    assert first.headers["Cache-Control"] == "no-cache"
    again = client.get("/program.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
