"""Refusals of platforms and of people, planted without a database: what each says."""

import io
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace as Some

import httpx
import pytest
from botocore.exceptions import ClientError, ParamValidationError
from pydantic import BaseModel
from sqlalchemy import create_engine

from experiment.panels.table import Report
from tests.patience import PATIENCE_S
from webapp.commands import offers, options
from webapp.core.settings import validate_section
from webapp.database.backup import postgresql
from webapp.database.models.identity import sealer_of
from webapp.payments import compensation_request
from webapp.payments import non_idempotent_bonuses as two_step
from webapp.payments.compensate import _post_offer
from webapp.payments.compensation_request import find_payee, withdraw_compensation
from webapp.payments.platform_payments import OtherBonuses, require_token_bonuses
from webapp.payments.rewards import refuse_rejection
from webapp.recruiters.mturk.errors import platform_errors
from webapp.recruiters.mturk.worker import WorkerSession
from webapp.recruiters.panel.recruiter import required_secrets
from webapp.recruiters.panel.reporting import send_report as report
from webapp.recruiters.prolific.api import ApiClient, SubmissionAnswer, WalletBusyError, member
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.participant import ParticipantSession
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.prolific.workspace import Workspace, subscribe
from webapp.recruiters.simulated_session import SimulatedSession, StandInSession
from webapp.recruitment.published import require_recruitment
from webapp.runs.launch import check_responsible_people
from webapp.server.researcher_worker import read_chunk
from webapp.serverless.replay import SessionReplay
from webapp.sessions import consent_texts
from webapp.sessions.consent import run_closed_error
from webapp.sessions.lookup import find_participant

LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)
NOBODY_THERE = Some(scalar=lambda *_: None, execute=lambda *_: Some(first=lambda: None))
ELSEWHERE = Some(endpoint="https://elsewhere.example")


def said(call: Callable[[], object]) -> str:
    """Return what a call that is refused says."""
    with pytest.raises(Exception) as caught:
        call()
    return str(caught.value)


def answering(status: int, body: object, *, error: Exception | None = None) -> httpx.Client:
    def answer(_: httpx.Request) -> httpx.Response:
        if error:
            raise error
        return httpx.Response(status, json=body)

    site = httpx.MockTransport(answer)
    return httpx.Client(base_url="http://site", transport=site, timeout=PATIENCE_S)


def at(kind: type[SimulatedSession], site: httpx.Client) -> SimulatedSession:
    """Return a simulated participant who stands before a site."""
    one = object.__new__(kind)
    one.number, one._site, one._study, one.responder = 1, site, "7", "reader"
    study = Some(recruitment=None, study=Some(title="Which?"), name="minimal")
    response = Some(of_item=lambda _: Some(name="rating", responder_method="rate"))
    one._plan, one._responder = Some(run_ref="r", study=study, response=response), None
    return one


def raised_in_a_call(error: Exception) -> None:
    with platform_errors("CreateHIT"):
        raise error


def simulated(kind: type, status: int, body: object) -> SimulatedSession:
    return at(kind, answering(status, body))


CALLS = Some(get=lambda *_: {"results": []}, list_entries=lambda *_: iter(()))
SUBSCRIBED = Some(get=CALLS.get, send_once_with_headers=lambda *_: ({"id": "s"}, {}))


def no_connection() -> object:
    calls = ApiClient(answering(0, None, error=httpx.ConnectError("refused")), 1, lambda _: None)
    return calls.get("/users/me/")


def a_header_that_cannot_be_sent() -> object:
    error = httpx.LocalProtocolError("Illegal header value b'Token secret\\n'")
    return ApiClient(answering(0, None, error=error), 1, lambda _: None).get("/users/me/")


def a_bonus_while_the_wallet_is_busy() -> None:
    def busy(*_: object) -> None:
        raise WalletBusyError("the wallet is in use", where="POST /pay/")

    ProlificClient("e", Some(send_once=busy), ProlificSettings()).pay_bonus("1")


def a_report_of_what_nobody_knows() -> None:
    told = Report(address="https://panel.example/{{person}}", done="ok")
    report(told, {}, {}, ())


def a_refused_call(code: str, message: str) -> None:
    answer = {"Error": {"Code": code, "Message": message}}
    raised_in_a_call(ClientError(answer, "CreateHIT"))


