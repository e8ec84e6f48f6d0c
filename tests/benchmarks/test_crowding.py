"""One machine with forged browsers and a class, both in one run: benchmarks/crowding.py."""

import pytest

from benchmarks import crowding

PLACES, BROWSERS, PEOPLE = 240, 80, 200


@pytest.mark.parametrize("theirs", [crowding.MACHINE, crowding.SCHOOL])
def test_a_class_of_200_is_in_within_a_minute_and_one_machine_holds_20_places(tmp_path, theirs):
    clock = crowding.Clock()
    lab = crowding.Installation(tmp_path / "lab", PLACES, clock)
    machine, people = crowding.Crowd(lab, crowding.MACHINE), crowding.Crowd(lab, theirs)
    begun = clock()
    for number in range(PEOPLE):
        # The machine comes first each time; it answers everything as fast as it can.
        if number < BROWSERS:
            machine.come(crowding.WAYS["everything"])
        people.come()
        clock.go_on(crowding.MINUTE_S / PEOPLE)
    assert (clock() - begun).total_seconds() <= 60.1
    crowding.give_places_to_workers(lab.services)
    assert len(people.inside) == PEOPLE
    assert len(machine.inside) == lab.finished(machine.tokens) == BROWSERS
    assert lab.held(machine.tokens) <= 20
