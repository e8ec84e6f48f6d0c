"""What the checks of a study read, and what they report."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from experiment.design.lists import BuiltLists
from experiment.errors import ParallaxError
from experiment.records import Item
from experiment.studies.key_errors import TomlLines, place
from experiment.studies.study import EARLIER_RESPONSE, STUDY_FILE, Study


@dataclass(slots=True)
class Examined:
    """A study and what was made of it so far.

    Attributes:
        study: The study.
        seed: The seed its lists are built with.
        items: Its items; empty until they could be read.
        built: Its lists; None until they could be built.
    """

    study: Study
    seed: int
    items: list[Item] = field(default_factory=list)
    built: BuiltLists | None = None
    _lines: TomlLines | None = None

    def at(self, *path: str | int) -> str:
        """Return where a key of study.toml stands: file, line and key."""
        if self._lines is None:
            try:
                text = self.study.read(STUDY_FILE)
            except (OSError, UnicodeDecodeError):
                text = ""
            self._lines = TomlLines(text, {"response": EARLIER_RESPONSE})
        return place(str(self.study.folder / STUDY_FILE), self._lines, path)

    def place_of(self, item: Item) -> str:
        """Return where an item stands: the file and line of the table that names it; empty else."""
        if self.study.trial.practice and item.template == "practice":
            return self.name_of(self.study.trial.practice)
        file = self.study.materials.items
        if not file or Path(file).suffix not in (".tsv", ".csv"):
            return ""
        try:
            text = self.study.read(file)
        except (OSError, UnicodeDecodeError):
            return ""
        divider = "\t" if file.endswith(".tsv") else ","
        for number, line in enumerate(text.splitlines(), start=1):
            if item.item_id in line.split(divider)[:1]:
                return f"{self.name_of(file)}, line {number}"
        return ""

    def name_of(self, file: str) -> str:
        """Return a file of the study as messages name it."""
        return str(self.study.folder / file)


# Asks one thing of a study; an error that it raises is an answer like those it yields.
StudyCheck = Callable[[Examined], Iterator[ParallaxError]]
