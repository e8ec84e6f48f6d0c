"""A participant can reach their own record with their own address, and nothing else."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from flask import Flask
from hypothesis import given, settings
from hypothesis import strategies as st
from itsdangerous import Signer
from sqlalchemy import inspect, select

from experiment.records import Side
from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.core.tokens import Tokens, new_reference
from webapp.database.engine import reading
from webapp.database.models import (
    Answer,
    Base,
    Device,
    Event,
    Participant,
    Place,
    Response,
    Trial,
)
from webapp.runs.launch import launch_run


@cache
def columns_of(model: type[Base]) -> list[str]:
    return [each.key for each in inspect(model).column_attrs]


@dataclass
class Two:
    """Two participants of one run, the second of whom has answered half of the trials."""

    app: Flask
    mine: str
    theirs: str

    def record_of(self, ref: str) -> list[dict]:
        with reading(self.app.extensions["parallax"].sessions) as session:
            owner = session.scalars(select(Participant).where(Participant.ref == ref)).one()
            rows = [owner]
            for model in (Trial, Place, Answer, Event, Device):
                rows += session.scalars(select(model).where(model.participant_id == owner.id))
            of_owner = select(Response).join(Trial).where(Trial.participant_id == owner.id)
            rows += session.scalars(of_owner)
            return [{name: getattr(row, name) for name in columns_of(type(row))} for row in rows]

    def ref(self, home: str) -> str:
        return home.removeprefix("/p/").split(".")[0]


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> Iterator[Two]:
    app = create_app(tmp_path_factory.mktemp("instance"))
    sessions = app.extensions["parallax"].sessions
    with sessions() as session:
        run = launch_run(
            session, load_study("minimal"), 1, "direct", now=utc_now(), code_version="0"
        )
        session.commit()
    client = app.test_client()
    homes = [client.post(f"/run/{run.ref}", data={"decision": "accept"}).location for _ in range(2)]
    for position in range(1, 5):
        client.post(f"{homes[1]}answers", json=answer(position, "first"))
    yield Two(app, *homes)
    app.extensions["parallax"].engine.dispose()


def answer(position: object, side: object, uuid: object = None) -> dict[str, object]:
    return {
        "uuid": uuid or "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e10",
        "position": position,
        "side": side,
        "input_method": "key",
    }


answers = st.builds(
    answer,
    st.integers(-2, 12) | st.integers() | st.text(),
    st.sampled_from([*Side]) | st.text(),
    st.uuids().map(str) | st.text(),
).map(lambda body: ("answers", json.dumps(body)))
forms = st.dictionaries(st.sampled_from(["native_language", "ref", "participant"]), st.text()).map(
    lambda form: ("questionnaire", form)
)


devices = st.dictionaries(
    st.sampled_from(["language", "refresh_rate_hz", "participant", "ref"]), st.text() | st.floats()
).map(lambda facts: ("device", json.dumps(facts)))


@settings(deadline=None, max_examples=60)
@given(requests=st.lists(answers | forms | devices, max_size=5), hint=st.booleans())
def test_nothing_sent_to_my_address_changes_anothers_record(two, requests, hint):
    client = two.app.test_client()
    before = two.record_of(two.ref(two.theirs))
    for page, body in requests:
        # An attacker may add the other's references wherever a program could look for them.
        query = f"?ref={two.ref(two.theirs)}&participant_id=2&token={two.theirs}" if hint else ""
        assert client.post(f"{two.mine}{page}{query}", data=body).status_code < 500
    assert two.record_of(two.ref(two.theirs)) == before
    assert two.ref(two.theirs) not in client.get(two.mine).text


def refused(two: Two, token: str) -> bool:
    client = two.app.test_client()
    page = client.get(f"/p/{token}/")
    sent = client.post(f"/p/{token}/answers", json=answer(8, "second"))
    if page.status_code not in (401, 404) or sent.status_code not in (401, 404):
        return False
    assert "Traceback" not in page.text
    assert set(sent.json or {"error": 0}) == {"error"}
    return True


token_texts = st.text(
    st.characters(categories=("L", "N", "P", "S"), exclude_characters="/?#%\\"), min_size=1
)


@settings(deadline=None, max_examples=100)
@given(token=token_texts | token_texts.map(lambda text: f"abc.{text}"))
def test_an_address_that_was_made_up_leads_nowhere(two, token):
    if token in (".", ".."):
        return
    assert refused(two, token)


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_an_address_changed_in_one_place_never_leads_to_another_record(two, data):
    token = two.mine.removeprefix("/p/").rstrip("/")
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_."))
    changed = token[:place] + letter + token[place + 1 :]
    # The last letter of a signature holds bits that mean nothing, and still only one is right.
    assert changed == token or refused(two, changed)


def test_an_address_that_an_earlier_version_signed_still_leads_there(two):
    key = two.app.extensions["parallax"].tokens._signer._signer.secret_key
    old = Signer(key, salt="participant").sign(two.ref(two.mine)).decode()
    assert old != two.mine.removeprefix("/p/").rstrip("/")
    assert not refused(two, old)


def test_the_signature_of_one_reference_does_not_sign_another(two):
    mine, theirs = (home.removeprefix("/p/").rstrip("/") for home in (two.mine, two.theirs))
    assert refused(two, f"{theirs.split('.')[0]}.{mine.split('.')[1]}")


def test_an_address_of_another_installation_leads_nowhere(two):
    assert refused(two, Tokens("x" * 64).issue(two.ref(two.mine)))


def test_an_address_signed_for_another_purpose_leads_nowhere(two):
    key = two.app.extensions["parallax"].tokens._signer._signer.secret_key
    assert refused(two, Signer(key, salt="other").sign(two.ref(two.mine)).decode())


def test_a_signed_reference_of_nobody_leads_nowhere(two):
    assert refused(two, two.app.extensions["parallax"].tokens.issue(new_reference()))


def test_an_address_works_until_its_days_are_over(visitor, clock):
    clock.go_on(days=30)
    assert visitor.page().status_code == 200
    clock.go_on(seconds=1)
    expired = visitor.page()
    assert expired.status_code == 401
    assert "has expired" in expired.text
    assert visitor.questionnaire(native_language="x").status_code == 401


VERBS = ["get", "head", "post", "put", "patch", "delete", "options", "trace"]
PAGES = ["", "answers", "answers/1", "device", "questionnaire", "../", "record", "session"]


@settings(deadline=None, max_examples=150)
@given(
    verb=st.sampled_from(VERBS),
    page=st.sampled_from(PAGES) | st.text(st.characters(categories=("L", "N")), max_size=8),
    position=st.integers(1, 8),
    forged=st.booleans(),
)
def test_no_verb_on_no_address_reads_or_writes_anothers_record(two, verb, page, position, forged):
    before = two.record_of(two.ref(two.theirs))
    signature = two.mine.rstrip("/").rpartition(".")[2]
    home = f"/p/{two.ref(two.theirs)}.{signature}/" if forged else two.mine
    response = two.app.test_client().open(
        f"{home}{page}", method=verb.upper(), json=answer(position, "second")
    )
    assert response.status_code < 500
    assert two.record_of(two.ref(two.theirs)) == before
    if forged:
        assert not response.is_json or set(response.json) == {"error"}
        assert response.status_code in (301, 303, 308, 401, 404, 405) or verb == "options"
    texts = {row["ref"] for row in before if "ref" in row}
    assert not [text for text in texts if text in response.text]
