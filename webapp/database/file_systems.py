"""Whether a file lies on a disk that several machines share."""

import re
from pathlib import Path

from webapp.errors import WebappError

MOUNTS = Path("/proc/mounts")
_SHARED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs"),
        *("glusterfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph"),
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def refuse_network_disk(file: Path, mounts: str) -> None:
    """Raise an error if an SQLite file lies where other machines reach it too.

    SQLite's write-ahead log is shared memory: processes of two machines would not see each
    other's, and the file would be damaged.

    Args:
        file: The database's file, which need not exist yet.
        mounts: What ``/proc/mounts`` says.

    Raises:
        WebappError: It lies on a network file system.
    """
    kind = file_system(file, mounts)
    if kind in _SHARED:
        raise WebappError(
            f"an SQLite file on a network file system ({kind}) can be damaged by a second machine",
            where=str(file),
            expected="a file on a disk of this machine",
            remedy="Put it there, or use PostgreSQL: docs/database.md",
        )


def file_system(file: Path, mounts: str) -> str:
    """Return the kind of the file system that a file lies on; empty where nothing tells."""
    resolved, best, kind = file.resolve(), Path(), ""
    for line in mounts.splitlines():
        _, point, found, *_ = line.split(" ")
        mounted = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), point))
        # A later line covers an earlier one of the same place.
        if resolved.is_relative_to(mounted) and len(mounted.parts) >= len(best.parts):
            best, kind = mounted, found
    return kind
