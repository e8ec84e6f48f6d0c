"""The editions of a study's pages: who is dealt another level may read and answer other things."""

from typing import NamedTuple

from experiment.studies.study import Study


class Editions(NamedTuple):
    """A study as the participants of its lists meet it.

    Attributes:
        studies: Each edition once; lists without a wording of their own share the first one.
        of_list: The number of each list's edition, from 0.
    """

    studies: list[Study]
    of_list: list[int]


def editions_of(study: Study) -> Editions:
    """Return a study's editions: one where no level changes the pages, the title or the questions.

    Raises:
        FileNotFoundError: A text of the study is not there.
    """
    known: dict[object, int] = {}
    found = Editions([], [])
    for list_ in range(study.design.n_lists):
        met = study.of_list(list_)
        texts = tuple(met.text(page) for page in met.texts)
        asked = tuple(question.name for question in met.questionnaire)
        number = known.setdefault((met.study.title, texts, asked), len(known))
        if number == len(found.studies):
            found.studies.append(met)
        found.of_list.append(number)
    return found
