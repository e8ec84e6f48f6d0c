"""The page of a run's links and codes: made, drawn, ended, told whose, and a page at a time."""

import csv
import io
import re

import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Link
from webapp.runs.links import make_links
from webapp.sessions.lookup import SINGLE
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


def test_codes_are_made_come_by_and_ended(run, here, client, sessions):
    page = f"/runs/{run.ref}/links"
    assert "anybody who has the run" in here.get(page).text
    made = here.post(page, kind="code", number="3", list="each")
    assert made.status_code == 303
    with reading(sessions) as session:
        links = session.scalars(select(Link).order_by(Link.id)).all()
    assert [link.list for link in links] == [0, 0, 0, 1, 1, 1]
    shown = here.get(page).text
    code = f"{links[0].token[:4]}-{links[0].token[4:]}"
    assert shown.count('<code class="link">') == 6 and code in shown
    assert "data:image/svg+xml" not in shown
    assert here.get(f"{page}?qr=1").text.count("data:image/svg+xml") == 6
    table = here.post(f"{page}/table").text
    assert {row["code"] for row in csv.DictReader(io.StringIO(table))} >= {code}
    here.post(page, kind="single", number="1")
    with reading(sessions) as session:
        single = session.scalars(select(Link).where(Link.kind == SINGLE)).one()
    address = f"/run/{run.ref}?link={single.token}"
    came = client.post(address, data={"decision": "accept"}).location
    assert f"/participants/{came.split('/')[2].partition('.')[0]}" in here.get(page).text
    assert here.post(f"{page}/end", link=links[1].token).status_code == 303
    assert f"{links[1].token[:4]}-" not in here.get(page).text
    assert here.post(f"{page}/end", link="nothing").status_code == 409


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "of gold", "number": "1"},
        {"kind": "single", "number": "0"},
        {"kind": "single", "number": "9" * 5000},
        {"kind": "code", "number": "10001"},
        {"kind": "code", "number": "1", "list": "99"},
        {"kind": "code", "number": "1", "list": "x"},
    ],
)
def test_what_cannot_be_made_is_told_and_nothing_is(wrong, run, here, session):
    refused = here.post(f"/runs/{run.ref}/links", **wrong)
    assert refused.status_code == 409 and 'role="alert"' in refused.text
    assert session.scalars(select(Link)).all() == []


def test_a_page_has_fifty_links_whatever_there_are(run, here, sessions, clock):
    with sessions.begin() as session:
        make_links(session, run, SINGLE, [str(n) for n in range(120)], [None], clock())
    pages = [here.get(f"/runs/{run.ref}/links?page={n}").text for n in (1, 2, 3)]
    assert [page.count('<code class="link">') for page in pages] == [50, 50, 20]
    assert "Next page" in pages[1] and "Next page" not in pages[2]


def test_no_label_is_a_formula_in_the_table(run, here, sessions, clock):
    with sessions.begin() as session:
        make_links(session, run, SINGLE, ["=1+1"], [None], clock())
    table = here.post(f"/runs/{run.ref}/links/table").text
    assert [row["label"] for row in csv.DictReader(io.StringIO(table))] == ["'=1+1"]


def test_a_completion_code_is_told_whose_it_is(run, here, app, start):
    home = start(run)
    ref = re.search(r"/p/(\w+)", home.home)[1]
    receipt = app.extensions["parallax"].tokens.receipt(ref)
    told = here.post(f"/runs/{run.ref}/links/whose", codes=f"{receipt} ABCDEF").text
    assert ref in told and "nobody" in told
