"""The page of a coder: answers without person and condition, one after the other.

A coder needs no account; the link is random and can be ended. Whoever decides disagreements has the
same page with the disputed answers, and with both categories in the study's order.
"""

from typing import Annotated

from flask import Blueprint, render_template, request
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from sqlalchemy.orm import Session

from experiment.coding.categories import Coding
from experiment.coding.rounds import Round
from experiment.studies.page_files import own_messages
from experiment.studies.study import Study
from webapp.codes.answers import list_answers
from webapp.codes.codes import collect_codes, find_coder, read_codes, store_code
from webapp.coding_pages.cards import Place, describe_page, make_cards, translate_ended
from webapp.core.addresses import CODER_PATH
from webapp.core.i18n import set_language
from webapp.database.engine import reading
from webapp.database.models import Participant, Response, Run, RunItem, Trial
from webapp.database.models.run import Coder
from webapp.database.retry import run_in_transaction
from webapp.errors import RequestError
from webapp.runs.export_queries import select_answered_trials
from webapp.services import current_services

coder_pages = Blueprint(
    "coders", __name__, url_prefix=CODER_PATH, static_folder="static", template_folder="templates"
)
_LARGEST_CODE_BYTES = 1_000


@coder_pages.get("/<token>")
def show_answers(token: str) -> str:
    """Show the answers that the coder has not coded yet."""
    services = current_services()
    with reading(services.sessions) as session:
        coder, run = _get_coder(session, token)
        study = services.study_of(session, run)
        set_language(run.language, own_messages(study))
        coding = _get_coding(study)
        query = select_answered_trials(run, Participant.ref, Trial, RunItem.item, Response)
        answers = list_answers(session, run, study, query)
        codes = collect_codes(session, run, coding, answers.values())
        place = Place(run.seed, coder.id, coder.decides)
        cards, n_done = make_cards(coding, answers, codes, place, read_codes(session, coder))
    return render_template("coding/coder.html", **describe_page(coding, cards, n_done))


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
            translate_ended(),
            status=404,
            code="unknown_coder",
        )
    return row


def _get_coding(study: Study) -> Coding:
    if study.coding is None:
        raise _make_code_error()
    return study.coding
