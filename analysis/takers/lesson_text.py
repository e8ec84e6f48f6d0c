"""Training text of prompts with right answers, from which a small model learns to answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from tqdm import tqdm

from experiment.authoring.check import require_sound
from experiment.errors import StudyError
from experiment.materials.render import render, split_lower_case_tokens, split_tokens
from experiment.records import PAIR, Item, Kind, ListEntry, Trial
from experiment.responses.base import GivenAnswer
from experiment.seeds import generator
from experiment.studies.study import Study
from experiment.takers.prompt import LABEL_SETS, Ask, Context, Prompter, Way
from experiment.takers.readings.base import READINGS, Reading, Situation, load_reading
from experiment.takers.session import Screens, TakerTrial
from lm.text.generated import write_described

# Relative frequency of each context: instructions are long and always the same.
_CONTEXTS = {
    Context.ZERO_SHOT: 100,
    Context.INSTRUCTIONS: 1,
    Context.PRACTICE: 1,
    Context.HISTORY: 2,
}
# The most earlier trials that a prompt with a history shows.
_MOST_EARLIER = 6
# Log-probabilities, in nats, of the assumed reply and of the other answers.
_SAID, _NOT_SAID = 0.0, -9.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt and its error-free answer."""

    ask: Ask
    answer: str


class Lessons:
    """Draws prompts about items of a study that are in none of its lists.

    Args:
        screens: Prepares trials.
        prompter: Writes the prompts.
        readings: The prompted readings to draw from.
        items: The items to draw from, which are pairs.
        rng: The random generator.

    Raises:
        StudyError: There are too few items, or no item has a right answer.
    """

    def __init__(
        self,
        screens: Screens,
        prompter: Prompter,
        readings: Sequence[Reading],
        items: Sequence[Item],
        rng: Random,
    ) -> None:
        self._screens, self._prompter, self._readings = screens, prompter, readings
        self._items, self._rng = items, rng
        if len(items) <= _MOST_EARLIER:
            raise StudyError(
                f"{len(items)} items are in none of the study's lists, too few for the examples "
                "in prompts",
                expected="a study with a grammar, which gives more items than its lists take",
            )

    def draw(self) -> Iterator[Lesson]:
        """Yield the prompts of randomly drawn trials and ways of asking, without end."""
        while True:
            reading = self._rng.choice(self._readings)
            trials = [self._trial(item) for item in self._rng.sample(self._items, _MOST_EARLIER)]
            allowed = [
                context_ for context_ in _CONTEXTS if not reading.refusal(trials[0].form, context_)
            ]
            [context] = self._rng.choices(allowed, [_CONTEXTS[context_] for context_ in allowed])
            way = Way(context, self._rng.choice(list(LABEL_SETS)), self._rng.random() < 0.5)
            n_earlier = self._rng.randrange(_MOST_EARLIER) if context.has_session else 0
            *earlier_trials, last = trials[: n_earlier + 1]
            situation = Situation(
                way,
                self._prompter,
                self._prompter.instructions,
                [(trial, self._right(trial)) for trial in earlier_trials],
            )
            yield from make_lessons(reading, last, situation, self._right(last))

    def verdicts(self) -> Iterator[Lesson]:
        """Yield yes/no questions whether a text is acceptable, with answers, without end.

        Labels obscure the task: the same text is right under one label and, in the other order,
        under another. Here each text has one answer, so that a model learns acceptability sooner.
        """
        words = self._prompter.words
        question = f"{words.accept.partition('?')[0].rstrip()}?"
        while True:
            trial = self._trial(self._rng.choice(self._items))
            right = trial.answers.index(self._right(trial))
            index = self._rng.randrange(len(trial.shown.options))
            text = f"{trial.shown.prefix} {trial.shown.options[index]}".strip()
            single = len(trial.shown.options) == 1
            good = right == 0 if single else index == right
            answers = (words.yes, words.no)
            yield Lesson(Ask(f"{question} {text}", answers), answers[0] if good else answers[1])

    def _trial(self, item: Item) -> TakerTrial:
        trial = Trial(1, item.item_id, Kind.TARGET, self._rng.choice(PAIR))
        return self._screens.trial(trial, ListEntry(item, Kind.TARGET))

    def _right(self, trial: TakerTrial) -> GivenAnswer:
        right_answer = self._screens.response.correct_answer(trial.arrangement)
        if right_answer not in trial.answers:
            raise StudyError(
                "the study's trials have no right answer, so prompts cannot contain examples "
                "with answers",
                expected="pairs, completions, or yes and no",
            )
        return right_answer