def a_place_that_the_run_lacks() -> None:
    replay = object.__new__(SessionReplay)
    replay.mark, replay._places, replay.run = Some(sessions=1), [(1, 2)], Some(id=1)
    replay.session = NOBODY_THERE
    replay._place(Some(participant=Some(id=1)), Some(body={"number": 1}))


def a_visit_to_a_closed_run() -> None:
    raise run_closed_error()


def a_compensation_of_whom_no_platform_knows() -> None:
    somebody = Some(participant=Some(ref="p1", code="c1", platform_id=None))
    find_payee(Some(load_accounts=lambda: [somebody], run=Some(ref="r")), "p1")


class Needs(BaseModel):
    token: str


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: require_token_bonuses(ELSEWHERE), "https://elsewhere.example: the platform pays "
        "no bonuses"),
        (lambda: _post_offer(*[None, ELSEWHERE, *[None] * 4]),
         "https://elsewhere.example: the platform cannot make an offer to a single person."),
        (lambda: refuse_rejection(Some(rejection_terms=Some(least_characters=100)), "Bad.", ""),
         "--reason: the reason has 4 characters. Expected at least 100 on this platform."),
        (lambda: a_refused_call("RequestError", "Hit 3A does not exist."),
         "CreateHIT: the platform refused: Hit 3A does not exist."),
        (lambda: raised_in_a_call(ParamValidationError(report="Missing:\n  Title")),
         "CreateHIT: the request was not sent: Parameter validation failed: Missing: Title."),
        (lambda: raised_in_a_call(KeyError("HIT")),
         "CreateHIT: the answer was cut off, or did not come from the platform. Run the"),
        (lambda: simulated(WorkerSession, 200, {"groups": []})._find_study(),
         "the marketplace does not list the study. Publish it with: parallax publish r"),
        (lambda: simulated(WorkerSession, 500, {"x": 1})._request_site("GET", "/projects"),
         'the marketplace answered GET /projects with 500: {"x":1}'),
        (lambda: simulated(ParticipantSession, 200, {"studies": []})._open_study(),
         "the platform does not list the study. Publish it with: parallax publish r"),
        (lambda: simulated(ParticipantSession, 500, {})._request_site("GET", "/studies"),
         "the platform answered GET /studies with 500: {}"),
        (lambda: simulated(StandInSession, 404, {}).arrive(),
         "the panel answered POST /people with 404: {}"),
        (lambda: required_secrets(Some(secrets={"key": "sona"}), Some(secrets={})),
         'panel_secrets: the installation has no secret "sona", which the study\'s [panel] names.'
         ' Expected a line sona = "..." under [panel.secrets] in parallax.toml.'),
        (a_report_of_what_nobody_knows,
         'the request to the panel cannot be put together: "person" is not known'),
        (lambda: SubmissionAnswer(id="1", status="LOST", started_at="2026-11-22T10:00:00Z")
         .to_submission(), 'a submission has the status "LOST", which Parallax does not know'),
        (lambda: member({}, "results", "GET /hooks/"), "GET /hooks/: the answer lacks results"),
        (no_connection, "GET /users/me/: there is no connection: refused. Run the same command"),
        (a_header_that_cannot_be_sent, "GET /users/me/: the request cannot be sent: prolific_token"
         " has characters that no token has. Set prolific_token to a token"),
        (a_bonus_while_the_wallet_is_busy,
         "POST /pay/: nothing was paid: the wallet is in use. Pay again later."),
        (lambda: subscribe(SUBSCRIBED, "w", "https://here.example"),
         "/hooks/subscriptions/: the platform did not say how to confirm the subscription"),
        (lambda: Workspace(CALLS).id(), "GET /workspaces/: the token has access to no workspace."),
        (lambda: check_responsible_people(
            Some(name="s", study=Some(unnamed=("contact", "ethics")))),
         'the study "s" does not say who is responsible for it: study.toml lacks contact, ethics'),
        (lambda: read_chunk(io.BytesIO(b"\0")), "[Errno 104] the other side ended"),
        (lambda: postgresql._find_program("pg_none"),
         "the program pg_none is not installed. Expected the client programs of PostgreSQL, as new"
         " as its server. Install them (on Debian: apt install postgresql-client)."),
        (lambda: validate_section("prolific", Needs, {}),
         "[prolific] in parallax.toml: the settings of prolific cannot be used: prolific_token is"
         " missing. docs/settings.md explains how to give a recruiter's settings."),
        (lambda: require_recruitment(NOBODY_THERE, Some(id=1, ref="r"), "e"),
         'the run "r" is not published. parallax publish r.'),
        (lambda: find_participant(NOBODY_THERE, "x", LONG_AGO, 1),
         "There is no session at this address. Please check the link you were given."),
        (a_visit_to_a_closed_run, "This study no longer takes new participants."),
        (a_compensation_of_whom_no_platform_knows,
         "run r: p1 did not come from a paying platform, so no payment is possible."),
        (lambda: withdraw_compensation(None, None, Some(assignment="A1", run_ref="r"), None),
         "the compensation cannot be withdrawn: it was accepted and submitted. Pay more with:"
         " parallax bonus r --file FILE."),
        (a_place_that_the_run_lacks, "the run has no place 2 of list 1"),
        (lambda: sealer_of(create_engine("sqlite://").dialect),
         "participants' platform ids are encrypted, and no key was given to decrypt them."),
    ],
)  # fmt: skip
def test_a_fault_is_told_in_words(call, says):
    assert says in said(call)


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        (offers.stop_, ("run",), "can end offers permanently"),
        (offers.ask_return, ("run", "A1", "--reason", "r"),
         "can ask participants to return their work"),
        (offers.webhooks, ("run",), "can notify our server"),
        (offers.demographics, ("run", "--out", "here"), "can export participants' demographics"),
    ],
)  # fmt: skip
def test_what_a_platform_cannot_do_is_said(command, arguments, says, monkeypatch):
    found = Some(platform=ELSEWHERE, ref="run", offers=("O1",))
    monkeypatch.setattr(offers, "open_published_run", lambda *_, **__: found)
    monkeypatch.setattr(options, "_refuse_missing_installation", lambda _: None)
    told = said(lambda: command.main(arguments, standalone_mode=False))
    assert told == (
        f"run run: the run's platform is not one that {says}. "
        "Expected a run on a platform that does."
    )


