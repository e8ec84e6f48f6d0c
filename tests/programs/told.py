"""A program that says how it was started: what each of the two ways must give alike."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


class Own:
    """What another process gives back, by its name in this program."""


def make(_: int) -> Own:
    """Return one."""
    return Own()


def main() -> None:
    """Print it, and end as the first argument says."""
    os.umask(mask := os.umask(0o077))
    said = {
        "argv": sys.argv,
        "orig_argv": sys.orig_argv,
        "path": sys.path,
        "name": __name__,
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "zone": time.tzname,
        "mask": mask,
        "input": sys.stdin.read(),
        "encodings": [(each.encoding, each.errors) for each in (sys.stdin, sys.stdout, sys.stderr)],
        "line by line": [each.line_buffering for each in (sys.stdout, sys.stderr)],
        "starts": subprocess.Popen.__name__,
        "group": (os.getsid(0), os.getpgid(0)),
    }
    print(json.dumps(said, sort_keys=True))
    print("an error", file=sys.stderr)
    match sys.argv[1]:
        case "number":
            sys.exit(7)
        case "text":
            sys.exit("told at the end")
        case "fault":
            raise ValueError("unforeseen")
        case "interrupt":
            raise KeyboardInterrupt
        case "thread":
            threading.Timer(0.05, print, ["a thread ended"]).start()
        case "program":
            sys.stdout.flush()
            again = [sys.executable, *sys.orig_argv[1:-1], "none"]
            subprocess.run(again, stdin=subprocess.DEVNULL, check=True)
        case "file":
            os.write(int(sys.argv[2]), b"written")
        case "fork" | "spawn" as how:
            with ProcessPoolExecutor(1, get_context(how)) as pool:
                print([type(each) is Own for each in pool.map(make, [1])])
        case "wait":
            sys.stdout.flush()
            time.sleep(600)


if __name__ == "__main__":
    main()
