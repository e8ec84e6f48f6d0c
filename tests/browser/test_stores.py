"""The campaigns of stores, small: their own clients, and what goes wrong on the way to them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import store_acts as acts
from tests.browser.pipe_plugin import plugin_claims
from tests.browser.static_site import stores
from tests.browser.store_place import Found, Place, place_of
from tests.prerequisites import PIPE_PLUGIN

Act = Callable[[Place, acts.Contexts], Found]


@pytest.mark.parametrize(
    ("store", "act"),
    [
        ("staged", acts.closed),
        ("staged", acts.full),
        ("jatos", acts.closed),
        ("jatos", acts.full),
        ("jatos", acts.offline_at_the_end),
    ],
)
def test_nothing_that_a_store_acknowledged_is_lost_and_the_rest_is_said(
    tmp_path: Path, new_context, store: str, act: Act
):
    with stores(tmp_path) as kept:
        found = act(place_of(store, kept, tmp_path), new_context)
    assert (found.lost, found.unsaid, found.unfinished) == (0, 0, [])
    assert found.acknowledged + found.waiting > 0


def test_a_counter_that_is_switched_off_leaves_sessions_to_chance(tmp_path: Path, new_context):
    with stores(tmp_path) as kept:
        place = place_of("datapipe", kept, tmp_path)
        kept.app.blueprints["datapipe"].experiments["e1"] = acts.Experiment(n_conditions=0)
        found = Found()
        acts.finish(acts.whole(new_context(), place), place, found, "switched off")
    assert (found.lost, found.unfinished) == (0, [])


def test_datapipes_stand_in_answers_as_jspsychs_own_plugin_expects(tmp_path: Path, page):
    npm = PIPE_PLUGIN.require()
    with stores(tmp_path) as kept:
        claims = list(plugin_claims(kept, page, npm))
    assert [claim for claim, true in claims if not true] == []
    assert len(claims) == 7
