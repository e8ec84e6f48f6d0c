"""The ways of presenting a trial, by name; each one declares itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, cast, runtime_checkable

from pydantic import ValidationError

from experiment.errors import StudyError, wrong_keys
from experiment.plugins import Registry
from experiment.records import PAIR, Item, Side
from experiment.studies.study import Study
from experiment.tables.column import Column, TableSchema
from experiment.tables.schemas import RESPONSES, TRIALS

PRESENTATIONS = Registry(
    "presentation",
    {
        "sentence_pair": "experiment.trials.sentence_pair:SentencePair",
        "prefix_completion": "experiment.trials.prefix_completion:PrefixCompletion",
        "option_list": "experiment.trials.option_list:OptionList",
        "rating": "experiment.trials.rating:Rating",
    },
    group="parallax.presentations",
    requires=("name", "template", "columns", "typical_rt_ms", "show"),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What the screen shows of one trial.

    Attributes:
        first: The first option, or the only text.
        second: The second option; empty where there is one text alone.
        prefix: What stands above them; empty where nothing does.
        more: Further options.
    """

    first: str
    second: str
    prefix: str = ""
    more: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options, in the order of the screen."""
        return (self.first, *((self.second,) if self.second else ()), *self.more)

    @property
    def texts(self) -> tuple[str, frozenset[str]]:
        """The texts whichever side the options stand on: the same for all orders."""
        return self.prefix, frozenset(self.options)


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


@runtime_checkable
class Arranged(Protocol):
    """What a presentation has besides where it shows something else than good and one against it.

    Attributes:
        points: How many points the scale has on which one version is rated; None where all
            versions stand on the screen and one is chosen.
        n_answers: How many answers a trial offers at most.
        trial_columns: What the exported table of trials has of them.
    """

    trial_columns: ClassVar[tuple[Column, ...]]

    @property
    def points(self) -> int | None:
        """The scale's points."""

    @property
    def n_answers(self) -> int:
        """How many answers there are."""

    def versions(self, item: Item) -> tuple[str, ...]:
        """Return the item's versions that may be shown, by name, the good one first."""

    def show_options(
        self, item: Item, options: Sequence[str], render: Callable[[str], str]
    ) -> Shown:
        """Return the texts of a trial that has these versions on the screen, in this order."""


def answer_keys(study: Study, presentation: Presentation) -> tuple[str, ...]:
    """Return the keys that choose the first answer, the second, and so on.

    They are those of the study; where it names none, the digits from 1.

    Raises:
        StudyError: The study names fewer keys, or more, than there are answers.
    """
    n = presentation.n_answers if isinstance(presentation, Arranged) else len(PAIR)
    keys = study.trial.keys
    if "keys" not in study.trial.model_fields_set:
        keys = tuple(map(str, range(1, n + 1)))
    if len(keys) != n:
        raise StudyError(
            f"{len(keys)} keys choose among {n} answers",
            where="trial.keys",
            expected=f"{n} keys",
            remedy="Leave the keys out to use the digits from 1",
        )
    return keys


def tables_shown(
    presentation: Presentation,
) -> tuple[TableSchema, TableSchema]:
    """Return the tables of trials and of responses as a presentation fills them."""
    of_trials = presentation.trial_columns if isinstance(presentation, Arranged) else ()
    return TRIALS.with_columns(of_trials), RESPONSES.with_columns(presentation.columns)


def load_presentation(
    name: str, parameters: Mapping[str, object], *, own_code: bool = True
) -> Presentation:
    """Return the presentation a study names, with its parameters checked.

    Args:
        name: A registered name, or ``"module:Class"`` for one of the user's own.
        parameters: The table ``trial.parameters`` of the study.
        own_code: Whether one of the user's own may be imported.

    Raises:
        UnknownNameError: No presentation is registered under the name.
        PluginError: It cannot be imported, is no presentation, or must not be imported.
        StudyError: A parameter is unknown or wrong.
    """
    make = cast(type[Presentation], PRESENTATIONS.load(name, own_code=own_code))
    try:
        return make(**parameters)
    except ValidationError as error:
        raise StudyError(
            f'the presentation "{name}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, trial.parameters",
            remedy="docs/studies.md lists the presentations and their parameters",
        ) from error


def on_sides(good: str, other: str, good_side: Side) -> tuple[str, str]:
    """Return the first and the second of two options, the good one where it belongs."""
    return (good, other) if good_side is Side.FIRST else (other, good)
