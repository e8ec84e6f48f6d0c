"""Roles of own columns: factors within and between items, and what is neither."""

from itertools import product

from experiment.tables.column import Role, roles_of_items


def rows():
    """Two frames of each animacy, each in both numbers; a frequency differs from item to item."""
    return [
        {
            "construction": "agreement",
            "condition": f"{number}_{animacy}",
            "template": "agreement",
            "frame": f"item={frame}{animacy}",
            "number": number,
            "animacy": animacy,
            "frequency": f"{frame}{number}",
            "source": "corpus",
            "verb": f"verb {frame}",
        }
        for frame, animacy, number in product("12", ("animate", "inanimate"), ("sg", "pl"))
    ]


NAMES = ("number", "animacy", "frequency", "source", "verb")


def test_a_factor_that_varies_within_frames_is_within_items_and_another_between():
    found = roles_of_items(rows(), NAMES)
    assert found["number"] is Role.WITHIN_ITEMS
    assert found["animacy"] is Role.BETWEEN_ITEMS


def test_a_column_that_no_condition_fixes_or_that_never_varies_is_an_own_column():
    found = roles_of_items(rows(), NAMES)
    assert {found[name] for name in ("frequency", "source", "verb")} == {Role.OWN}


def test_a_column_that_the_study_names_is_a_factor_if_it_varies():
    found = roles_of_items(rows(), NAMES, ["verb", "source"])
    assert found["verb"] is Role.BETWEEN_ITEMS
    assert found["source"] is Role.OWN
