"""The different typed answers of a run, as its coders see them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Select
from sqlalchemy.orm import Session

from experiment.coding.normalise import normalise
from experiment.records import Kind, Side
from experiment.responses.base import Arrangement, GivenAnswer, ResponseType
from experiment.responses.registry import response_of
from experiment.responses.typed.fluency import Fluency
from experiment.responses.typed.text import GAP_SEPARATOR
from experiment.studies.study import Study
from webapp.database.models import Run
from webapp.database.models.identity import sealer_of
from webapp.sessions.measurements import read_details
from webapp.sessions.run_lists import ShownTrial
from webapp.sessions.session_payload import shown_trial

_ROWS_AT_A_TIME = 2_000
_SEPARATOR = "\x1f"
Key = tuple[str, str, str]


@dataclass(slots=True)
class DistinctAnswer:
    """An answer that at least one participant typed, coded once.

    Attributes:
        key: The item, its version with the gap, and the normalised answer; if coders see no texts,
            the answer alone.
        digests: Its keyed digests under every key of the installation; the last is the newest.
        trial: The text that it answers, as shown.
        gap: The number of the gap that it fills, from 1.
        given: Where it was given: participants, positions, and gaps or places in lists.
        typed: How often each form of it was typed.
    """

    key: Key
    digests: tuple[str, ...]
    trial: ShownTrial
    gap: int = 1
    given: list[tuple[str, int, int]] = field(default_factory=list)
    typed: Counter[str] = field(default_factory=Counter)

    @property
    def answer(self) -> str:
        """The normalised answer."""
        return self.key[2]

    @property
    def digest(self) -> str:
        """The digest by which new codes are stored."""
        return self.digests[-1]

    @property
    def form(self) -> str:
        """The form that most people typed."""
        return min(self.typed, key=lambda text: (-self.typed[text], text))


def name_version(version: str, gap: int) -> str:
    """Return the name of a version for the answers to one of its gaps."""
    return f"{version}, gap {gap}" if gap > 1 else version


def _split_answers(response: ResponseType, typed: str) -> Iterator[tuple[int, int, str]]:
    """Yield the number, the gap and the text of each answer: of a gap, or an entry of a list."""
    has_gaps, is_list = int(getattr(response, "gaps", 1)) > 1, isinstance(response, Fluency)
    texts = typed.split(GAP_SEPARATOR) if has_gaps or is_list else [typed]
    for number, text in enumerate(texts, start=1):
        if text:
            yield number, 1 if is_list else number, text


def list_answers(
    session: Session, run: Run, study: Study, query: Select[Any]
) -> Mapping[str, DistinctAnswer]:
    """Return the answers to be coded, by digest; answers to catch trials are not coded.

    Args:
        session: A reading session.
        run: The run.
        study: Its study, which declares a coding.
        query: Participant, trial, stored item and response of each answer that may be used.
    """
    response, show_text = response_of(study), study.coding is None or study.coding.show_text
    sealer = sealer_of(session.get_bind().dialect)
    answers: dict[Key, DistinctAnswer] = {}
    with session.execute(query.execution_options(yield_per=_ROWS_AT_A_TIME)) as result:
        for person, trial, item, stored in result:
            details = read_details(stored.steps)
            typed = str((details or {}).get("text", ""))
            if item["kind"] == Kind.CATCH or not typed:
                continue
            side = Side(trial.good_side) if trial.good_side else None
            arrangement = Arrangement(side, tuple((trial.options or "").split()), trial.points)
            scored = response.score_answer(arrangement, GivenAnswer(details=details))
            item_id, version = str(item["item_id"]), str(scored.version)
            for number, gap, text in _split_answers(response.of_options(trial.options), typed):
                place = item_id, name_version(version, gap)
                key = (*place, normalise(text)) if show_text else ("", "", normalise(text))
                if key not in answers:
                    digests = sealer.digests(_SEPARATOR.join((run.ref, *key)))
                    shown = shown_trial(study, 1, item, trial.good_side, trial.options)
                    answers[key] = DistinctAnswer(key, tuple(digests), shown, gap)
                answers[key].given.append((person, trial.position, number))
                answers[key].typed[text] += 1
    return {answer.digest: answer for answer in answers.values()}