def test_somebody_elses_assignment_is_not_asked_to_be_returned(monkeypatch):
    platform = Some(submission=lambda _: Some(offer_id="O2"), request_return=print)
    found = Some(platform=platform, ref="run", offers=("O1",))
    monkeypatch.setattr(offers, "open_published_run", lambda *_, **__: found)
    monkeypatch.setattr(options, "_refuse_missing_installation", lambda _: None)
    asked = ("run", "A1", "--reason", "r")
    assert said(lambda: offers.ask_return.main(asked, standalone_mode=False)) == (
        "A1: the assignment does not belong to the run run."
    )


def test_no_second_bonus_is_ordered_while_another_is_in_doubt(monkeypatch):
    monkeypatch.setattr(two_step, "reading", nullcontext)
    monkeypatch.setattr(OtherBonuses, "of", lambda *_: OtherBonuses((), (), (7,)))
    payment = Some(assignment="A1", run_ref="r")
    assert said(lambda: two_step._read_baseline(None, None, payment, additional=False)) == (
        "payment 7 for the same work is in doubt. Nothing was paid. Settle that payment first; "
        "parallax reconcile r explains how."
    )


def test_an_offer_that_may_be_posted_or_not_is_not_withdrawn(monkeypatch):
    unknown = Some(one=lambda: Some(platform_id=None, called_at=LONG_AGO))
    monkeypatch.setattr(compensation_request, "reading", nullcontext)
    offered = Some(assignment=None, token="t", run_ref="r")
    assert said(
        lambda: withdraw_compensation(Some(scalars=lambda _: unknown), None, offered, None)
    ) == (
        "the compensation cannot be withdrawn: it is not known whether the offer was posted."
        " Run first: parallax reconcile r --fix."
    )


def test_a_consent_text_that_others_store_again_and_again_is_given_up(monkeypatch):
    monkeypatch.setattr(consent_texts, "_MOST_TRIES", 0)
    told = said(lambda: consent_texts.store_agreed_text(None, Some(id=1), "text", LONG_AGO))
    assert told == "a consent text could not be stored"