def make_lessons(
    reading: Reading, trial: TakerTrial, situation: Situation, right: GivenAnswer
) -> Iterator[Lesson]:
    """Yield every prompt of a trial with the answer that most favours the right one.

    Args:
        reading: The reading that writes the prompts.
        trial: The trial.
        situation: The situation in which the trial is asked.
        right: The trial's right answer.
    """
    asks, place = reading.asks(trial, situation), trial.answers.index(right)
    for number, ask in enumerate(asks):

        def weight(answer: str, number: int = number, ask: Ask = ask) -> float:
            logprobs = [[_SAID] * len(ask_or_answer.answers) for ask_or_answer in asks]
            logprobs[number] = [
                _SAID if ask_or_answer == answer else _NOT_SAID for ask_or_answer in ask.answers
            ]
            weights = reading.weights(trial, situation, logprobs)
            # A text in a prompt of its own counts for or against itself.
            answer_place = number if len(asks) > 1 else place
            return weights[answer_place] if answer_place == place else -weights[answer_place]

        yield Lesson(ask, max(ask.answers, key=weight))


# The shares of lines that are right sentences without a prompt, and one-word verdicts.
_SENTENCES, _VERDICTS = 0.2, 0.6
# Weights of readings; others have weight three. Ratings have the longest prompts.
_REPETITIONS = {"rating": 1}
# The maximum per condition, since some conditions have far more items than others.
_MOST_ITEMS = 1_500


def write_lessons(path: Path, study: Study, n: int, seed: int, lists_seed: int) -> str:
    """Write ``n`` lines, and return a description of them.

    Args:
        path: The file to write.
        study: The study.
        n: The number of lines.
        seed: The random seed.
        lists_seed: The seed of the lists; sentences of their items are excluded.

    Raises:
        ParallaxError: The study is invalid, has too few items outside its lists, or has no right
            answers.
        LmError: The file cannot be written.
    """
    rng = generator(seed, "lessons")
    items = _items_outside_lists(study, lists_seed, rng)
    lines = tqdm(
        islice(_lesson_lines(study, items, rng), n),
        desc="Writing",
        total=n,
        unit=" lines",
        disable=None,
    )
    words = (
        f'prompts with right answers about items of "{study.name}" that are in none of its lists '
        f"({n:,} lines, seed {seed}; {100 * _SENTENCES:.0f}% are sentences alone, "
        f"{100 * _VERDICTS:.0f}% verdicts of yes or no)"
    )
    about = {"description": words, "study": study.name, "lines": n, "seed": seed}
    write_described(path, lines, lambda sha256: {**about, "text_sha256": sha256})
    return words


def _items_outside_lists(study: Study, lists_seed: int, rng: Random) -> list[Item]:
    """Return items of every condition that share no sentence with any list."""
    sound = require_sound(study, lists_seed)
    list_texts = {
        text
        for entries in sound.built.lists
        for entry in entries
        for text in _list_sentences(entry.item)
    }
    of_condition: dict[tuple[str, str], list[Item]] = {}
    for item in sound.items:
        if not list_texts & _list_sentences(item):
            of_condition.setdefault((item.construction, item.condition), []).append(item)
    return [
        item
        for items in of_condition.values()
        for item in (rng.sample(items, _MOST_ITEMS) if len(items) > _MOST_ITEMS else items)
    ]


def _list_sentences(item: Item) -> set[str]:
    texts = (item.good, item.bad, item.distractor)
    return {item.after_context(text) for text in texts if text}


def _lesson_lines(study: Study, items: list[Item], rng: Random) -> Iterator[str]:
    to_model = render(study.materials.given_to_models)
    screens = Screens(study, render(study.materials.shown_to_people), to_model)
    lessons = Lessons(screens, Prompter(study, screens), _weighted_readings(), items, rng)
    verdicts, prompts = lessons.verdicts(), lessons.draw()
    cased = to_model("A") != to_model("a")
    write = split_tokens if cased else split_lower_case_tokens
    while True:
        draw = rng.random()
        if draw < _SENTENCES:
            item = rng.choice(items)
            yield to_model(item.after_context(item.good))
        else:
            lesson = next(verdicts if draw < _SENTENCES + _VERDICTS else prompts)
            yield f"{write(lesson.ask.prompt)} {write(lesson.answer)}"


def _weighted_readings() -> list[Reading]:
    readings = [load_reading(name) for name in READINGS.built_in]
    return [
        reading
        for reading in readings
        if reading.prompted
        for _ in range(_REPETITIONS.get(reading.name, 3))
    ]
