"""The table ``coding`` of study.toml: the categories of typed answers, and the coders' training."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from experiment.coding.normalise import normalise
from experiment.errors import find_repeated

# Coders choose by the number keys 1 to 9.
MOST_CATEGORIES = 9


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Category(_Table):
    """One category of answers."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$", description="the category's name in exports and comparisons"
    )
    title: str = Field(min_length=1, max_length=100, description="the category as coders read it")
    answers: list[str] = Field(
        default=[], description="answers that always have this category, so that nobody codes them"
    )


class TrainingAnswer(_Table):
    """An answer with its right category, which every coder codes first."""

    answer: str = Field(min_length=1, max_length=1000, description="the answer")
    category: str = Field(description="the name of its right category")
    text: str = Field(default="", description="the text that it answers, if coders see texts")


class Coding(_Table):
    """How people code the typed answers."""

    question: str = Field(min_length=1, description="the question that coders answer")
    show_text: bool = Field(
        default=True,
        description="whether coders see the text with its answer; without it, equal answers to "
        "different texts are coded once",
    )
    repeated: float = Field(
        default=0.1, ge=0, le=0.5, description="the share of answers that each coder codes twice"
    )
    categories: list[Category] = Field(
        min_length=2, max_length=MOST_CATEGORIES, description="the categories, from key 1"
    )
    training: list[TrainingAnswer] = Field(
        default=[], description="the answers that coders code first, with feedback"
    )

    @model_validator(mode="after")
    def _check_categories(self) -> Self:
        names = [category.name for category in self.categories]
        titles = [" ".join(each.title.split()).casefold() for each in self.categories]
        for key, texts in (("name", names), ("title", titles)):
            if repeated := find_repeated(texts):
                raise ValueError(f'each {key} once among the categories, unlike "{repeated[0]}"')
        category_by_answer: dict[str, str] = {}
        for category in self.categories:
            for answer in map(normalise, category.answers):
                other = category_by_answer.setdefault(answer, category.name)
                if other != category.name:
                    raise ValueError(
                        f'each answer in one category, unlike "{answer}" in {other} and '
                        f"{category.name}"
                    )
        for example in self.training:
            if example.category not in names:
                raise ValueError(
                    f"one of the categories {', '.join(names)} for the training answer "
                    f'"{example.answer}", unlike "{example.category}"'
                )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The categories' names, in their order."""
        return tuple(category.name for category in self.categories)
