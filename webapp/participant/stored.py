"""What is stored of a participant, in the words of the consent page.

The product says it, not the study's author, so that no consent text can forget it. A test counts
the exported columns against it.
"""

from collections.abc import Iterator

from experiment.studies.study import Study
from webapp.language import gettext


def what_is_stored(study: Study, *, known_to_platform: bool) -> Iterator[str]:
    """Yield what is stored of whoever takes part, one sentence each.

    Args:
        study: The study they are asked to take part in.
        known_to_platform: Whether a recruiting platform said who they are.
    """
    yield gettext(
        "A random code in place of your name, and when you came, agreed, came back and finished."
    )
    yield gettext(
        "For each of your choices: what you chose, how long it took, whether by key, mouse or"
        " touch, the size of the page, whether the page was hidden or lost focus meanwhile, and"
        " the time of day."
    )
    yield gettext(
        "Once, of your device: the browser's family (such as Firefox), the screen's refresh rate,"
        " the time zone's offset and the language."
    )
    if study.questionnaire:
        yield gettext("Your answers to the questions at the end.")
    if known_to_platform:
        yield gettext(
            "The code by which the recruiting platform knows you, so that you can be paid. It is"
            " never published."
        )
