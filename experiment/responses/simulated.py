"""Answers of simulated participants to a study's trials and questions."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence

from experiment.errors import StudyError
from experiment.responses.base import GivenAnswer, Known, ResponseType
from experiment.responses.responders import accuracy_of, load_responder, reaction_time_ms
from experiment.studies.published import read_published
from experiment.studies.question import BETWEEN_CHOICES, Question
from experiment.studies.study import Study

_UNPUBLISHED_ACCURACY = 0.9


def find_expected_accuracy(study: Study) -> Callable[[str, str], float]:
    """Return the accuracy of attentive participants for a construction and a condition."""
    published = read_published(study)
    look_up = accuracy_of(published)
    published_constructions = {row.construction for row in published if row.judge == "people"}
    return lambda construction, condition: (
        look_up(construction, condition)
        if construction in published_constructions
        else _UNPUBLISHED_ACCURACY
    )


def list_accepted_answers(rules: Iterable[object]) -> Mapping[str, Sequence[str]]:
    """Return the answers to questions for which exclusion rules keep a participant, by question."""
    answers: dict[str, Sequence[str]] = {}
    for rule in rules:
        answers |= getattr(rule, "right_answers", {})
    return answers


def simulate_answer(
    study: Study,
    response: ResponseType,
    responder_name: str,
    known: Known,
    options: Sequence[str],
    rng: random.Random,
) -> tuple[GivenAnswer, float | None]:
    """Return a simulated participant's answer to a trial, and its reaction time in milliseconds.

    Args:
        study: The study, for its typical reaction time.
        response: The session's type of response.
        responder_name: The participant's way of answering.
        known: What the participant knows about the item.
        options: The texts on the screen.
        rng: The random generator.

    Raises:
        StudyError: The responder cannot answer trials of this type.
    """
    response, responder = response.of_item(known.item), load_responder(responder_name)
    if not hasattr(responder, response.responder_method):
        raise StudyError(
            f'the responder "{responder_name}" cannot answer trials of the type "{response.name}"',
            expected=f'a responder with the method "{response.responder_method}"',
        )
    answer = response.simulate(responder, known, options, rng)
    typical_ms = study.simulation.median_rt_ms or response.typical_rt_ms
    took_ms = round(reaction_time_ms(rng, response.limit_time(typical_ms)), 1)
    return answer, answer.steps.total_ms if answer.steps else took_ms


def draw_reply(question: Question, accepted: Sequence[str], rng: random.Random) -> str:
    """Return an accepted answer to a question if there is one, otherwise a random one."""
    offered = {option.strip().casefold(): option for option in question.offered}
    for answer in accepted:
        if not offered:
            return answer
        if answer.strip().casefold() in offered:
            return offered[answer.strip().casefold()]
    match question.type:
        case "choice" | "scale":
            return rng.choice(question.offered)
        case "choices":
            fewest, most = question.fewest or 1, question.most or len(question.options)
            some = rng.sample(range(len(question.options)), rng.randint(fewest, most))
            return BETWEEN_CHOICES.join(question.options[n] for n in sorted(some))
        case "slider":
            low, high, step = question.numbers
            return f"{low + step * rng.randint(0, int((high - low) / step)):g}"
        case "number":
            return str(rng.randint(18, 80))
        case _:
            return "simulated" if question.required else ""
