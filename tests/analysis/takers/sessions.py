"""Plans of small studies, and models that know the answers."""

from collections.abc import Callable, Sequence
from pathlib import Path

from analysis.takers.plan import Factors, Plan, make_plan
from analysis.takers.source import Source
from experiment.authoring.check import require_sound
from experiment.materials.render import render
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.takers.prompt import LABEL_SETS, Context
from lm.answering.answerer import Question, Reply

EVERY_LABEL = tuple(LABEL_SETS)
BOTH = (False, True)
PRESENTATIONS = Path(__file__).parents[2] / "data" / "presentations"
EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
YES = ("yes", "ja")


def planned(
    study: Study | str = "minimal",
    readings: Sequence[str] = ("forced_choice",),
    contexts: Sequence[Context] = (Context.ZERO_SHOT,),
    labels: tuple[str, ...] = EVERY_LABEL,
    orders: tuple[bool, ...] = BOTH,
    n_sessions: int = 2,
    seed: int = 1,
    *,
    sampled: bool = False,
) -> Plan:
    loaded = load_study(study) if isinstance(study, str) else study
    source = Source(loaded, require_sound(loaded, seed).built)
    factors = Factors(tuple(contexts), labels, orders)
    to_model = render(loaded.materials.shown_to_people)
    return make_plan(source, readings, factors, n_sessions, to_model, sampled=sampled)


def good_texts(plan: Plan) -> set[str]:
    """Every good option and sentence as a screen or a model shows it."""
    found = set[str]()
    for session in plan.sessions:
        for trial in session.trials:
            names = trial.trial.options or (
                ("good", "bad") if trial.trial.good_side == "first" else ("bad", "good")
            )
            place = names.index("good") if "good" in names else -1
            if place >= 0:
                own = trial.shown.options[min(place, len(trial.shown.options) - 1)]
                found |= {f"{trial.shown.prefix} {own}".strip(), trial.sentences[place]}
    return found


def knowing(
    plan: Plan, nats: float = 3.0, first_nats: float = 0.0, label_nats: float = 0.0
) -> Callable[[Sequence[Question]], list[Reply]]:
    """A model that gives the right answer of every prompt so much more than each other.

    It also gives the first place of a prompt, and the labels "A" and "1", as much more as is said.
    """
    good = good_texts(plan)

    def reply(questions: Sequence[Question]) -> list[Reply]:
        return [
            Reply(
                tuple(
                    nats * (text == right)
                    + first_nats * (place == 0 and bool(each.prompt))
                    + label_nats * (text in ("A", "1"))
                    - 9.0
                    for place, text in enumerate(each.answers)
                )
            )
            for each in questions
            for right in [_right(each, good)]
        ]

    return reply


def _right(question: Question, good: set[str]) -> str:
    lines = question.prompt.split("\n\n")[-1].splitlines()
    if not question.prompt or not lines[-1].endswith(":"):
        whole = [text for text in question.answers if text in good]
        if whole:
            return whole[0]
        joined = [
            text
            for text in question.answers
            if any(f"{one} ".startswith(f"{question.prompt} {text} ".lstrip()) for one in good)
        ]
        return joined[0] if joined else ""
    labelled = dict(line.partition(". ")[::2] for line in lines if line[1:3] == ". ")
    prefix = lines[0] if lines[0][1:3] != ". " else ""
    for label, text in labelled.items():
        if f"{prefix} {text}".strip() in good:
            return label
    is_good = any(line in good for line in lines)
    if set(YES) & set(labelled.values()):
        return next(label for label, text in labelled.items() if (text in YES) == is_good)
    worst = question.prompt.partition(" (")[0].rpartition(" ")[2]
    best = question.answers[-1] if worst == question.answers[0] else question.answers[0]
    return best if is_good else worst
