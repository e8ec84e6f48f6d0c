"""Published results for comparison with a run's own results."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiment.errors import StudyError, why_unread
from experiment.plugins import unknown_name
from experiment.studies.study import PUBLISHED_FILE, STUDY_FILE, Study
from experiment.tables.column import Column, TableSchema
from experiment.tables.files import parse_table
from experiment.untrusted import read_toml

PUBLISHED = TableSchema(
    "published",
    "Accuracies as a publication prints them.",
    ("table", "construction", "condition", "judge"),
    (
        Column("table", "string", "the table of the publication, as a short name"),
        Column("construction", "string", "the construction in study.toml"),
        Column("condition", "string", "the condition; empty for the whole construction"),
        Column("judge", "string", "who judged: people, or a model's short name"),
        Column("accuracy", "number", "proportion of expected choices, from 0 to 1"),
        Column("source", "string", "where it is printed"),
        Column("note", "string", "what to know about the figure; may be empty"),
    ),
)


@dataclass(frozen=True, slots=True)
class Published:
    """One published accuracy; the attributes are the columns of ``PUBLISHED``."""

    table: str
    construction: str
    condition: str
    judge: str
    accuracy: float
    source: str
    note: str


def read_published(study: Study) -> list[Published]:
    """Return the study's published results; empty if it has no published.csv.

    Results for constructions that study.toml has but this study object lacks are ignored: an
    analysis may be restricted to targets or to one task.

    Raises:
        TableError: The file lacks a column or has a value of the wrong type.
        StudyError: A row names an unknown construction, repeats another or has an invalid
            proportion.
    """
    try:
        text = study.read(PUBLISHED_FILE)
    except FileNotFoundError:
        return []
    except (UnicodeDecodeError, OSError) as error:
        raise StudyError(
            f"the published results cannot be read ({why_unread(error)})",
            where=str(study.published_path),
            expected="a text table in UTF-8",
        ) from error
    return list(_checked_rows(study, text))


def _checked_rows(study: Study, text: str) -> Iterator[Published]:
    constructions = [construction.name for construction in study.constructions]
    seen_keys: set[tuple[str, ...]] = set()
    declared = _declared_constructions(study)
    for number, row in enumerate(parse_table(PUBLISHED, text, study.published_path), start=1):
        location = f"{study.published_path}, row {number}"
        published = Published(**row)  # type: ignore[arg-type]
        if published.construction not in constructions:
            if published.construction in declared:
                continue
            unknown = unknown_name("construction", published.construction, constructions)
            raise StudyError(
                unknown.problem, where=location, expected=unknown.expected, remedy=unknown.remedy
            )
        if not 0 <= published.accuracy <= 1:
            raise StudyError(
                f"the accuracy {published.accuracy} is not a proportion",
                where=location,
                expected="a number from 0 to 1",
            )
        key = tuple(str(row[name]) for name in PUBLISHED.primary_key)
        if key in seen_keys:
            raise StudyError(f"the row repeats {', '.join(filter(None, key))}", where=location)
        seen_keys.add(key)
        yield published


def _declared_constructions(study: Study) -> set[str]:
    """Return every construction in the study's own file."""
    try:
        # Editors on Windows write a byte order mark, which TOML does not allow.
        text = study.read(STUDY_FILE).removeprefix("\ufeff")
    except FileNotFoundError:
        return set()
    return {str(table.get("name")) for table in read_toml(text).get("constructions", [])}
