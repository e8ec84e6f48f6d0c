"""The errors a user of Parallax can mend, each one a clear paragraph."""


class ParallaxError(Exception):
    """Something the user gave cannot be used; the message says what, where and what to do.

    Args:
        problem: What is wrong, with the offending value.
        where: The file, line, table or setting it was found in; empty when there is no place.
        expected: What would have been right.
        remedy: What to do about it.
    """

    def __init__(
        self, problem: str, *, where: str = "", expected: str = "", remedy: str = ""
    ) -> None:
        self.problem, self.where, self.expected, self.remedy = problem, where, expected, remedy
        super().__init__(self._paragraph())

    def _paragraph(self) -> str:
        place = f"{self.where}: " if self.where else ""
        expected = f" Expected {_sentence(self.expected)}" if self.expected else ""
        remedy = f" {_sentence(self.remedy)}" if self.remedy else ""
        return f"{place}{_sentence(self.problem)}{expected}{remedy}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class StudyError(ParallaxError):
    """A study folder is missing, malformed or contradicts itself."""


class MaterialsError(ParallaxError):
    """A grammar or an item file cannot be turned into sound items."""


class DesignError(ParallaxError):
    """The lists cannot be built as promised, or built lists break a promise."""


class TableError(ParallaxError):
    """A table's file lacks a column, holds a wrong type or cannot be written."""


class UnknownNameError(ParallaxError):
    """A name stands in no registry."""
