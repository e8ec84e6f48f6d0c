"""The page of a coder: answers without person and condition, one after the other.

A coder needs no account; the link is random and can be ended. Whoever decides disagreements has the
same page with the disputed answers, and with both categories in the study's order.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from flask import Blueprint, render_template, request
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from sqlalchemy.orm import Session

from experiment.coding.categories import Coding
from experiment.coding.rounds import Round, order_for_coder
from experiment.studies.files import own_messages
from experiment.studies.study import Study
from webapp.codes.answers import DistinctAnswer, list_answers
from webapp.codes.codes import collect_codes, find_coder, read_codes, store_code
from webapp.core.i18n import gettext, set_language
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial
from webapp.database.models.run import Coder
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError
from webapp.runs.export_queries import select_answered_trials
from webapp.services import current_services

coder_pages = Blueprint(
    "coders", __name__, url_prefix="/coding", static_folder="static", template_folder="templates"
)
_LARGEST_CODE_BYTES = 1_000
Card = dict[str, Any]


@coder_pages.get("/<token>")
def show_answers(token: str) -> str:
    """Show the answers that the coder has not coded yet."""
    services = current_services()
    with reading(services.sessions) as session:
        coder, run = _get_coder(session, token)
        study = services.study_of(session, run)
        set_language(run.language, own_messages(study))
        cards, n_done = _make_cards(session, run, study, coder)
    coding = _get_coding(study)
    work = {
        "categories": [{"name": each.name, "title": each.title} for each in coding.categories],
        "cards": cards,
        "done": n_done,
    }
    return render_template("coding/coder.html", coding=coding, work=work, texts=_translate_texts())


class _PostedCode(BaseModel):
    model_config = ConfigDict(extra="forbid")

    round: Round
    answer: Annotated[str, StringConstraints(pattern=r"^(\d{1,10}\.[0-9a-f]{64}|\d{1,3})$")]
    category: str


@coder_pages.post("/<token>/codes")
def save_code(token: str) -> dict[str, str]:
    """Store one code; reply only after the transaction is committed."""
    request.max_content_length = _LARGEST_CODE_BYTES
    services = current_services()
    try:
        code = _PostedCode.model_validate_json(request.get_data())
    except ValidationError as error:
        raise _make_code_error() from error

    def work(session: Session) -> None:
        coder, run = _get_coder(session, token)
        if code.category not in _get_coding(services.study_of(session, run)).names:
            raise _make_code_error()
        store_code(session, coder, code.round, code.answer, code.category, services.now())

    run_in_transaction(services.sessions, work)
    return {"saved": code.answer}


def _make_code_error() -> RequestError:
    return RequestError("There is no such answer or category.", status=400, code="bad_code")


def _get_coder(session: Session, token: str) -> tuple[Coder, Run]:
    row = find_coder(session, token)
    if row is None:
        raise RequestError(
            _translate_ended(),
            status=404,
            code="unknown_coder",
        )
    return row


def _get_coding(study: Study) -> Coding:
    if study.coding is None:
        raise _make_code_error()
    return study.coding


def _make_cards(
    session: Session, run: Run, study: Study, coder: Coder
) -> tuple[Sequence[Card], int]:
    """Return the cards that are left to the coder, and the number of those that are done."""
    coding = _get_coding(study)
    answers = list_answers(
        session,
        run,
        study,
        select_answered_trials(run, Participant.ref, Trial, RunItem.item, Response),
    )
    codes = collect_codes(session, run, coding, answers.values())
    own = read_codes(session, coder)
    if coder.decides:
        disputed = [answers[digest] for digest, code in codes.items() if code.is_disputed]
        order = order_for_coder((each.digest for each in disputed), run.seed, coder.id, 0)
    else:
        by_people = (digest for digest, code in codes.items() if not code.listed)
        order = order_for_coder(by_people, run.seed, coder.id, coding.repeated)
    done = [
        (digest, round_)
        for digest, round_ in order
        if any((round_, each) in own for each in answers[digest].digests)
    ]
    cards = [] if coder.decides else list(_make_training(coding, own))
    for digest, round_ in order:
        if (digest, round_) in done:
            continue
        card = _make_card(answers[digest], coding, round_)
        if coder.decides:
            both = {codes[digest].first, codes[digest].second}
            card["codes"] = [each.title for each in coding.categories if each.name in both]
        cards.append(card)
    return cards, len(done)


def _make_training(coding: Coding, own: Mapping[tuple[int, str], str]) -> Iterator[Card]:
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
    shown = {key: str(trial.get(key, "")) for key in ("before", "after", "gap")}
    # The answer to several gaps is shown in the first one.
    further = [
        str(trial[key]) for key in sorted(trial) if key.startswith("after") and key != "after"
    ]
    shown["after"] = shown["gap"].join([shown["after"], *further])
    return {"round": round_, "answer": answer.digest, **shown, "typed": answer.form}


def _translate_ended() -> str:
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
        "done": gettext("You have coded all answers. Thank you."),
        "ended": _translate_ended(),
        "unsaved": gettext(
            "The last codes are not stored yet. The page keeps trying; please leave it open."
        ),
    }
