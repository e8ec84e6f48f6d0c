"""Runs scripts from one process that has read the large libraries already.

Reading them was most of what a short run of a benchmark cost, and giving back at the end what had
been read was most of the rest: each script has a process of its own, forked by ``multiprocessing``
(which ends without that) from the one that only read: ``python -m tests.benchmarks.forked`` takes
one line of JSON for each script, and answers with its exit status.
"""

import gc
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
READ_ONCE = (
    "torch", "transformers", "statsmodels.api", "playwright.sync_api", "alembic.command",
    "analysis.comparison", "webapp", "lm.scoring.reading",
)  # fmt: skip


class Reader:
    """The process that has read the libraries."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(
        self, script: Path, arguments: list[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a script as ``python script arguments`` in the repository's root would be run."""
        asking, answers = self._process.stdin, self._process.stdout
        assert asking and answers
        with TemporaryDirectory() as kept:
            out, err = Path(kept, "out"), Path(kept, "err")
            asked = [str(script), arguments, dict(environment), str(out), str(err)]
            print(json.dumps(asked), file=asking, flush=True)
            status = int(answers.readline())
            printed = (out.read_text("utf-8"), err.read_text("utf-8"))
        return subprocess.CompletedProcess([str(script), *arguments], status, *printed)


@contextmanager
def reader() -> Iterator[Reader]:
    """Start the process, and end it."""
    command = [sys.executable, "-m", "tests.benchmarks.forked"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Reader(process)


def main() -> None:
    for name in READ_ONCE:
        import_module(name)
    gc.freeze()
    while line := sys.stdin.readline():
        script = get_context("fork").Process(target=_become, args=json.loads(line))
        script.start()
        script.join()
        print(script.exitcode, flush=True)


def _become(
    script: str, arguments: list[str], environment: dict[str, str], out: str, err: str
) -> None:
    files = ((0, os.devnull, os.O_RDONLY), (1, out, os.O_CREAT | os.O_WRONLY))
    for number, path, how in (*files, (2, err, os.O_CREAT | os.O_WRONLY)):
        os.dup2(opened := os.open(path, how), number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
