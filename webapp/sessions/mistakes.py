"""What participants are told about an answer that must be mended."""

from experiment.studies.question import LONGEST_TEXT, Mistake, Question
from webapp.core.i18n import gettext


def said_of(question: Question, mistake: Mistake) -> str:
    """Return what is said of a mistake, in the language of the page."""
    low, high, _ = question.numbers
    sentences = {
        Mistake.REQUIRED: lambda: gettext("Please answer this question."),
        Mistake.CHOICE: lambda: gettext("Please choose one of the answers."),
        Mistake.FEWER: lambda: gettext(
            "Number of answers to choose, at least: %(number)s.", number=question.fewest
        ),
        Mistake.MORE: lambda: gettext(
            "Number of answers to choose, at most: %(number)s.", number=question.most
        ),
        Mistake.NUMBER: lambda: gettext("Please give a number, such as 7 or 7.5."),
        Mistake.RANGE: lambda: gettext(
            "Please give a number from %(low)s to %(high)s.", low=f"{low:g}", high=f"{high:g}"
        ),
        Mistake.LONGEST: lambda: gettext(
            "Please write at most %(number)s characters.", number=LONGEST_TEXT
        ),
    }
    return sentences[mistake]()


def every_word(question: Question) -> dict[str, str]:
    """Return what is said of each mistake that an answer to a question may have, by its name."""
    return {mistake.value: str(said_of(question, mistake)) for mistake in Mistake}
