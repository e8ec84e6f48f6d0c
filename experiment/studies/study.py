"""The model of ``study.toml``: all tables and keys of a study, with their meanings."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    PrivateAttr,
    field_validator,
    model_validator,
)

from experiment.coding.categories import Coding
from experiment.money import DEFAULT_CURRENCY, minor_units
from experiment.panels.panel import Panel
from experiment.studies.analysis_plan import Analysis, Comparison
from experiment.studies.design import Design, holds
from experiment.studies.humanness import Humanness
from experiment.studies.privacy import Consent, Oversight, ParticipationTerms, Privacy
from experiment.studies.publication import Baseline, Publication
from experiment.studies.question import Attention, Comprehension, FinalQuestion, ScreeningQuestion
from experiment.studies.recruitment import Recruitment
from experiment.studies.stopping import Stopping
from experiment.studies.toml_values import (
    Amount,
    TextOrTexts,
    Texts,
    checked_amount,
    checked_currency,
    with_amounts,
)

PAGES = ("consent", "instructions", "debrief")
STUDY_FILE, PUBLISHED_FILE, PLAN_FILE = "study.toml", "published.csv", "plan.json"
# The former name of the key ``response``.
EARLIER_RESPONSE = "presentation"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class About(_Table):
    """Who and what the study is."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="the folder's name")
    title: str = Field(min_length=1, description="the title that participants and tables show")
    version: str = Field(
        min_length=1, description="the study's version, which changes whenever the materials change"
    )
    language: str = Field(
        pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$",
        description="the language of the materials, a BCP 47 tag such as en or pt-BR",
    )
    citation: str = Field(default="", description="how to cite the study")
    contact: str = Field(default="", description="the contact for participants: a name and address")
    institution: str = Field(default="", description="the institution responsible for the study")
    ethics: str = Field(default="", description="the ethics committee's reference, or why none")

    @property
    def unnamed(self) -> tuple[str, ...]:
        """The keys that participants must be able to read, and that are empty."""
        return tuple(
            key for key in ("contact", "institution", "ethics") if not getattr(self, key).strip()
        )


class Materials(_Table):
    """Where the items come from and how they are rendered."""

    grammar: str = Field(default="", description="the grammar's file in the study folder")
    items: str = Field(
        default="", description="a file of ready items in the study folder, in place of a grammar"
    )
    shown_to_people: str = Field(
        default_factory=lambda given: "as_written" if given.get("items") else "sentence_case",
        description="the rendering on participants' screens",
    )
    given_to_models: str = Field(
        default="lower_case_tokens",
        description="the rendering that word-level models score; others get shown_to_people",
    )

    headers: dict[str, TextOrTexts] = Field(
        default={},
        description="column of the items = its header in your own table, or a list of headers; "
        "checks and the codebook show it",
    )

    @model_validator(mode="after")
    def _require_one_source(self) -> Self:
        if bool(self.grammar) == bool(self.items):
            raise ValueError("the items come from one file: give either grammar or items, not both")
        return self


class Construction(_Table):
    """A row of the results table."""

    name: str = Field(description="the construction's name in the grammar's templates")
    title: str = Field(description="the construction's name in printed tables")
    group: str = Field(default="", description="the heading above the construction's row")
    published_sentences: PositiveInt | None = Field(
        default=None, description="the number of sentences printed in the paper"
    )


class Trials(_Table):
    """How trials are shown, whatever they ask for."""

    keys: Texts = Field(
        default=("1", "2"),
        min_length=2,
        description="the keys that choose the first option, the second, and so on",
    )
    lockout_ms: int = Field(
        default=150, ge=0, le=5000, description="how long presses do not count in a new trial, ms"
    )
    gap_ms: int = Field(
        default=0, ge=0, le=10_000, description="the blank interval before each trial, ms"
    )
    fixation: str = Field(
        default="", max_length=20, description="what is shown during the interval, such as +"
    )
    break_every: int = Field(
        default=0, ge=0, description="the number of trials between break pages; 0 for no breaks"
    )
    practice: str = Field(default="", description="the file of the practice trials")
    font: str = Field(
        default="system",
        pattern=r"^(system|noto|[\w./-]+\.woff2)$",
        description="the font: the reader's own (system), noto, or a .woff2 file in the study",
    )
    parameters: dict[str, object] = Field(
        default={}, description="the parameters of the response type"
    )

    @field_validator("keys")
    @classmethod
    def _check_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        if any(len(key) != 1 or not key.isprintable() or key.isspace() for key in keys):
            raise ValueError("a key is one printable character, such as 1 or f")
        if len({key.lower() for key in keys}) < len(keys):
            raise ValueError("two keys are the same, but they must differ")
        return keys


