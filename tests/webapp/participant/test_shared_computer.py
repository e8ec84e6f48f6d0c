"""Whoever comes to a computer next is not shown the person before."""

import re

import pytest
from sqlalchemy import select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from webapp.database.engine import reading
from webapp.database.models import Participant

pytestmark = pytest.mark.one_database
FORM = {"native_language": "Estonian"}
WITHIN = {"X-Parallax-Within": "1"}
SHARED = "[privacy]\nshared_device = true\n"


@pytest.fixture
def shared_run(study, launched):
    files = study_files(study)
    toml = files["study.toml"].decode() + "\n" + SHARED
    return launched(frozen_study({**files, "study.toml": toml.encode()}, study.folder))


def page_name(reply) -> str:
    return re.search(r'data-page="(\w+)"', reply.text)[1]


def code_of(sessions) -> str:
    with reading(sessions) as session:
        return session.scalars(select(Participant)).one().code


def finish(visitor) -> None:
    visitor.answer_all()
    visitor.questionnaire(**FORM)


def going_on(visitor) -> bool:
    return visitor.client.get(f"{visitor.home}going-on").json["going_on"]


def ask(client, run, code: str, wish: str):
    return client.post(f"/run/{run.ref}/data", data={"code": code, "wish": wish})


def test_an_unfinished_session_can_be_gone_on_with_and_a_finished_one_cannot(visitor):
    assert going_on(visitor)
    visitor.answer_all()
    assert going_on(visitor)
    visitor.questionnaire(**FORM)
    assert not going_on(visitor)


def test_a_session_whose_place_is_somebody_elses_cannot_be_gone_on_with(visitor, run, start, clock):
    clock.go_on(hours=5)
    for _ in range(8):
        start(run)
    assert not going_on(visitor)
    assert visitor.client.get(f"{visitor.home}going-on").json["late"], "its page says why"


def test_agreeing_again_after_the_end_shows_neither_the_session_nor_its_address(
    client, run, visit, sessions
):
    form = {"decision": "accept", "visit": "abcdefghjkmn"}
    visitor = visit(client.post(f"/run/{run.ref}", data=form).location)
    finish(visitor)
    again = client.post(f"/run/{run.ref}", data=form)
    assert (again.status_code, page_name(again)) == (409, "finished_before")
    for secret in (code_of(sessions), visitor.home, "Estonian"):
        assert secret not in again.text
    assert f'href="/run/{run.ref}"' in again.text, "somebody else finds the way in"


def test_the_code_leads_to_the_last_page_the_data_and_the_erasure(visitor, run, sessions):
    finish(visitor)
    client, code = visitor.client, code_of(sessions)
    assert page_name(ask(client, run, code, "show")) == "closing"
    assert "Estonian" in ask(client, run, code, "download").text
    asked = ask(client, run, code, "stop")
    assert page_name(asked) == "withdraw" and f'value="{code}"' in asked.text
    done = ask(client, run, code, "erase")
    assert page_name(done) == "withdrawn" and "Your answers have been erased" in done.text
    assert "Estonian" not in ask(client, run, code, "download").text


@pytest.mark.parametrize("wish", ["download", "show", "stop", "erase", "keep"])
def test_another_code_leads_nowhere(visitor, run, wish, sessions):
    finish(visitor)
    assert ask(visitor.client, run, "abcdefghjkmn", wish).status_code == 404
    assert page_name(visitor.page()) == "closing"


@pytest.mark.parametrize("address", ["", "withdraw"])
def test_at_a_shared_computer_an_address_shows_nothing_after_the_end(
    shared_run, start, sessions, address
):
    visitor = start(shared_run)
    assert page_name(visitor.page()) == "working"
    finish(visitor)
    found = visitor.client.get(f"{visitor.home}{address}")
    assert page_name(found) == "finished_before"
    assert code_of(sessions) not in found.text
    refused = visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    assert page_name(refused) == "finished_before"
    last = visitor.client.get(visitor.home, headers=WITHIN)
    assert page_name(last) == "closing" and code_of(sessions) in last.text
    assert page_name(ask(visitor.client, shared_run, code_of(sessions), "show")) == "closing"
