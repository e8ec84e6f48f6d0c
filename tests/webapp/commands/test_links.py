"""Links that are given out: for many, for one, for one list, as codes; and personal ones."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

import parallax
from webapp.database.engine import reading
from webapp.database.models import Link, LinkVisit, Participant

pytestmark = pytest.mark.one_database
ACCEPT = {"decision": "accept"}


@pytest.fixture
def links(run, instance):
    """Return a function that calls ``parallax links`` for the run and gives what it printed."""

    def call(command: str, *arguments: str, fails: bool = False) -> str:
        words = ["links", command, run.ref, *arguments, "--instance", str(instance)]
        called = CliRunner().invoke(parallax.cli, words)
        assert bool(called.exit_code) is fails, called.output or called.exception
        return called.output or str(called.exception)

    return call


@pytest.fixture
def made(links, tmp_path):
    """Return a function that makes links and gives the rows of their CSV file."""

    def make(*arguments: str) -> list[dict[str, str]]:
        table = tmp_path / "links.csv"
        links("make", *arguments, "--csv", str(table))
        with table.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    return make


def path_of(link: str) -> str:
    return re.sub(r"^https?://[^/]+", "", link)


def people(sessions) -> int:
    with reading(sessions) as session:
        return session.scalar(select(func.count(Participant.id))) or 0


def test_a_link_for_one_is_one_person_however_often_and_by_whomever_it_is_opened(
    made, app, sessions
):
    first, second = made("--single", "2")
    homes = {
        app.test_client().post(path_of(row["link"]), data=ACCEPT).location
        for row in (first, first, second)
    }
    assert (len(homes), people(sessions)) == (2, 2)


def test_no_two_links_are_alike_and_a_researcher_finds_each_again(made, links, sessions):
    rows = [*made("--single", "20"), *made("--single", "20")]
    assert len({row["link"] for row in rows}) == 40
    listed = links("show")
    assert [row["link"] for row in rows if row["link"] not in listed] == []
    with reading(sessions) as session:
        tokens = session.scalars(select(Link.token)).all()
    assert {len(token) for token in tokens} == {12}
    assert len({token[0] for token in tokens}) > 5, "they do not count on"


def test_a_link_for_many_brings_a_new_person_each_time(made, app, sessions):
    [row] = made("--multi")
    for _ in range(2):
        assert app.test_client().post(path_of(row["link"]), data=ACCEPT).status_code == 303
    assert people(sessions) == 2


def test_links_of_a_list_give_that_list_until_it_is_full(made, app, sessions, run):
    rows = made("--multi", "--each-list")
    assert [row["list"] for row in rows] == ["0", "1"]
    answers = [
        app.test_client().post(path_of(rows[1]["link"]), data=ACCEPT).status_code for _ in range(5)
    ]
    assert answers == [303, 303, 303, 303, 409]
    with reading(sessions) as session:
        assert set(session.scalars(select(Participant.list))) == {1}


def test_a_code_is_typed_in_as_people_type_and_lets_one_person_in(made, client, run, sessions):
    [row] = made("--codes", "1")
    assert row["link"].endswith(f"/run/{run.ref}")
    asked = client.get(f"/run/{run.ref}")
    assert (asked.status_code, 'name="link"' in asked.text) == (403, True)
    typed = {"link": f" {row['code'].upper()} "}
    assert 'data-page="consent"' in client.get(f"/run/{run.ref}", query_string=typed).text
    for _ in range(2):
        client.post(f"/run/{run.ref}", query_string=typed, data=ACCEPT)
    assert people(sessions) == 1


def test_a_run_with_links_takes_nobody_without_one_and_notes_wrong_ones(
    made, client, run, sessions
):
    assert client.get(f"/run/{run.ref}").status_code == 200
    made("--single", "1")
    assert client.post(f"/run/{run.ref}", data=ACCEPT).status_code == 403
    wrong = client.get(f"/run/{run.ref}?link=guess")
    assert (wrong.status_code, "is unknown" in wrong.text) == (400, True)
    assert 'name="link"' in wrong.text, "a code may be typed again"
    assert people(sessions) == 0
    with reading(sessions) as session:
        assert session.scalars(select(LinkVisit.problem)).all() == ["unknown_link"]


def test_a_mailing_keeps_the_researchers_columns_and_stores_only_the_label(
    made, tmp_path, sessions
):
    file = tmp_path / "people.csv"
    file.write_text("label,mail\nann,ann@example.org\nbob,bob@example.org\n", encoding="utf-8")
    rows = made("--people", str(file))
    assert [(row["mail"], row["label"]) for row in rows] == [
        ("ann@example.org", "ann"), ("bob@example.org", "bob"),
    ]  # fmt: skip
    with reading(sessions) as session:
        stored = session.scalars(select(Link)).all()
    assert [link.label for link in stored] == ["ann", "bob"]


def test_a_mailing_that_cannot_be_read_is_told_without_a_codec_and_makes_nothing(
    links, tmp_path, sessions
):
    file = tmp_path / "people.csv"
    file.write_bytes("label\nJürgen\n".encode("latin-1"))
    told = links("make", "--people", str(file), fails=True)
    assert "the people cannot be read: it is not UTF-8 text" in told and "codec" not in told
    with reading(sessions) as session:
        assert session.scalars(select(Link)).all() == []


def test_no_label_is_a_formula_in_a_mailing_and_a_telephone_number_stays_one(made, tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("label,telephone\n=1+1,+41791234567\n", encoding="utf-8")
    [row] = made("--people", str(file))
    assert (row["label"], row["telephone"]) == ("'=1+1", "+41791234567")


def test_a_revoked_link_lets_nobody_new_in_and_who_came_goes_on(made, links, client, visit):
    first, second = made("--single", "2")
    home = client.post(path_of(first["link"]), data=ACCEPT).location
    links("revoke", "1", second["link"].rpartition("=")[2])
    for row in (first, second):
        assert client.get(path_of(row["link"])).status_code == 400
    assert visit(home).answer(1).status_code == 200
    assert "There are no links" in links("show")


def test_personal_links_lead_to_where_somebody_was(made, links, client, visit):
    [row] = made("--single", "1")
    home = client.post(path_of(row["link"]), data=ACCEPT).location
    visit(home).answer(1)
    assert home in links("resume")
    assert home in links("resume", "1")
    assert "no participant" in links("resume", "nobody", fails=True)


def test_qr_codes_are_drawn_for_each_link(links, tmp_path):
    links("make", "--codes", "2", "--qr", str(tmp_path / "qr"))
    drawn = sorted(path.suffix for path in Path(tmp_path / "qr").iterdir())
    assert drawn == [".png", ".png", ".svg", ".svg"]
    for path in (tmp_path / "qr").glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_a_completion_code_of_ones_own_is_verified(links, start, run, app):
    visitor = start(run)
    ref = app.extensions["parallax"].tokens.read(visitor.home.split("/")[2])
    proof = app.extensions["parallax"].tokens.receipt(ref)
    assert ref in links("verify", proof)
    assert "nobody's" in links("verify", f"{proof}x", fails=True)


@pytest.mark.parametrize(
    "arguments", [[], ["--multi", "--single", "2"], ["--multi", "--list", "9"]]
)
def test_unclear_wishes_are_told_and_make_nothing(links, arguments, sessions):
    links("make", *arguments, fails=True)
    with reading(sessions) as session:
        assert session.scalars(select(Link)).all() == []
