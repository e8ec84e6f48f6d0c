"""What names a list or a factor is checked before lists are built; targets take turns."""

from collections import Counter
from itertools import product

import pytest

from experiment.design.latin_square import choose_targets
from experiment.design.lists import check_factors
from experiment.design.session import session_number
from experiment.errors import DesignError
from experiment.studies.design import Design
from tests.experiment.design.small_studies import make_study


def design(**keys: object) -> Design:
    return make_study([{"templates": ["simple"]}], lists=4, trials_per_list=2, **keys).design


def test_a_quota_is_of_a_list_that_there_is():
    check_factors(design(quotas=[{"lists": [0, 3], "participants_per_list": 2}]))
    quotas = [{"lists": [n], "participants_per_list": 2} for n in (0, 4)]
    with pytest.raises(DesignError, match=r"quota 2 is for list 4.* are 4 lists.*lists 0 to 3"):
        check_factors(design(quotas=quotas))


@pytest.mark.parametrize("name", ["list", "kind", "state"])
def test_a_factor_is_not_named_like_a_column_of_the_exports(name: str):
    check_factors(design(factors={"speed": ["slow", "fast"]}))
    with pytest.raises(DesignError, match=f'cannot be called "{name}"'):
        check_factors(design(factors={name: ["slow", "fast"]}))


def test_a_template_is_dealt_once_to_a_list():
    with pytest.raises(DesignError, match=r"template\(s\) simple would occur .* more than once"):
        check_factors(design(shared=[{"templates": ["simple"]}]))


def test_conditions_take_turns_as_targets_from_list_to_list():
    for n_conditions, each, caught in product(range(1, 5), range(1, 4), range(12)):
        conditions = [n % n_conditions for n in range(n_conditions * each)]
        if caught > len(conditions):
            continue
        uses = Counter[int]()
        for list_ in range(6):
            kept = choose_targets(conditions, n_conditions, caught, list_)
            assert len(kept) == len(conditions) - caught
            uses.update(conditions[index] for index in kept)
            numbers = [uses[condition] for condition in range(n_conditions)]
            assert max(numbers) - min(numbers) <= 1


def test_sessions_are_numbered_by_rounds_and_those_of_added_places_come_last():
    made = design(quotas=[{"lists": [2], "participants_per_list": 2}])
    first = [
        session_number(made, list_, place, round_)
        for round_, place, list_ in product(range(3), range(4), range(4))
    ]
    assert first == list(range(1, 49))
    added = [session_number(made, list_, 4 + place) for place, list_ in product(range(4), range(4))]
    assert added == list(range(added[0], added[0] + 16)) and added[0] > 10**9
