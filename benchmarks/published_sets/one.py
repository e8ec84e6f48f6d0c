"""One published data set: where it is, how it is read, and the number that was published of it."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

MAPPINGS = Path(__file__).parent / "mappings"
PEOPLE, MODELS = "people", "models"


def printed(number: float) -> Callable[[Path], float]:
    """Return a function that gives a number printed in a paper; of a rebuilt file, its own."""

    def published(folder: Path) -> float:
        own = folder / "number_of_the_rebuilt_file.txt"
        return float(own.read_text("utf-8")) if own.exists() else number

    return published


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


@dataclass(frozen=True)
class PublishedSet:
    """A published data set.

    Attributes:
        name: What it is called here; its mapping is called the same.
        source: Who published it.
        of: Whether it is of people or of models.
        licence: What it may be used for, in short.
        files: Name in our folder to place; ``judged`` is the file, or folder, that is imported.
        items: Writes the items for a folder with the files.
        number: What is compared, in words.
        published: The published number, from a folder with the files.
        ours: The number of what was imported: from the folder, the judgments (or, of models, the
            accuracy that ``parallax lm accuracy`` prints) and the items.
        differ: Why the two differ, or may.
        options: More options of the import.
        rebuilt: Writes files with the same headers, of sentences of our own, into a folder.
    """

    name: str
    source: str
    of: str
    licence: str
    files: Mapping[str, Place]
    items: Callable[[Path], pd.DataFrame]
    number: str
    published: Callable[[Path], float]
    ours: Callable[[Path, pd.DataFrame, pd.DataFrame], float]
    differ: str
    rebuilt: Callable[[Path], None]
    options: tuple[str, ...] = field(default=())

    @property
    def mapping(self) -> Path | None:
        """The mapping file; None where the format says everything."""
        path = MAPPINGS / f"{self.name}.toml"
        return path if path.exists() else None

    def reachable(self, clones: Path) -> bool:
        """Return whether all of its files are in the clones."""
        return all(place.clone(clones) for place in self.files.values())
