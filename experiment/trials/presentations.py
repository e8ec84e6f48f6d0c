"""The ways of presenting a trial, by name; each one declares itself."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, cast

from pydantic import ValidationError

from experiment.errors import StudyError
from experiment.plugins import Registry
from experiment.records import Item, Side
from experiment.schemas import Column
from experiment.validation import wrong_keys

PRESENTATIONS = Registry(
    "presentation",
    {
        "sentence_pair": "experiment.trials.sentence_pair:SentencePair",
        "prefix_completion": "experiment.trials.prefix_completion:PrefixCompletion",
    },
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the screen shows of one trial.

    Attributes:
        first: The first option.
        second: The second option.
        prefix: What stands above both; empty where nothing does.
    """

    first: str
    second: str
    prefix: str = ""

    @property
    def texts(self) -> tuple[str, frozenset[str]]:
        """The texts whichever side the options stand on: the same for both orders."""
        return self.prefix, frozenset((self.first, self.second))


class Presentation(Protocol):
    """A pydantic model of its own parameters that says what a trial shows.

    Attributes:
        name: As the registry and the page know it.
        template: The page's part that shows it, below ``webapp/templates/``.
        columns: What one answer to it measures, as the exported table of responses has it.
        typical_rt_ms: How long people take, in milliseconds; simulated ones do where the study
            says nothing else.
    """

    name: ClassVar[str]
    template: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]]
    typical_rt_ms: ClassVar[float]

    def show(self, item: Item, good_side: Side, render: Callable[[str], str]) -> Shown:
        """Return the texts of a trial.

        Args:
            item: The trial's item.
            good_side: Where its good option stands.
            render: From plain words to what the screen shows.

        Raises:
            StudyError: The item cannot be presented in this way.
        """


def load_presentation(name: str, parameters: Mapping[str, object]) -> Presentation:
    """Return the presentation a study names, with its parameters checked.

    Args:
        name: A registered name, or ``"module:Class"`` for one of the user's own.
        parameters: The table ``trial.parameters`` of the study.

    Raises:
        UnknownNameError: No presentation is registered under the name.
        StudyError: The user's own cannot be imported, or a parameter is unknown or wrong.
    """
    make = cast(type[Presentation], _own(name) if ":" in name else PRESENTATIONS.load(name))
    try:
        return make(**parameters)
    except ValidationError as error:
        raise StudyError(
            f'the presentation "{name}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, trial.parameters",
            remedy="docs/studies.md lists the presentations and their parameters",
        ) from error


def _own(name: str) -> object:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise StudyError(
            f'the presentation "{name}" cannot be imported ({error})',
            where="study.toml, presentation",
            expected="module:Class, with the module on Python's path (PYTHONPATH)",
        ) from error


def on_sides(good: str, other: str, good_side: Side) -> tuple[str, str]:
    """Return the first and the second of two options, the good one where it belongs."""
    return (good, other) if good_side is Side.FIRST else (other, good)
