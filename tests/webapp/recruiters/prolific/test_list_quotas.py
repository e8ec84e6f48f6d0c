"""Each list has an address and a number of places of its own on Prolific."""

from collections import Counter

import pytest
from sqlalchemy import delete, select

from webapp.database.engine import reading
from webapp.database.models import Hit, Link, Participant, Recruitment

pytestmark = pytest.mark.one_database


@pytest.fixture
def study_folder(study_folder):
    path = study_folder / "study.toml"
    toml = path.read_text(encoding="utf-8")
    toml = toml.replace("[recruitment]\n", "[recruitment]\nlist_quotas = true\n")
    path.write_text(
        toml.replace("participants_per_list = 1", "participants_per_list = 2"), encoding="utf-8"
    )
    return study_folder


def lists(lab) -> Counter[int]:
    with reading(lab.sessions) as session:
        return Counter(session.scalars(select(Participant.list).order_by(Participant.id)))


def test_each_list_is_filled_by_its_own_address_and_grows_by_what_it_lacks(
    lab, stand_in, shell, clock
):
    study = lab.publish()
    shown = stand_in.call("GET", f"/studies/{study}/")
    assert [each["total_allocation"] for each in shown["access_details"]] == [2, 2]
    assert len({each["external_url"] for each in shown["access_details"]}) == 2
    ways = [lab.arrive(stand_in.person(), study) for _ in range(4)]
    assert stand_in.person().try_to_take(study).status_code == 404
    *staying, (_, way) = ways
    for _, each in staying:
        lab.finish(lab.agree(each))
    home = lab.agree(way)
    assert lists(lab) == {0: 2, 1: 2}
    assert "was changed" not in shell("recruitment", "status", lab.run.ref).output
    # Somebody withdraws, whose place on the platform stays taken: their list alone grows.
    visitor = lab.visit(home)
    visitor.answer(1)
    visitor.client.post(f"{visitor.home}withdraw", data={"wish": "keep"})
    lab.report()
    lab.poll()
    # The answer is lost: what the addresses have is read before anything is added again.
    stand_in.faults({"kind": "reply_lost", "operation": "update-study"})
    assert shell("publish", lab.run.ref, "--yes").exit_code != 0
    stand_in.faults()
    assert shell("publish", lab.run.ref, "--yes").exit_code == 0
    further = stand_in.call("GET", f"/studies/{study}/")["access_details"][2:]
    assert [each["total_allocation"] for each in further] == [1]
    assert further[0]["external_url"] == shown["access_details"][1]["external_url"]
    _, way = lab.arrive(stand_in.person(), study)
    lab.finish(lab.agree(way))
    assert lists(lab) == {0: 2, 1: 3}
    assert shell("publish", lab.run.ref, "--yes").output.count("Offer ") == 0


def test_a_place_that_was_given_back_is_offered_by_the_platform_itself(lab, stand_in):
    study = lab.publish()
    person = stand_in.person()
    submission, way = lab.arrive(person, study)
    lab.agree(way)
    person.give_back(submission)
    lab.poll()
    assert lab.platform.list_places(study).total() == 4
    _, again = lab.arrive(stand_in.person(), study)
    lab.agree(again)
    assert lists(lab)[0] == 2


def test_a_database_from_before_publishing_gets_the_same_addresses(lab, stand_in, shell):
    study = lab.publish()
    with lab.sessions.begin() as session:
        for table in (Link, Hit, Recruitment):
            session.execute(delete(table))
    _, way = lab.arrive(stand_in.person(), study)
    assert shell("publish", lab.run.ref, "--yes").exit_code == 0
    assert len(stand_in.call("GET", "/studies/")["results"]) == 1
    lab.agree(way)
    assert lists(lab) == {0: 1}


def test_whoever_leaves_the_list_out_or_invents_one_is_turned_away(lab, stand_in):
    _, way = lab.arrive(stand_in.person(), lab.publish())
    path, _, query = way.partition("?")
    rest = query.partition("&")[2]
    for wrong in (f"{path}?{rest}", f"{path}?link={'0' * 20}&{rest}"):
        said = lab.app.test_client().post(wrong, data={"decision": "accept"}, base_url=lab.link)
        assert said.status_code in (400, 403)
    assert lists(lab) == {}
