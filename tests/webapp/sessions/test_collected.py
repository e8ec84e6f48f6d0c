"""What is stored is declared once, told in the consent, and frozen with each run at its launch."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import pytest
from sqlalchemy import Column, Integer, MetaData, select, update

from experiment.participation import EventKind
from experiment.records import Side
from experiment.responses.base import GivenAnswer
from experiment.responses.choice.choice import SentencePair
from experiment.responses.mixed.mixed import Mixed
from experiment.responses.registry import RESPONSE_TYPES, response_class
from experiment.studies.load import STUDIES_FOLDER, load_study
from webapp.database.models import Device, Event, Response, Run, Stamp
from webapp.sessions import collected
from webapp.sessions.collected import (
    COLLECTED_BEFORE,
    DETAIL_SENTENCES,
    EVENT_SENTENCES,
    TABLES,
    collected_of,
    list_collected,
    list_uncollected_fields,
)
from webapp.sessions.measurements import read_details

SHOES = "The size of your shoes."
LATE = EVENT_SENTENCES[EventKind.LATE_ANSWER]
SCRIPT = "Whether each press came from you or from a script."
ANSWER = {"uuid": "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e11", "position": 1, "side": "first",
          "input_method": "key", "trusted": False, "viewport_width_px": 800}  # fmt: skip


def with_a_column_more(monkeypatch) -> None:
    """A version of the program that stores one thing more of each answer."""
    table = Response.__table__.to_metadata(MetaData())
    table.append_column(Column("shoe_size", Integer, info={"told": SHOES}))
    monkeypatch.setattr(collected, "TABLES", (table, Device.__table__))


def store_less(sessions, run, *names: str) -> None:
    """Make a run one that was launched before these fields were declared."""
    left = json.dumps(sorted(list_collected(SentencePair()).difference(names)))
    with sessions.begin() as session:
        of_run = Stamp.name == f"collected {run.ref}"
        session.execute(update(Stamp).where(of_run).values(value=left))


def consent_of(client, run) -> tuple[str, str]:
    page, text = f"/run/{run.ref}", f"/run/{run.ref}/consent.txt"
    return client.get(page).get_data(as_text=True), client.get(text).get_data(as_text=True)


def test_a_column_more_is_in_the_consent_of_the_next_run_and_not_of_an_earlier_one(
    client, run, launched, study, sessions, monkeypatch
):
    with_a_column_more(monkeypatch)
    later = launched(study)
    assert all(SHOES in text for text in consent_of(client, later))
    assert not any(SHOES in text for text in consent_of(client, run))
    with sessions() as session:
        more = collected_of(session, later) - collected_of(session, run)
    assert more == {"response.shoe_size"}


def test_what_a_run_does_not_tell_of_it_does_not_store(client, run, sessions):
    store_less(sessions, run, "response.trusted", "device.language", "event.late_answer",
               "event.premature_press")  # fmt: skip
    for text in consent_of(client, run):
        assert SCRIPT not in text and LATE not in text
    home = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
    early = [{"reason": "lockout", "input_method": "key", "ms": 3}]
    assert client.post(f"{home}answers", json={**ANSWER, "premature": early}).status_code == 200
    again = {**ANSWER, "uuid": ANSWER["uuid"][:-1] + "2", "side": "second"}
    assert client.post(f"{home}answers", json=again).status_code == 200
    device = {"user_agent_family": "Firefox", "language": "en-GB"}
    assert client.post(f"{home}device", json=device).status_code == 200
    with sessions() as session:
        [answer] = session.scalars(select(Response))
        assert (answer.trusted, answer.viewport_width_px, answer.chosen_side) == (
            None, 800, "first",
        )  # fmt: skip
        [found] = session.scalars(select(Device))
        assert (found.language, found.user_agent_family) == ("", "Firefox")
        assert session.scalars(select(Event)).all() == []


def test_a_run_from_before_the_list_was_frozen_stores_what_it_told_of_then(sessions, run):
    with sessions.begin() as session:
        session.delete(session.scalars(select(Stamp).where(Stamp.name.like("collected %"))).one())
    with sessions() as session:
        assert collected_of(session, session.get_one(Run, run.id)) == COLLECTED_BEFORE


def test_whatever_is_declared_later_brings_its_own_sentence():
    """A new column or kind of event without a sentence would be stored and told nowhere."""
    columns = {f"{t.name}.{c.name}": c.info.get("told") for t in TABLES for c in t.columns}
    kinds = {f"event.{kind}": EVENT_SENTENCES.get(kind) for kind in EventKind}
    untold = {name for name, told in (columns | kinds).items() if not told}
    assert untold <= COLLECTED_BEFORE, (
        "give the column info={'told': N_(...)}, or the event a sentence"
    )


class Hummed(SentencePair):
    """A plug-in's type, whose script sends how often something was hummed."""

    details: ClassVar[Mapping[str, str]] = {"hums": "How often you hummed."}

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        return answer.details is not None

    def settle(self, answer: GivenAnswer, options: str | None) -> GivenAnswer:
        return replace(answer, side=Side.FIRST)


LOUDNESS = "How loud it was."


@pytest.mark.one_database
def test_a_detail_that_a_plug_in_adds_is_in_the_consent_of_the_next_run_and_not_stored_earlier(
    client, launched, sessions, tmp_path, monkeypatch
):
    folder = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    settings = (folder / "study.toml").read_text("utf-8")
    of_plugin = settings.replace('"sentence_pair"', f'"{__name__}:Hummed"')
    (folder / "study.toml").write_text(of_plugin, encoding="utf-8")
    earlier = launched(load_study(str(folder)))
    with_more = {**Hummed.details, "loudness": LOUDNESS}
    monkeypatch.setattr(Hummed, "details", with_more)
    later = launched(load_study(str(folder)))
    for run, n_named in ((earlier, 1), (later, 2)):
        named = [
            sum(told in text for told in with_more.values()) for text in consent_of(client, run)
        ]
        assert named == [n_named, n_named]
    stored = {}
    for run in (earlier, later):
        home = client.post(f"/run/{run.ref}", data={"decision": "accept"}).location
        sent = {"hums": 2, "loudness": 7, "pitch": "never declared"}
        answer = {"uuid": ANSWER["uuid"], "position": 1, "input_method": "key", "details": sent}
        assert client.post(f"{home}answers", json=answer).status_code == 200
        again = {**answer, "uuid": ANSWER["uuid"][:-1] + "2", "details": {**sent, "hums": 3}}
        assert client.post(f"{home}answers", json=again).status_code == 200
        with sessions() as session:
            response = session.scalars(select(Response).order_by(Response.id.desc())).first()
            late = session.scalars(select(Event).order_by(Event.id.desc())).first()
            stored[run.ref] = read_details(response.steps), late.detail["details"]
    assert stored == {
        earlier.ref: ({"hums": 2}, "{'hums': 3}"),
        later.ref: ({"hums": 2, "loudness": 7}, "{'hums': 3, 'loudness': 7}"),
    }


def test_a_list_from_before_details_were_in_it_leaves_no_detail_out():
    left_out = list_uncollected_fields(COLLECTED_BEFORE - {"response.trace"}, Hummed())
    assert left_out == {"response.trace"}


def test_the_sentences_of_our_own_types_are_in_the_catalogues():
    types = [response_class(name) for name in RESPONSE_TYPES.built_in]
    told = {
        sentence for type_ in types if type_ is not Mixed for sentence in type_.details.values()
    }
    assert told == set(DETAIL_SENTENCES)
