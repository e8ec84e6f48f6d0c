"""The tables ``publication`` and ``baseline``: information for archives and reviewers."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from experiment.errors import StudyError, why_unread, wrong_keys
from experiment.studies.toml_values import AS_TUPLE, Texts

# TOML dates are converted to texts.
_AS_TEXT = BeforeValidator(lambda value: str(value) if isinstance(value, date) else value)
# Contributor Roles Taxonomy, ANSI/NISO Z39.104-2022.
CreditRole = Literal[
    "Conceptualization",
    "Data curation",
    "Formal analysis",
    "Funding acquisition",
    "Investigation",
    "Methodology",
    "Project administration",
    "Resources", "Software", "Supervision", "Validation", "Visualization",
    "Writing - original draft",
    "Writing - review & editing",
]  # fmt: skip
# The answers to a checklist item, besides figures and texts.
YesNo = Literal["yes", "partial", "no", "not applicable"]


class _PublicationTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Contributor(_PublicationTable):
    """Somebody who made the study or its data."""

    given_name: str = Field(min_length=1, description="the given name")
    family_name: str = Field(min_length=1, description="the family name")
    orcid: str = Field(
        default="",
        pattern=r"^(\d{4}-\d{4}-\d{4}-\d{3}[\dX])?$",
        description="the ORCID iD, such as 0000-0002-1825-0097",
    )
    affiliation: str = Field(default="", description="the institution")
    email: str = Field(default="", description="an address that may be published")
    roles: Annotated[tuple[CreditRole, ...], AS_TUPLE] = Field(
        default=(), description="CRediT roles, as the taxonomy writes them"
    )

    @property
    def name(self) -> str:
        """The full name."""
        return f"{self.given_name} {self.family_name}"


class Publication(_PublicationTable):
    """What archives ask of a data set, besides its files."""

    description: str = Field(
        default="", description="a description of the data, in a few sentences"
    )
    keywords: Texts = Field(default=(), description="search terms for the data")
    license: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9.+-]*$",
        description="the licence of the data: an SPDX identifier, such as CC-BY-4.0",
    )
    contributors: Annotated[tuple[Contributor, ...], AS_TUPLE] = Field(
        default=(), description="who made the study and its data, in the order of authors"
    )
    funding: str = Field(default="", description="the funder of the study, with the grant's number")
    data_availability: str = Field(
        default="", description="where the data are available, or why they are not, in a sentence"
    )
    data_url: str = Field(default="", description="the address of the published data")
    materials_url: str = Field(default="", description="the address of the published materials")
    code_url: str = Field(default="", description="the address of the published analysis")
    date_published: Annotated[str, _AS_TEXT] = Field(
        default="",
        pattern=r"^(\d{4}-\d{2}-\d{2})?$",
        description="the day the data are published, such as 2026-11-30",
    )
    doi: str = Field(
        default="",
        pattern=r"^(10\.\d{4,9}/\S+)?$",
        description="the data's DOI, such as 10.5281/zenodo.1234567",
    )
    preregistration: str = Field(
        default="", description='the address of the preregistration, or "none"'
    )
    paper_title: str = Field(default="", description="the paper's title")
    paper_url: str = Field(default="", description="the paper's address")
    paper_year: int | None = Field(
        default=None, description="the year in which the paper was published"
    )
    paper_venue: str = Field(default="", description="the paper's journal or conference")


class Baseline(_PublicationTable):
    """Answers to the checklist for human baselines that no run can know."""

    eval_type: Texts = Field(
        default=(),
        description="the object of the evaluation: knowledge, capabilities, propensity, agent",
    )
    eval_mode: Texts = Field(default=(), description="the modality: text, visual, audio, other")
    dataset_items: int | None = Field(
        default=None, gt=0, description="the number of items of the whole evaluation"
    )
    sampling_of_items: str = Field(
        default="", description="how the items for people were sampled from all items"
    )
    adjusted_for_both: YesNo | None = Field(
        default=None,
        description="whether instructions and items were adapted to both people and models",
    )
    iterative_design: YesNo | None = Field(
        default=None, description="whether the setup was piloted or validated by experts"
    )
    iterative_design_details: str = Field(
        default="", description="how the setup was piloted or validated"
    )
    effort_controlled: YesNo | None = Field(
        default=None, description="whether people's and models' effort was controlled"
    )
    power_analysis: YesNo | None = Field(
        default=None, description="whether a power analysis set the number of participants"
    )
    minimum_effect: str = Field(
        default="",
        description="the smallest effect that the power analysis can detect, and with what power",
    )
    population: YesNo | None = Field(
        default=None, description="whether a population of interest is named"
    )
    population_criteria: Texts = Field(
        default=(), description="the criteria that define the population, such as language or age"
    )
    sampling_of_people: str = Field(
        default="",
        description="crowdsource, convenience sample, simple or stratified random sample, or other",
    )
    recruitment_criteria: str = Field(
        default="",
        description="criteria by which people were selected before the study, besides its settings",
    )
    author_participants: YesNo | None = Field(
        default=None, description="whether authors took part themselves"
    )
    earlier_exposure_excluded: YesNo | None = Field(
        default=None, description="whether people who knew the items were excluded"
    )
    compensation: str = Field(
        default="",
        description="the compensation of people whom no platform paid, such as course credit",
    )
    training_paid: YesNo | None = Field(default=None, description="whether practice was paid")
    training_pay: str = Field(default="", description="each person's pay for the practice")
    same_interface: YesNo | None = Field(
        default=None, description="whether people and models had the same interface"
    )
    interface_adjusted: YesNo | None = Field(
        default=None, description="whether a difference between the interfaces was adjusted for"
    )
    instructions_adjusted: YesNo | None = Field(
        default=None, description="whether a difference between the instructions was adjusted for"
    )
    same_tools: YesNo | None = Field(
        default=None, description="whether people and models had the same tools"
    )
    tools_enforced: YesNo | None = Field(
        default=None, description="whether a restriction to these tools was enforced"
    )
    ai_tools: str = Field(default="", description="the AI tools that people had, with versions")
    no_data_because: str = Field(
        default="", description="why the data are not public, if they are not"
    )


class AboutFile(_PublicationTable):
    """A separate file with the two tables, for what became known after the launch."""

    publication: Publication = Publication()
    baseline: Baseline = Baseline()


def read_about(path: Path) -> AboutFile:
    """Read a file with one or both of the tables ``publication`` and ``baseline``.

    Raises:
        StudyError: The file cannot be read, or a key or a value is invalid.
    """
    try:
        return AboutFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except ValidationError as error:
        raise StudyError(
            wrong_keys(error),
            where=str(path),
            expected="the keys of [publication] and [baseline] that docs/studies.md lists",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(
            f"the file cannot be read: {why_unread(error)}",
            where=str(path),
            expected="a TOML file with the tables [publication] and [baseline]",
        ) from error
