"""Commands of Parallax by a process that has imported it, for each command takes seconds to do so.

Run as a program, it reads a command a line (JSON: words, environment, seconds) and answers with a
line (JSON: what was said). Each command is a process of its own, forked from this one.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# As the service's unit: root's rights would pass over everything that files forbid.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]


class Commands:
    """Gives commands as the service's user, who has no rights of root's."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [*WITHOUT_RIGHTS, sys.executable, __file__],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip

    def say(self, words: tuple[str, ...], environment: dict[str, str], seconds: float) -> str:
        """Return everything that a command said until it ended, or was ended."""
        assert self._process.stdin and self._process.stdout
        print(json.dumps([words, environment, seconds]), file=self._process.stdin, flush=True)
        return str(json.loads(self._process.stdout.readline()))

    def end(self) -> None:
        """Give no more commands."""
        self._process.kill()
        self._process.wait()


def _run(words: list[str], environment: dict[str, str], seconds: float) -> str:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            _be(words, environment, said.fileno())
        until = time.monotonic() + seconds
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.02)
        said.seek(0)
        return said.read().decode(errors="replace")


def _be(words: list[str], environment: dict[str, str], into: int) -> None:
    """Be the command, and end."""
    import parallax
    from webapp.database.backup import postgresql

    if "WITHOUT_PROGRAMS" in environment:
        # Their folder is the running server's too, so it cannot be taken away.
        postgresql._INSTALLED = Path("/nowhere")
    os.dup2(into, 1)
    os.dup2(into, 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["parallax", *words]
    try:
        parallax.main()
    except SystemExit:
        pass
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def main() -> None:
    """Answer until nobody asks."""
    import psycopg  # noqa: F401

    import parallax  # noqa: F401
    import webapp.commands.backup
    import webapp.commands.doctor  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(_run(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
