"""Where a file of a published data set is."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """A file of a public repository.

    Attributes:
        repository: Its owner and name on GitHub.
        path: The file, or the folder, in it.
    """

    repository: str
    path: str

    def clone(self, clones: Path) -> Path | None:
        """Return the repository's clone, which is called OWNER+NAME; None where there is none."""
        own = clones / self.repository.replace("/", "+")
        found = (one for one in (own / "repo", own) if one.is_dir())
        return next(found, None)

    def copy(self, clones: Path, to: Path) -> None:
        """Write the file, or every file of the folder, as the newest commit has it."""
        clone = self.clone(clones)
        named = _git(clone, "ls-tree", "-r", "--name-only", "-z", "HEAD", self.path)
        paths = [one for one in named.decode().split("\0") if one]
        if not paths:
            raise FileNotFoundError(f"{self.repository} has no {self.path}")
        for path in paths:
            target = to if paths == [self.path] else to / path.removeprefix(f"{self.path}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_git(clone, "show", f"HEAD:{path}"))

    def read(self, clones: Path) -> bytes:
        """Return the file as the newest commit has it."""
        return _git(self.clone(clones), "show", f"HEAD:{self.path}")

    def commit(self, clones: Path) -> str:
        """Return the newest commit of the clone."""
        return _git(self.clone(clones), "rev-parse", "HEAD").decode().strip()


def _git(clone: Path | None, *command: str) -> bytes:
    options = ["-c", "safe.directory=*", "-C", str(clone)]
    return subprocess.run(["git", *options, *command], check=True, capture_output=True).stdout
