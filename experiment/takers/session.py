"""Sessions for model participants, with the lists, sides and orders of human participants."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from experiment.design.lists import BuiltLists
from experiment.design.session import compose, session_number
from experiment.errors import StudyError
from experiment.records import PAIR, SIDES, SPACELESS, Item, ListEntry, Trial, Variant
from experiment.responses.base import Arrangement, GivenAnswer, Gives, ResponseType, Shown
from experiment.responses.registry import response_of
from experiment.studies.study import Study

Render = Callable[[str], str]
# Returns, for the texts before and after a gap, both in a model's form and the model's own words.
Complete = Callable[[str, str], tuple[str, str, Sequence[str]]]


_TYPED = "typed"


class Form(StrEnum):
    """The form of answer that a trial asks for, independent of the response type's name."""

    CHOOSE = "one of several texts"
    ACCEPT = "yes or no about one text"
    RATE = "a point of a scale for one text"
    TYPE = "a word for a gap"


@dataclass(frozen=True, slots=True)
class TakerTrial:
    """One trial of a session, prepared for a model.

    Attributes:
        trial: The trial that a person in this place (participant slot) has.
        entry: The item and its kind in the list.
        form: The form of answer.
        shown: The contents of a person's screen.
        sentences: Each text on the screen as a whole sentence, in the model's own rendering; of a
            gap, the texts before and after it.
        answers: The possible answers: the sides, the points of the scale from the lowest, or the
            model's own words for a gap.
    """

    trial: Trial
    entry: ListEntry
    form: Form
    shown: Shown
    sentences: tuple[str, ...]
    answers: tuple[GivenAnswer, ...]

    @property
    def arrangement(self) -> Arrangement:
        """The trial's arrangement, as response types evaluate it."""
        return Arrangement(self.trial.good_side, self.trial.options, self.trial.points)


@dataclass(frozen=True, slots=True)
class TakerSession:
    """A session: its number, its list and place, and its trials in order."""

    number: int
    list_: int
    place: int
    trials: tuple[TakerTrial, ...]


class Screens:
    """Prepares trials for a model.

    Args:
        study: The study.
        to_people: Renders texts as people read them.
        to_model: Renders sentences for the model.
        complete: Completes texts with a gap; None for a model that cannot.
    """

    def __init__(
        self, study: Study, to_people: Render, to_model: Render, complete: Complete | None = None
    ) -> None:
        self.response = response_of(study)
        several = bool(self.response.named_scales)
        types_words = complete is not None and self.response.name == _TYPED
        reads_steps, has_page = self.response.step_table, self.response.details
        is_chosen = self.response.n_answers and not (reads_steps or has_page)
        if self.response.types or not (is_chosen or types_words) or several:
            raise StudyError(
                f'no model takes sessions of the type "{self.response.name}"',
                where=str(study.folder),
                expected="a session of one task that asks for a choice, a rating, or yes or no",
                remedy="Make a study of each of its tasks, and take those"
                if self.response.types
                else "Make a study of each of its scales, and take those"
                if several
                else "Models on this machine can type words into gaps (the reading completion); "
                "servers cannot"
                if self.response.name == _TYPED
                else "Models cannot take trials with a page of their own, such as sliders; instead "
                'of a slider, take a study with the type "rating"'
                if not reads_steps
                else "For sentences that are read step by step, `parallax reading surprisal` "
                "computes a model's surprisal at each word",
            )
        self._people, self._model, self._complete = to_people, to_model, complete

    def trial(self, trial: Trial, entry: ListEntry) -> TakerTrial:
        """Return a trial with its texts."""
        item, response = entry.item, self.response
        arranged = Arrangement(trial.good_side, trial.options, trial.points)
        shown_item = response.show_arranged(item, arranged, self._people)
        form = form_of(response, shown_item)
        if form is Form.TYPE:
            return self._make_gap_trial(trial, entry, shown_item)
        names = trial.options or _order_pair(item, trial)
        return TakerTrial(
            trial,
            entry,
            form,
            shown_item,
            tuple(self._model(item.after_context(item.version(name))) for name in names),
            _list_answers(form, response, shown_item),
        )

    def _make_gap_trial(self, trial: Trial, entry: ListEntry, shown: Shown) -> TakerTrial:
        """Return a trial with a gap, whose possible answers are the model's own words."""
        if not shown.besides["gap"] or self._complete is None:
            raise StudyError(
                f'the text of the item "{trial.item_id}" has no gap, so that no model can type '
                "an answer",
                expected="three or more underscores in each text",
                remedy="Take a study of the texts with a gap",
            )
        if not {"after2", "picture"}.isdisjoint(shown.besides):
            raise StudyError(
                f'the text of the item "{trial.item_id}" has several gaps or a picture, so that no '
                "model can type an answer",
                expected="one gap in each text, and no picture",
                remedy="Take a study of the other texts",
            )
        around = str(shown.besides["before"]), str(shown.besides["after"])
        if SPACELESS.search(around[0].strip()[-1:] + around[1].strip()[:1]):
            raise StudyError(
                f'the script of the item "{trial.item_id}" has no spaces, so that no model marks '
                "where the words that it would type begin",
                remedy="Compare people's answers with a model's probabilities of them: `parallax "
                "lm completions`",
            )
        before, after, words = self._complete(*around)
        options = " ".join(trial.options)
        answers = [GivenAnswer(details={"text": word}) for word in words]
        allowed = tuple(answer for answer in answers if self.response.accepts(answer, options))
        return TakerTrial(trial, entry, Form.TYPE, shown, (before, after), allowed)


def form_of(response: ResponseType, shown: Shown) -> Form:
    """Return a trial's form, from the number of texts and the type's answers."""
    if response.name == _TYPED:
        return Form.TYPE
    if len(shown.options) > 1:
        return Form.CHOOSE
    return Form.RATE if Gives.POINT in response.gives else Form.ACCEPT


def _order_pair(item: Item, trial: Trial) -> tuple[str, ...]:
    names = (str(Variant.GOOD), str(item.contrast))
    return names if trial.good_side is PAIR[0] else names[::-1]


def _list_answers(form: Form, response: ResponseType, shown: Shown) -> tuple[GivenAnswer, ...]:
    if form is Form.RATE:
        return tuple(GivenAnswer(rating=point) for point in range(1, response.n_answers + 1))
    n = len(shown.options) if form is Form.CHOOSE else response.n_answers
    return tuple(GivenAnswer(side=side) for side in SIDES[:n])


def taker_sessions(
    study: Study, built: BuiltLists, screens: Screens, n: int
) -> Iterator[TakerSession]:
    """Yield ``n`` sessions, taking lists in turn; each equals a person's with that list and place.

    Places continue beyond those of the design: a model participant occupies no person's place.

    Args:
        study: The study.
        built: Its lists.
        screens: Prepares trials.
        n: The number of sessions.
    """
    for index in range(n):
        place, list_ = divmod(index, len(built.lists))
        entries = built.lists[list_]
        trials = compose(
            entries,
            seed=built.seed,
            list_=list_,
            place=place,
            number=session_number(study.design, list_, place),
            design=study.design,
            response=screens.response,
        )
        yield TakerSession(index + 1, list_, place, _prepare_trials(screens, trials, entries))


def _prepare_trials(
    screens: Screens, trials: Sequence[Trial], entries: Sequence[ListEntry]
) -> tuple[TakerTrial, ...]:
    by_id = {entry.item.item_id: entry for entry in entries}
    return tuple(screens.trial(trial, by_id[trial.item_id]) for trial in trials)
