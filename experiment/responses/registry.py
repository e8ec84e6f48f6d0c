"""The types of response by name, and the one that a study asks for."""

from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from experiment.errors import StudyError, wrong_keys
from experiment.plugins import Registry
from experiment.responses.base import ResponseType
from experiment.studies.study import Study
from experiment.tables.column import TableSchema
from experiment.tables.schemas import EXPORT_TABLES, RESPONSES, TRIALS

# In the order in which a new study's items are asked which of them suits.
RESPONSE_TYPES = Registry(
    "type of response",
    {
        "mixed": "experiment.responses.mixed.mixed:Mixed",
        "yes_no": "experiment.responses.yes_no.yes_no:YesNo",
        "maze": "experiment.responses.reading.maze:Maze",
        "self_paced": "experiment.responses.reading.self_paced:SelfPaced",
        "read_then_rate": "experiment.responses.reading.read_then_rate:ReadThenRate",
        "rating": "experiment.responses.rating.rating:Rating",
        "scales": "experiment.responses.rating.scales:Scales",
        "option_list": "experiment.responses.choice.option_list:OptionList",
        "prefix_completion": "experiment.responses.choice.prefix_completion:PrefixCompletion",
        "sentence_pair": "experiment.responses.choice.sentence_pair:SentencePair",
    },
    group="parallax.responses",
    requires=("name", "template", "columns", "typical_rt_ms", "show", "judged"),
)


def response_class(name: str, *, own_code: bool = True) -> type[ResponseType]:
    """Return the class of a type of response.

    Args:
        name: A registered name, or ``"module:Class"`` for one of the user's own.
        own_code: Whether one of the user's own may be imported.

    Raises:
        UnknownNameError: No type of response is registered under the name.
        PluginError: It cannot be imported, is no type of response, or must not be imported.
    """
    return cast(type[ResponseType], RESPONSE_TYPES.load(name, own_code=own_code))


def load_response(
    name: str, parameters: Mapping[str, object], *, own_code: bool = True
) -> ResponseType:
    """Return the type of response that a study names, with its parameters checked.

    Args:
        name: A registered name, or ``"module:Class"`` for one of the user's own.
        parameters: The table ``trial.parameters`` of the study.
        own_code: Whether one of the user's own may be imported.

    Raises:
        UnknownNameError: No type of response is registered under the name.
        PluginError: It cannot be imported, is no type of response, or must not be imported.
        StudyError: A parameter is unknown or wrong.
    """
    make = response_class(name, own_code=own_code)
    try:
        return make.model_validate(dict(parameters))
    except ValidationError as error:
        raise StudyError(
            f'the type of response "{name}" has wrong parameters: {wrong_keys(error)}',
            where="study.toml, trial.parameters",
            remedy="docs/studies.md lists the types of response and their parameters",
        ) from error


def response_of(study: Study, *, own_code: bool = True) -> ResponseType:
    """Return what a study's trials ask for; see ``load_response``."""
    asked = load_response(study.response, study.trial.parameters, own_code=own_code)
    return asked.within(study.design.block_of)


def answer_keys(study: Study, response: ResponseType) -> tuple[str, ...]:
    """Return the keys that choose the first answer, the second, and so on.

    They are those of the study; where it names none, the type's own, or the digits from 1.

    Raises:
        StudyError: The study names fewer keys, or more, than there are answers.
    """
    n, keys = response.n_answers, study.trial.keys
    if response.types:
        # Each task has its own; these stand for as many as the page can need.
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
    """Return every table of an export, as a type of response fills them."""
    shown = {table.name: table for table in tables_shown(response)}
    steps = (response.step_table,) if response.step_table else ()
    return (*(shown.get(table.name, table) for table in EXPORT_TABLES), *steps)


def tables_shown(response: ResponseType) -> tuple[TableSchema, TableSchema]:
    """Return the tables of trials and of responses as a type of response fills them."""
    return TRIALS.with_columns(response.trial_columns), RESPONSES.with_columns(response.all_columns)
