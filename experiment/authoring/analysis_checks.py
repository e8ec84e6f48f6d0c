"""Checks of what ``[analysis]`` names, and of what a researcher's own table called its columns."""

from collections.abc import Iterator, Sequence

from experiment.authoring.findings import Examined
from experiment.errors import ParallaxError, StudyError, placed
from experiment.materials.formats.columns import NAMES, in_quotes
from experiment.plugins import unknown_name
from experiment.studies.study import Study

# What a name of ours that is no column of the items says.
_OURS = {
    "item": "the item's number (frame)",
    "sentence": "the sentence",
    "version": "which sentence of a pair is the good one",
}


def named(examined: Examined) -> Iterator[ParallaxError]:
    """Yield the factors, covariates and units of the analysis that the study does not have."""
    if not examined.items:
        return
    study, plan = examined.study, examined.study.analysis
    columns = _columns(examined)
    asked = [question.name for question in study.questionnaire]
    where = {key: examined.at("analysis", key) for key in ("factors", "covariates", "repeats")}
    between = list(study.design.factors)
    yield from _unknown("column", plan.factors, [*columns, *between], where["factors"])
    yield from _unknown(
        "column or question", plan.covariates, [*columns, *asked], where["covariates"]
    )
    yield from _unknown("column", [plan.repeats] if plan.repeats else [], columns, where["repeats"])
    for name in plan.covariates:
        if name in study.privacy.identifying_questions:
            yield StudyError(
                f'the answers to "{name}" identify people, so they are erased and cannot be a '
                "covariate",
                where=where["covariates"],
                expected="a question that privacy.identifying_questions does not name",
            )


def _columns(examined: Examined) -> list[str]:
    own = {name for item in examined.items for name, _ in item.extra}
    features = {part.partition("=")[0] for item in examined.items for part in item.features.split()}
    return sorted(own | features)


def _unknown(
    what: str, names: Sequence[str], known: Sequence[str], where: str
) -> Iterator[ParallaxError]:
    for name in names:
        if name not in known:
            yield placed(unknown_name(what, name, known), where)


def headers(examined: Examined) -> Iterator[ParallaxError]:
    """Yield the names in ``materials.headers`` that are no column of ours."""
    for ours in examined.study.materials.headers:
        if ours not in NAMES:
            yield placed(
                unknown_name("column of Parallax", ours, list(NAMES)),
                examined.at("materials", "headers", ours),
            )


def in_words(study: Study) -> str:
    """Return a sentence about each header that was read as a column of ours; empty for none."""
    told = [
        f"{_OURS.get(ours, ours)} from {in_quotes(header)}"
        for ours, header in study.materials.headers.items()
    ]
    return f"Read from your table: {'; '.join(told)}." if told else ""
