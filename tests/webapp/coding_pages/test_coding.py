"""Two people code typed answers, a third decides, and nobody sees who answered."""

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from experiment.coding.rounds import Codes
from tests.webapp.coding_pages.conftest import CODING
from tests.webapp.researcher.pressing import Walk
from webapp.codes.codes import find_frozen
from webapp.coding_pages.command import coding as command
from webapp.database.models import Participant, RunItem, Trial
from webapp.database.models.run import Code, Coder
from webapp.users.roles import Role

RIGHT = {"dog": "alive", "Mouse": "alive", "rock": "thing", "river": "thing"}


def type_answers(start, run, texts):
    """One participant answers every trial: the first targets with the texts, the rest alike."""
    visitor, typed = start(run), iter(texts)
    for trial in visitor.session()["trials"]:
        sent = visitor.answer(trial["position"], side=None, details={"text": next(typed, "house")})
        assert sent.status_code == 200
    return visitor


@pytest.fixture
def answered(start, run):
    return type_answers(start, run, [*["Mouse"] * 5, *["rock"] * 3])


@pytest.mark.one_database
def test_a_coder_sees_each_different_answer_once_and_neither_person_nor_condition(
    answered, start, run, coder, study
):
    again = type_answers(start, run, ["mouse.", *["house"] * 9])
    here = coder("Ada")
    cards, page = here.cards(), here.page()
    assert cards[0]["typed"] == "dog" and cards[0]["right"] == "alive"
    typed = [card["typed"] for card in cards[1:]]
    # "house" is on the study's list. What the second person typed is one answer with the first's
    # where both saw the same text.
    assert set(typed) <= {"Mouse", "mouse.", "rock"}
    assert len({(c["before"], c["typed"].strip(".").lower()) for c in cards[1:]}) == len(typed)
    for hidden in ("strong", "weak", "condition", "participant"):
        assert f'"{hidden}' not in page
    assert again.home not in page


def test_the_categories_of_two_coders_and_a_third_are_frozen_and_later_codes_change_nothing(
    answered, run, coder, researcher, sessions
):
    first, second = coder("Ada"), coder("Ben")
    first.code(RIGHT)
    assert first.cards() == []
    second.code(RIGHT | {"rock": "alive"})
    desk = researcher(Role.OWNER)
    refused = desk.post(f"/runs/{run.ref}/coding/freeze")
    assert refused.status_code == 409
    assert "0 have not been coded by both coders, and" in refused.text
    third = coder("Cy", "decide")
    disputed = third.cards()
    assert {card["typed"] for card in disputed} == {"rock"}
    assert disputed[0]["codes"] == ["Alive", "A thing"]
    third.code({"rock": "thing"})
    assert desk.post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    page = desk.get(f"/runs/{run.ref}/coding").text
    assert "Version 1 was frozen" in page and "0 of these are undecided" in page
    assert desk.post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    assert "Version 2" in desk.get(f"/runs/{run.ref}/coding").text


