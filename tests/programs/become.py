"""What a copy of the warm process does to be the program that was asked for."""

import atexit
import fcntl
import os
import runpy
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import NoReturn

_FREE_FROM = 400


def become(
    words: list[str], environment: dict[str, str], place: str, mask: int, alone: bool,
    passed: list[int], *, files: list[int],
) -> NoReturn:  # fmt: skip
    """Run a program as Python's words name it, and end with its status.

    Args:
        words: ``-m MODULE`` or a script, and the program's own arguments.
        environment: All of it.
        place: The folder to be in.
        mask: The user mask.
        alone: Whether it begins a session of its own.
        passed: The numbers under which the files after the first three are known.
        files: What stands for input, output and errors, then those that are passed on.
    """
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _take(files, passed)
        os.umask(mask)
        if alone:
            os.setsid()
        os.chdir(place)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        status = _end(_run(words))
    finally:
        os._exit(status)


def _take(files: list[int], passed: list[int]) -> None:
    high = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _FREE_FROM) for file in files]
    for file in files:
        os.close(file)
    for file, number in zip(high, (0, 1, 2, *passed), strict=True):
        os.dup2(file, number, inheritable=True)
        os.close(file)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))


def _run(words: list[str]) -> int:
    """Return the status of Python's end; below zero for an interrupt."""
    sys.orig_argv = [sys.executable, *words]
    try:
        # What is pickled, or started by ``multiprocessing``, looks for the program under its name.
        own = sys.modules["__main__"] = sys.modules["__mp_main__"] = ModuleType("__main__")
        if words[0] == "-m":
            sys.argv, sys.path[0] = words[1:], os.getcwd()  # noqa: PTH109
            runpy._run_module_as_main(words[1])
        else:
            sys.argv, sys.path[0] = words, str(Path(words[0]).absolute().parent)
            own.__file__ = words[0]
            source = Path(words[0]).read_bytes()
            exec(compile(source, words[0], "exec", dont_inherit=True), own.__dict__)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return -1 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _end(status: int) -> int:
    # What Python does at its end, but for giving back what was read: that took longer.
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError):  # it is closed
            stream.flush()
    if status == -1:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return status
