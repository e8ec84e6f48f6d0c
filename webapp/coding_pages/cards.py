"""What a coder's page shows: one card for each answer that is left to code, and its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiment.coding.categories import Coding
from experiment.coding.rounds import Codes, Round, order_for_coder
from webapp.codes.answers import DistinctAnswer
from webapp.codes.codes import OwnCodes
from webapp.core.i18n import gettext

Card = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """On whom the order of the cards depends.

    Attributes:
        seed: The seed of the coding.
        coder: The person's number or name.
        decides: Whether this person decides disagreements, instead of coding.
    """

    seed: int
    coder: int | str
    decides: bool


def make_cards(
    coding: Coding,
    answers: Mapping[str, DistinctAnswer],
    codes: Mapping[str, Codes],
    who: Place,
    own: OwnCodes,
) -> tuple[Sequence[Card], int]:
    """Return the cards that are left to a person, and the number of those that are done.

    Whoever decides has the disagreements alone, each with both categories in the study's order.

    Args:
        coding: The study's categories and training.
        answers: The answers, by digest.
        codes: All codes of each answer.
        who: Who codes or decides.
        own: What this person has coded.
    """
    todo = (
        digest
        for digest, code in codes.items()
        if (code.is_disputed if who.decides else not code.listed)
    )
    order = order_for_coder(todo, who.seed, who.coder, 0 if who.decides else coding.repeated)
    left = [
        (digest, round_)
        for digest, round_ in order
        if not any((round_, each) in own for each in answers[digest].digests)
    ]
    cards = [] if who.decides else list(_make_training(coding, own))
    for digest, round_ in left:
        card = _make_card(answers[digest], coding, round_)
        if who.decides:
            both = {codes[digest].first, codes[digest].second}
            card["codes"] = [each.title for each in coding.categories if each.name in both]
            titles = {each.name: each.title for each in coding.categories}
            if proposed := titles.get(codes[digest].proposed):
                card["proposed"] = {"model": codes[digest].proposed_by, "category": proposed}
        cards.append(card)
    return cards, len(order) - len(left)


def describe_page(coding: Coding, cards: Sequence[Card], n_done: int) -> Mapping[str, Any]:
    """Return the values of the page's template."""
    categories = [{"name": each.name, "title": each.title} for each in coding.categories]
    work = {"categories": categories, "cards": cards, "done": n_done}
    return {"coding": coding, "work": work, "texts": _translate_texts()}


def _make_training(coding: Coding, own: OwnCodes) -> Iterator[Card]:
    for number, example in enumerate(coding.training, start=1):
        if (Round.TRAINING, str(number)) not in own:
            before, gap, after = example.text.partition("___")
            yield {
                "round": Round.TRAINING,
                "answer": str(number),
                "before": before,
                "after": after.lstrip("_"),
                "gap": gap,
                "typed": example.answer,
                "right": example.category,
            }


def _make_card(answer: DistinctAnswer, coding: Coding, round_: Round) -> Card:
    trial: Mapping[str, Any] = answer.trial if coding.show_text else {}
    if "before" not in trial:
        # A list answers a whole text, without a gap.
        trial = {"before": trial.get("first", "")}
    names = ["before", *sorted(key for key in trial if key.startswith("after"))]
    parts, gap = [str(trial.get(name, "")) for name in names], str(trial.get("gap", ""))
    return {
        "round": round_,
        "answer": answer.digest,
        "before": gap.join(parts[: answer.gap]),
        "after": gap.join(parts[answer.gap :]),
        "gap": gap,
        "typed": answer.form,
    }


def translate_ended() -> str:
    """Return what the page of an unknown or ended link says."""
    return gettext("There is no study at this address. Please check the link you were given.")


def _translate_texts() -> Mapping[str, str]:
    return {
        "hint": gettext("Press a number or choose a category. Backspace goes back."),
        "training": gettext("Training: the right category appears after each choice."),
        "right": gettext("That is the right category."),
        "wrong": gettext("The right category is: {category}"),
        "next": gettext("Next"),
        "back": gettext("Previous answer"),
        "disputed": gettext("The two coders chose:"),
        "proposed": gettext("A model ({model}) proposes: {category}"),
        "done": gettext("You have coded all answers. Thank you."),
        "save": gettext("Please save your answers as a file, and send it to the researchers."),
        "save_button": gettext("Save my answers"),
        "ended": translate_ended(),
        "unsaved": gettext(
            "The last codes are not stored yet. The page keeps trying; please leave it open."
        ),
    }
