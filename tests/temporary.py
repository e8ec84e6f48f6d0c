"""Where the tests' temporary files lie: in memory, where there is enough of it.

Thousands of tests commit to a database of their own, and a disk answers each commit only when it
has written it. What has to outlive a power cut is tried by servers that say so themselves.
"""

import os
import shutil
import tempfile
from pathlib import Path

_IN_MEMORY = Path("/dev/shm")
# Most of what a test wrote goes with it; what the benchmarks' tests write at one time does not.
_ENOUGH_BYTES = 4 * 1024**3


def keep_in_memory() -> None:
    """Let this process and those it starts have their temporary files in memory.

    Nothing changes where ``TMPDIR`` says where they shall lie, or where the folder in memory is
    small, belongs to others or lets no program start.
    """
    if "TMPDIR" not in os.environ and _usable(_IN_MEMORY):
        os.environ["TMPDIR"] = str(_IN_MEMORY)
        tempfile.tempdir = None


def _usable(folder: Path) -> bool:
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(folder).free >= _ENOUGH_BYTES