class Rule(BaseModel):
    """An exclusion rule and its parameters, which the rule itself checks."""

    model_config = ConfigDict(extra="allow", frozen=True)
    rule: str = Field(description="the rule's registered name")


class Payment(_Table):
    """What participants get besides the reward for taking part."""

    bonus: Literal["none", "everyone", "kept", "per_correct_catch_trial"] = Field(
        default="none",
        description="who gets a bonus: nobody, everyone who finished, everyone who is kept, or "
        "one bonus per correct catch trial",
    )
    bonus_amount: Amount = Field(
        default="0", description='the amount of one bonus, such as "0.50"; only with a bonus'
    )
    currency: Annotated[str, AfterValidator(checked_currency)] = Field(
        default=DEFAULT_CURRENCY,
        description="the currency of every amount of the study, an ISO 4217 code",
    )
    bonus_reason: str = Field(
        default="Thank you for taking part.",
        min_length=1,
        max_length=1000,
        description="the reason for the bonus, for the participant",
    )
    funder: str = Field(
        default="",
        max_length=200,
        description="the funder, for the statement; participants do not see it",
    )

    @model_validator(mode="after")
    def _check_bonus(self) -> Self:
        if (self.bonus == "none") != (checked_amount(self.bonus_amount, self.currency) == 0):
            raise ValueError("bonus and bonus_amount belong together: give both or neither")
        return self

    @property
    def bonus_minor(self) -> int:
        """The bonus, in minor units of the currency."""
        return minor_units(self.bonus_amount, self.currency)


class Simulation(_Table):
    """Who the simulated participants are."""

    mix: dict[str, float] = Field(description="responder name -> share; the shares sum to 1")
    median_rt_ms: float | None = Field(
        default=None, gt=0, description="a typical reaction time, ms; by default the type's"
    )


