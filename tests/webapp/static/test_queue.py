import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
STATIC = HERE.parents[2] / "webapp" / "static"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed (apt install nodejs)")


@needs_node
def test_the_queue_of_answers_loses_and_repeats_none():
    run = subprocess.run(
        [str(NODE), "--test", str(HERE / "queue.test.mjs")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@needs_node
@pytest.mark.parametrize("file", sorted(STATIC.glob("*.js")), ids=lambda file: file.name)
def test_every_module_can_be_read_by_a_browser(file: Path):
    run = subprocess.run(
        [str(NODE), "--check", "--input-type=module", "-"],
        input=file.read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