@pytest.mark.one_database
def test_a_coder_who_codes_half_is_named_in_numbers_and_nothing_is_frozen(
    answered, run, coder, researcher
):
    first, second = coder("Ada"), coder("Ben")
    first.code(RIGHT)
    cards = second.cards()
    for card in cards[: len(cards) // 2]:
        second.send(card, RIGHT[card["typed"]])
    assert len(second.cards()) == len(cards) - len(cards) // 2
    refused = researcher(Role.OWNER).post(f"/runs/{run.ref}/coding/freeze")
    n_left = len(second.cards())
    assert f"{n_left} have not been coded by both coders" in refused.text
    assert "No version is frozen" in refused.text


@pytest.mark.one_database
def test_a_coder_who_codes_an_answer_twice_leaves_one_code(answered, run, coder, sessions):
    here = coder("Ada")
    card = here.cards()[1]
    assert here.send(card, "alive").status_code == 200
    assert here.send(card, "thing").status_code == 200
    with sessions() as session:
        assert [code.category for code in session.scalars(select(Code))] == ["thing"]


@pytest.mark.one_database
def test_what_is_no_code_is_refused(answered, coder):
    here = coder("Ada")
    card = here.cards()[1]
    for wrong in ({"category": "fish"}, {"round": 7}, {"answer": "=CMD()"}, {"answer": "x" * 2000}):
        body = {"round": 1, "answer": card["answer"], "category": "alive"} | wrong
        refused = here.client.post(f"{here.address}/codes", json=body)
        assert refused.status_code in (400, 413), wrong
        assert refused.status_code == 413 or "no such answer or category" in refused.text


@pytest.mark.one_database
def test_there_are_two_coders_and_a_link_that_was_ended_opens_nothing(
    answered, run, coder, researcher
):
    first = coder("Ada")
    coder("Ben")
    desk = researcher(Role.OWNER)
    refused = desk.post(f"/runs/{run.ref}/coding/coders", label="Eve", task="code")
    assert refused.status_code == 409 and "two people code already" in refused.text
    refused = desk.post(f"/runs/{run.ref}/coding/coders", label=" ", task="decide")
    assert "the coder has no name" in refused.text
    token = first.address.rpartition("/")[2]
    assert desk.post(f"/runs/{run.ref}/coding/end", coder=token).status_code == 303
    assert first.client.get(first.address).status_code == 404
    assert "one person decides already" not in desk.get(f"/runs/{run.ref}/coding").text
    coder("Cy", "decide")
    refused = desk.post(f"/runs/{run.ref}/coding/coders", label="Di", task="decide")
    assert "one person decides already" in refused.text


@pytest.mark.both_databases
def test_the_answers_of_an_erased_person_leave_the_coding(
    start, run, coder, researcher, sessions, instance
):
    type_answers(start, run, ["rock"] * 10)
    secret = type_answers(start, run, ["Kowalska"] * 10)
    first = coder("Ada")
    assert "Kowalska" in first.page()
    first.code(RIGHT | {"Kowalska": "alive"})
    second = coder("Ben")
    second.code(RIGHT | {"Kowalska": "thing"})
    third = coder("Cy", "decide")
    assert {card["typed"] for card in third.cards()} == {"Kowalska"}
    with sessions() as session:
        codes = session.scalars(select(Code)).all()
        assert codes and not [code for code in codes if "owalska" in code.answer.lower()]
        assert session.scalars(select(Participant)).all()
    home = secret.home
    assert secret.client.post(f"{home}withdraw", data={"wish": "erase"}).status_code == 303
    assert third.cards() == []
    fresh = [page for page in (first.page(), second.page(), third.page()) if "owalska" in page]
    assert fresh == []
    desk = researcher(Role.OWNER)
    assert desk.post(f"/runs/{run.ref}/coding/freeze").status_code == 303


@pytest.mark.one_database
@pytest.mark.parametrize("coding", [""])
def test_a_study_without_categories_has_no_coding(answered, run, researcher):
    desk = researcher(Role.OWNER)
    page = desk.get(f"/runs/{run.ref}/coding")
    assert "declares no categories" in page.text
    refused = desk.post(f"/runs/{run.ref}/coding/coders", label="Ada", task="code")
    assert refused.status_code == 409
    assert "the study declares no categories, so its answers cannot be coded" in refused.text
    assert ">Coding</a>" not in desk.get(f"/runs/{run.ref}").text


@pytest.mark.one_database
@pytest.mark.parametrize("coding", [CODING.replace("repeated = 0.0", "repeated = 0.5")])
def test_every_answer_of_the_first_half_comes_again_at_half_the_length_later(answered, coder):
    cards = coder("Ada").cards()[1:]
    first = [card["answer"] for card in cards if card["round"] == 1]
    again = [card["answer"] for card in cards if card["round"] == 2]
    assert 0 < len(again) <= len(first)
    assert len(set(first)) == len(first) and set(again) <= set(first)
    places = [(card["answer"], card["round"]) for card in cards]
    assert all(places.index((one, 1)) < places.index((one, 2)) for one in again)


@pytest.mark.one_database
def test_no_button_of_the_coding_is_refused_when_it_is_shown(run, researcher, instance):
    here, coding = researcher(Role.RESEARCHER), f"/runs/{run.ref}/coding"
    address = f"/researcher{coding}"
    for n_links, task in enumerate(("code", "code", "decide", "")):
        walk = Walk(here.client, instance, address, {})
        walk.go(address)
        assert set(walk.pressed.values()) == ({303} if walk.pressed else set())
        # One for another link while somebody is missing, and one for each link to end it.
        assert len(walk.pressed) == bool(task) + (n_links > 0)
        if task:
            assert here.post(f"{coding}/coders", label="Ada", task=task).status_code == 303


@pytest.mark.both_databases
def test_who_decides_sees_what_a_model_proposed_and_no_coder_does(
    answered, run, coder, researcher, sessions, instance, tmp_path
):
    first, second = coder("Ada"), coder("Ben")
    items = {card["answer"]: card for card in first.cards()[1:]}
    with sessions() as session:
        trials = session.execute(select(Trial, RunItem.item).join(RunItem)).all()
    ids = {item["good"].partition("___")[0]: item["item_id"] for _, item in trials}
    rows = [f"{ids[card['before']]},{card['typed']},thing,some-model\n" for card in items.values()]
    table = tmp_path / "model.csv"
    table.write_text("item_id,typed,category,model\n" + "".join(rows), "utf-8")
    stored = CliRunner().invoke(
        command, ["propose", run.ref, str(table), "--instance", str(instance)]
    )
    assert f"codes of {len(rows)} of" in stored.output, stored.exception
    first.code(RIGHT)
    assert "some-model" not in second.page()
    second.code(RIGHT | {"rock": "alive"})
    third = coder("Cy", "decide")
    assert {card["proposed"]["model"] for card in third.cards()} == {"some-model"}
    third.code({"rock": "alive"})
    assert researcher(Role.OWNER).post(f"/runs/{run.ref}/coding/freeze").status_code == 303
    with sessions() as session:
        frozen = find_frozen(session, run)
        tokens = [
            each.token for each in session.scalars(select(Coder)) if each.label == "some-model"
        ]
    codes = [Codes(*code) for code in frozen.codes.values()]
    by_people = [code for code in codes if not code.listed]
    assert {code.proposed for code in by_people} == {"thing"}
    assert {code.category for code in by_people} == {"alive"}
    assert len(tokens) == 1 and first.client.get(f"/coding/{tokens[0]}").status_code == 404
