"""Sections of a report."""

from enum import StrEnum


class Section(StrEnum):
    """The headings for tables and figures, in the order of the report."""

    COMPARISONS = "Comparisons"
    PARTICIPANTS = "Participants"
    ANSWERS = "Answers"
    RATINGS = "Ratings"
    READING = "Reading"
    ACCURACY = "Accuracy"
    TAKERS = "Models that took the session"
    OVER_TIME = "Models over time"
    SEEN = "Seen before?"
    AGREEMENT = "Are the errors the same errors?"
    MIXED_MODEL = "Mixed model"
    PEOPLE = "People"
    EXCLUSIONS = "Exclusions"
    WORDS = "Words"
    CURVES = "Word by word"
    METRICS = "Models' metrics"
    BASELINE = "Human baseline"
    SUPPLEMENT = "Supplement"
