"""One of several tasks of a session, as study.toml has it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from experiment.responses.base import ResponseType
from experiment.responses.registry import load_response


class Task(BaseModel):
    """A task: its type of response, whatever keys that type has, and what is said above a trial."""

    model_config = ConfigDict(extra="allow", frozen=True)

    response: str = Field(description="the type of response of the task's trials")
    title: str = Field(default="", description="stands above its trials; empty for the study's")
    keys: tuple[str, ...] = Field(
        default=(), description="the keys that choose; empty for those of the type"
    )
    blocks: tuple[str, ...] = Field(
        default=(), description="the blocks of the design whose items are of this task"
    )
    _type: ResponseType = PrivateAttr()

    @model_validator(mode="after")
    def _load(self) -> "Task":
        if self.response == "mixed":
            raise ValueError('a task of "mixed" cannot be mixed itself')
        # What a study's own folder brings is not imported here: a task is built in or installed.
        self._type = load_response(self.response, self.parameters, own_code=False)
        n = self._type.n_answers
        if self.keys and len(self.keys) != n:
            raise ValueError(f"{len(self.keys)} keys choose among {n} answers")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys of its type, as ``trial.parameters`` has them in a study of this task alone."""
        return dict(self.model_extra or {})

    @property
    def type(self) -> ResponseType:
        """Its type of response."""
        return self._type

    @property
    def chosen_by(self) -> tuple[str, ...]:
        """The keys that choose its first answer, its second, and so on."""
        digits = tuple(map(str, range(1, self._type.n_answers + 1)))
        return self.keys or self._type.default_keys or digits
