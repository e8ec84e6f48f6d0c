"""`parallax lm serve` takes tiers and faults by the names that the page has."""

import pytest

from lm.answering.answerer import Tier
from lm.answering.stand_in import Fault
from lm.commands.serve import serve


@pytest.mark.parametrize("tier", ["text", "next", "samples"])
def test_every_tier_has_its_name(tier: str):
    context = serve.make_context("serve", ["m", "--tier", tier])
    assert Tier(context.params["tier"]) == tier


def test_every_fault_has_its_name():
    words = [word for fault in Fault for word in ("--fault", fault.value)]
    context = serve.make_context("serve", ["m", *words])
    assert frozenset(map(Fault, context.params["faults"])) == frozenset(Fault)
