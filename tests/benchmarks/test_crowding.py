"""One machine with forged browsers, and a class behind one address: benchmarks/crowding.py."""

from benchmarks import crowding

PLACES, PEOPLE = 240, 200


def test_a_class_of_200_is_in_within_a_minute_and_one_machine_keeps_20_places(tmp_path):
    lab = crowding.Installation(tmp_path / "class", PLACES)
    begun = lab.clock()
    came = 0
    for _ in range(PEOPLE):
        came += lab.browser(crowding.SCHOOL).arrive()
        lab.clock.go_on(crowding.MINUTE_S / PEOPLE)
    assert (lab.clock() - begun).total_seconds() <= 60.1
    assert came == lab.held(crowding.SCHOOL) == PEOPLE
    # The machine answers everything as fast as it can, which counts for nothing.
    taken, others, kept = crowding.attack(tmp_path / "machine", PLACES, PLACES + 20, "everything")
    assert (taken, others, kept) == (PLACES, PLACES - 20, 20)


def test_a_machine_that_came_first_leaves_a_class_behind_one_address_its_half_at_once(tmp_path):
    # Nothing tells 200 people behind one address from 200 forged browsers in their first minute.
    lab = crowding.Installation(tmp_path / "both", PLACES)
    for _ in range(PLACES):
        assert lab.browser(crowding.MACHINE).arrive()
    came = sum(lab.browser(crowding.SCHOOL).arrive() for _ in range(PEOPLE))
    assert came == lab.held(crowding.SCHOOL) == lab.held(crowding.MACHINE) == PLACES // 2
