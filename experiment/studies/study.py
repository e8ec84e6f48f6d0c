"""The model of ``study.toml``: every table and key a study may have, with its meaning."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator, model_validator

from experiment.studies.recruitment import Recruitment

STUDY_FILE, PUBLISHED_FILE = "study.toml", "published.csv"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class About(_Table):
    """Who and what the study is."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the folder's name")
    title: str = Field(min_length=1, description="as participants and tables show it")
    version: str = Field(min_length=1, description="changes whenever the materials change")
    language: str = Field(pattern=r"^[a-z]{2}$", description="ISO 639-1 code of the materials")
    citation: str = Field(default="", description="how to cite the study")


class Materials(_Table):
    """Where the items come from and how they are rendered."""

    grammar: str = Field(default="", description="the grammar's file in the study folder")
    items: str = Field(default="", description="or a file of ready items there")
    shown_to_people: str = Field(
        default="sentence_case", description="the rendering on participants' screens"
    )
    given_to_models: str = Field(
        default="lower_case_tokens", description="the rendering that word-level models score"
    )

    @model_validator(mode="after")
    def _from_one_file(self) -> Self:
        if bool(self.grammar) == bool(self.items):
            raise ValueError("the items come from one file: give either grammar or items")
        return self


class Construction(_Table):
    """A row of the results table."""

    name: str = Field(description="as the grammar's templates name it")
    title: str = Field(description="as the tables print it")
    group: str = Field(default="", description="the heading the row stands under")
    published_sentences: PositiveInt | None = Field(
        default=None, description="the number of sentences printed in the paper"
    )


class Square(_Table):
    """One Latin square: frames by conditions, from one template or several pooled."""

    templates: list[str] = Field(min_length=1, description="the templates that give its frames")
    frames: PositiveInt | None = Field(
        default=None, description="frames in all, shared equally; the number of lists by default"
    )
    catch_trials: int = Field(
        default=0, ge=0, description="how many of its items in each list are catch trials"
    )


class Disjoint(_Table):
    """Templates with the same words in the same order, which must not share lexical choices."""

    templates: list[str] = Field(min_length=2, description="the templates kept apart")
    slots: list[str] = Field(min_length=1, description="the slots whose joint choice is unique")


class Design(_Table):
    """The lists and who sees them."""

    lists: PositiveInt = Field(description="how many lists")
    participants_per_list: PositiveInt = Field(description="how many places each list has")
    trials_per_list: PositiveInt = Field(description="what the audit expects a list to have")
    lease_minutes: PositiveInt = Field(
        default=60, description="how long a place is held after the last sign of life"
    )
    replace_excluded: bool = Field(
        default=False, description="whether an excluded participant's place goes to another"
    )
    squares: list[Square] = Field(min_length=1, description="the Latin squares of the lists")
    disjoint: list[Disjoint] = Field(default=[], description="templates kept apart")
    separate: Literal["", "construction", "template"] = Field(
        default="construction", description="what two neighbouring trials must not share"
    )


class Trials(_Table):
    """How trials go by, whatever their presentation."""

    keys: tuple[str, str] = Field(
        default=("1", "2"), description="the keys that choose the first and the second option"
    )
    lockout_ms: int = Field(
        default=150, ge=0, le=5000, description="how long no press counts after the painting, ms"
    )
    break_every: int = Field(
        default=0, ge=0, description="trials from one break page to the next; 0 for none"
    )
    practice: str = Field(default="", description="the file of the practice trials")
    parameters: dict[str, object] = Field(
        default={}, description="the presentation's own, which it checks itself"
    )

    @field_validator("keys")
    @classmethod
    def _each_another_single_key(cls, keys: tuple[str, str]) -> tuple[str, str]:
        first, second = keys
        if any(len(key) != 1 or not key.isprintable() or key.isspace() for key in keys):
            raise ValueError("a key is one printable character, such as 1 or f")
        if first.lower() == second.lower():
            raise ValueError("the two keys must differ")
        return keys


class Rule(BaseModel):
    """An exclusion rule and its parameters, which the rule itself checks."""

    model_config = ConfigDict(extra="allow", frozen=True)
    rule: str = Field(description="the rule's registered name")


class Question(_Table):
    """A field of the questionnaire."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the field's name in exports")
    label: str = Field(min_length=1, description="the question as participants read it")
    type: Literal["text", "choice", "number"] = Field(default="text", description="the field")
    options: list[str] = Field(default=[], description="the answers offered by a choice")
    required: bool = Field(default=False, description="whether it must be answered")


class Payment(_Table):
    """What participants get beside the reward for taking part."""

    bonus: Literal["none", "everyone", "kept", "per_correct_catch_trial"] = Field(
        default="none",
        description="who gets a bonus: nobody, who finished, who is kept, or each "
        "correct catch trial",
    )
    bonus_cents: int = Field(default=0, ge=0, description="one bonus, in cents")
    bonus_reason: str = Field(
        default="Thank you for taking part.",
        min_length=1,
        max_length=1000,
        description="what the participant is told about the bonus",
    )

    @model_validator(mode="after")
    def _an_amount_with_a_rule(self) -> Self:
        if (self.bonus == "none") != (self.bonus_cents == 0):
            raise ValueError("bonus and bonus_cents belong together: give both or neither")
        return self


class Simulation(_Table):
    """Who the simulated participants are."""

    mix: dict[str, float] = Field(description="responder name -> share; the shares sum to 1")
    median_rt_ms: float | None = Field(
        default=None, gt=0, description="a typical reaction time, ms; else the presentation's"
    )


class Study(_Table):
    """A study folder, read and checked."""

    folder: Path = Field(description="where it was read from")
    files: Mapping[str, bytes] | None = Field(
        default=None, repr=False, description="what its files held when it was frozen, by name"
    )
    study: About
    materials: Materials
    constructions: list[Construction] = Field(min_length=1)
    design: Design
    presentation: str = Field(
        default="sentence_pair", description='a registered name, or "module:Class" of your own'
    )
    trial: Trials = Field(default=Trials())
    exclusion: list[Rule] = Field(default=[])
    questionnaire: list[Question] = Field(default=[])
    recruitment: Recruitment | None = Field(
        default=None, description="on what terms it is offered on a paying platform"
    )
    payment: Payment = Field(default=Payment())
    simulation: Simulation

    @property
    def name(self) -> str:
        """The study's name, also its folder's."""
        return self.study.name

    @property
    def grammar_path(self) -> Path:
        """The grammar's file."""
        return self.folder / self.materials.grammar

    @property
    def materials_path(self) -> Path:
        """The file that the items come from: the grammar's, or that of ready items."""
        return self.folder / (self.materials.grammar or self.materials.items)

    @property
    def published_path(self) -> Path:
        """The published results that stand beside a run's own (may be absent)."""
        return self.folder / PUBLISHED_FILE

    def text(self, page: str) -> str:
        """Return a page's Markdown (consent, instructions or debrief)."""
        return self.read(f"texts/{self.study.language}/{page}.md")

    def read(self, name: str) -> str:
        """Return the text of a file, named by its path in the study's folder.

        Raises:
            FileNotFoundError: There is no such file.
        """
        if self.files is None:
            return (self.folder / name).read_text(encoding="utf-8")
        if name not in self.files:
            raise FileNotFoundError(name)
        return self.files[name].decode().replace("\r\n", "\n")