class Study(_Table):
    """A study folder, read and checked."""

    folder: Path = Field(description="the folder that the study was read from")
    files: Mapping[str, bytes] | None = Field(
        default=None,
        repr=False,
        description="the contents of the study's files when it was frozen, by name",
    )
    study: About
    materials: Materials
    constructions: list[Construction] = Field(min_length=1)
    design: Design
    response: str = Field(
        default="sentence_pair",
        description='the type of response: a registered name, or "module:Class" of your own',
    )
    trial: Trials = Field(default=Trials())
    exclusion: list[Rule] = Field(default=[])
    screening: list[ScreeningQuestion] = Field(default=[])
    comprehension: Comprehension | None = Field(
        default=None, description="questions on the instructions, before the first trial"
    )
    attention: Attention | None = Field(
        default=None, description="when errors on catch trials end a session"
    )
    questionnaire: list[FinalQuestion] = Field(default=[])
    taking_part: ParticipationTerms = Field(default=ParticipationTerms())
    recruitment: Recruitment | None = Field(
        default=None, description="the terms on which a paying platform offers the study"
    )
    panel: Panel | None = Field(
        default=None, description="the links from and back to a participant panel"
    )
    payment: Payment = Field(default=Payment())
    privacy: Privacy = Field(default=Privacy())
    oversight: Oversight = Field(default=Oversight())
    consent: Consent = Field(default=Consent())
    humanness: Humanness | None = Field(
        default=None, description="trials that people and programs are known to answer differently"
    )
    coding: Coding | None = Field(default=None, description="how people code typed answers")
    comparisons: list[Comparison] = Field(default=[], description="the study's questions")
    stopping: Stopping | None = Field(default=None, description="the rule by which the study stops")
    analysis: Analysis = Field(default=Analysis())
    publication: Publication = Field(default=Publication())
    baseline: Baseline = Field(default=Baseline())
    simulation: Simulation
    _pages: Mapping[str, str] = PrivateAttr(default={})

    @model_validator(mode="after")
    def _check_questions(self) -> Self:
        question_names = [question.name for question in (*self.screening, *self.questionnaire)]
        for name in self.privacy.identifying_questions:
            if name not in question_names:
                raise ValueError(
                    f'privacy.identifying_questions names "{name}", but there is no such question;'
                    f" the questions are {', '.join(question_names) or 'none'}"
                )
        return self

    @model_validator(mode="before")
    @classmethod
    def _accept_former_name(cls, tables: object) -> object:
        """Accept the response type under the key's former name."""
        if not isinstance(tables, Mapping) or EARLIER_RESPONSE not in tables:
            return tables
        if "response" in tables:
            raise ValueError("response and presentation are two names of one key; give response")
        other_tables = {key: value for key, value in tables.items() if key != EARLIER_RESPONSE}
        return other_tables | {"response": tables[EARLIER_RESPONSE]}

    @model_validator(mode="before")
    @classmethod
    def _convert_amounts(cls, tables: object) -> object:
        return with_amounts(tables)

    @model_validator(mode="after")
    def _check_amounts(self) -> Self:
        if (terms := self.recruitment) is not None:
            reward = self._amount("reward", terms.reward)
            screened_out = self._amount("screen_out_reward", terms.screen_out_reward or "0")
            if reward == 0:
                raise ValueError(
                    "recruitment.reward must be more than 0, because everyone who finishes is paid"
                )
            if screened_out >= reward:
                raise ValueError("recruitment.screen_out_reward is not less than the reward")
        return self

    def _amount(self, key: str, amount: str) -> int:
        try:
            return checked_amount(amount, self.currency)
        except ValueError as error:
            raise ValueError(f"recruitment.{key}: {error}") from error

    @property
    def currency(self) -> str:
        """The ISO 4217 code of the study's currency."""
        return self.payment.currency

    @property
    def reward_minor(self) -> int:
        """The reward for everyone who finishes, in minor units; 0 if the study pays nobody."""
        return minor_units(self.recruitment.reward, self.currency) if self.recruitment else 0

    @property
    def screen_out_minor(self) -> int:
        """The pay for participants who are screened out, in minor units; 0 if they are not paid."""
        reward = self.recruitment.screen_out_reward if self.recruitment else None
        return minor_units(reward, self.currency) if reward else 0

    @property
    def withdrawn_minor(self) -> int:
        """The pay for participants who withdraw, in whole minor units; 0 if a person decides."""
        percent = self.recruitment.withdrawn_percent if self.recruitment else None
        return self.reward_minor * (percent or 0) // 100

    @property
    def asks_before_start(self) -> bool:
        """Whether participants answer questions before they get a place (participant slot)."""
        return bool(self.screening or self.comprehension or self.taking_part.assent)

    @property
    def texts(self) -> tuple[str, ...]:
        """The pages that have a text of the study's own."""
        return (*PAGES, "assent") if self.taking_part.assent else PAGES

    @property
    def name(self) -> str:
        """The name of the study and of its folder."""
        return self.study.name

    @property
    def grammar_path(self) -> Path:
        """The path of the grammar."""
        return self.folder / self.materials.grammar

    @property
    def materials_path(self) -> Path:
        """The path of the items' source: the grammar, or a table of items."""
        return self.folder / (self.materials.grammar or self.materials.items)

    @property
    def published_path(self) -> Path:
        """The path of the published results for comparison with a run's own (may not exist)."""
        return self.folder / PUBLISHED_FILE

    def text(self, page: str) -> str:
        """Return a page's Markdown (consent, instructions or debrief)."""
        return self.read(f"texts/{self.study.language}/{self._pages.get(page, page)}.md")

    def of_list(self, list_: int | None) -> Self:
        """Return the study with the title, pages and questions of one list's participants.

        Args:
            list_: The list; None for a participant without a list.
        """
        if list_ is None or not self.design.factors:
            return self
        levels = self.design.levels(list_)
        wording = [entry for entry in self.design.wording if holds(entry.when, levels)]
        title = next((entry.title for entry in wording if entry.title), self.study.title)
        questions = [entry for entry in self.questionnaire if holds(entry.when, levels)]
        changed = {
            "study": self.study.model_copy(update={"title": title}),
            "questionnaire": questions,
        }
        study = self.model_copy(update=changed)
        study._pages = {page: text for entry in wording for page, text in entry.pages.items()}
        return study

    def read(self, name: str) -> str:
        """Return the text of a file, given by its path in the study's folder.

        Raises:
            FileNotFoundError: The file does not exist.
        """
        return self.read_bytes(name).decode().replace("\r\n", "\n")

    def read_bytes(self, name: str) -> bytes:
        """Return the content of a file, given by its path in the study's folder.

        Raises:
            FileNotFoundError: The file does not exist.
        """
        if self.files is None:
            return (self.folder / name).read_bytes()
        # Stored files have normalised paths: "./font.woff2" is "font.woff2".
        path = PurePosixPath(name).as_posix()
        if path not in self.files:
            raise FileNotFoundError(name)
        return self.files[path]
