"""What columns of the items were called in the researcher's own table: said, and checked."""

from collections.abc import Iterator

from experiment.authoring.findings import Examined, placed
from experiment.errors import ParallaxError
from experiment.materials.formats.columns import NAMES, in_quotes
from experiment.plugins import unknown_name
from experiment.studies.study import Study


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


# What a name of ours that is no column of the items says.
_OURS = {
    "item": "the item's number (frame)",
    "sentence": "the sentence",
    "version": "which sentence of a pair is the good one",
}
