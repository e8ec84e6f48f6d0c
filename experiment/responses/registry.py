"""The registry of response types, and the type that a study uses."""

from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from experiment.errors import ParallaxError, StudyError, wrong_keys
from experiment.plugins import Registry
from experiment.responses.base import ResponseType
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import EXPORT_TABLES, RESPONSES, TRIALS

# In the order in which ``suits`` is tried on a new study's items.
RESPONSE_TYPES = Registry(
    "type of response",
    {
        "typed": "experiment.responses.typed.typed:Typed",
        "fluency": "experiment.responses.typed.fluency:Fluency",
        "mixed": "experiment.responses.mixed.mixed:Mixed",
        "yes_no": "experiment.responses.yes_no.yes_no:YesNo",
        "maze": "experiment.responses.reading.maze:Maze",
        "self_paced": "experiment.responses.reading.self_paced:SelfPaced",
        "read_then_rate": "experiment.responses.reading.read_then_rate:ReadThenRate",
        "rating": "experiment.responses.rating.rating:Rating",
        "scales": "experiment.responses.rating.rating:Scales",
        "slider": "experiment.responses.rating.slider:Slider",
        "option_list": "experiment.responses.choice.choice:OptionList",
        "prefix_completion": "experiment.responses.choice.choice:PrefixCompletion",
        "sentence_pair": "experiment.responses.choice.choice:SentencePair",
    },
    group="parallax.responses",
    requires=("name", "template", "columns", "typical_rt_ms", "show", "score_answer"),
)


def response_class(name: str, *, own_code: bool = True) -> type[ResponseType]:
    """Return the class of a response type.

    Args:
        name: A registered name, or ``"module:Class"`` for the user's own type.
        own_code: Whether the user's own code may be imported.

    Raises:
        UnknownNameError: No response type is registered under the name.
        PluginError: The class cannot or must not be imported, or is not a response type.
    """
    return cast(type[ResponseType], RESPONSE_TYPES.load(name, own_code=own_code))


def load_response(
    name: str, parameters: Mapping[str, object], *, own_code: bool = True
) -> ResponseType:
    """Return a study's response type with validated parameters.

    Args:
        name: A registered name, or ``"module:Class"`` for the user's own type.
        parameters: The table ``trial.parameters`` of the study.
        own_code: Whether the user's own code may be imported.

    Raises:
        UnknownNameError: No response type is registered under the name.
        PluginError: The class cannot or must not be imported, or is not a response type.
        StudyError: A parameter is unknown or invalid.
    """
    response_type = response_class(name, own_code=own_code)
    try:
        return response_type.model_validate(dict(parameters))
    except ValidationError as error:
        raise StudyError(
            f'the type of response "{name}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, trial.parameters",
            remedy="docs/studies.md lists the types of response and their parameters",
        ) from error


def response_of(study: Study, *, own_code: bool = True) -> ResponseType:
    """Return the response type of a study's trials; see ``load_response``."""
    response = load_response(study.response, study.trial.parameters, own_code=own_code)
    return response.within(study.design.block_of)


def known_response(study: Study) -> ResponseType | None:
    """Return the response type of a study's trials; None if it cannot be loaded here.

    A researcher's own code is not executed: whoever reads an export treats its answers as choices
    between pairs.
    """
    try:
        return response_of(study, own_code=False)
    except ParallaxError:
        return None


def answer_keys(study: Study, response: ResponseType) -> tuple[str, ...]:
    """Return the keys that choose the first answer, the second, and so on.

    The study's keys take precedence, then the type's default keys, then the digits from 1.

    Raises:
        StudyError: The number of the study's keys differs from the number of answers.
    """
    n, keys = response.n_answers, study.trial.keys
    if response.types:
        # Each task has its own keys; return as many digits as the page can need.
        return tuple(map(str, range(1, n + 1)))
    if "keys" not in study.trial.model_fields_set:
        keys = response.default_keys or tuple(map(str, range(1, n + 1)))
    if len(keys) != n:
        raise StudyError(
            f"{len(keys)} keys choose among {n} answers",
            where="trial.keys",
            expected=f"{n} keys",
            remedy="Leave the keys out to use the digits from 1",
        )
    return keys


def export_tables(response: ResponseType) -> tuple[TableSchema, ...]:
    """Return every table of an export, with the columns of a response type."""
    table_by_name = {table.name: table for table in tables_shown(response)}
    steps = (response.step_table,) if response.step_table else ()
    return (*(table_by_name.get(table.name, table) for table in EXPORT_TABLES), *steps)


def tables_shown(response: ResponseType) -> tuple[TableSchema, TableSchema]:
    """Return the tables of trials and of responses with the columns of a response type."""
    return TRIALS.with_columns(response.trial_columns), RESPONSES.with_columns(response.all_columns)
