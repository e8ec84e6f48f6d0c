"""The data that a study's checks share, and the type of a check."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from experiment.design.lists import BuiltLists
from experiment.errors import ParallaxError
from experiment.records import Item
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.key_errors import TomlLines, place
from experiment.studies.study import EARLIER_RESPONSE, STUDY_FILE, Study


@dataclass(slots=True)
class Examined:
    """A study, with its items and lists as far as the checks have built them.

    Attributes:
        study: The study.
        seed: The seed for building the lists.
        items: The items; empty until they have been read.
        built: The lists; None until they have been built.
    """

    study: Study
    seed: int
    items: list[Item] = field(default_factory=list)
    built: BuiltLists | None = None
    _lines: TomlLines | None = None

    @property
    def response(self) -> ResponseType | None:
        """The study's response type; None if it is wrong, which its own check reports."""
        try:
            return response_of(self.study)
        except ParallaxError:
            return None

    def at(self, *path: str | int) -> str:
        """Return the location of a key of study.toml: file, line and key."""
        if self._lines is None:
            try:
                text = self.study.read(STUDY_FILE)
            except (OSError, UnicodeDecodeError):
                text = ""
            self._lines = TomlLines(text, {"response": EARLIER_RESPONSE})
        return place(str(self.study.folder / STUDY_FILE), self._lines, path)

    def place_of(self, item: Item) -> str:
        """Return the file and line of the table row that defines an item; empty if unknown."""
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
        """Return the name of a study's file for messages."""
        return str(self.study.folder / file)


# Performs one check of a study; an error that it raises counts like those that it yields.
StudyCheck = Callable[[Examined], Iterator[ParallaxError]]
