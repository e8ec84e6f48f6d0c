"""The researchers' API: the calls of Prolific's own API document, under its names."""

from collections.abc import Callable

from flask import Blueprint

from marketplace.control import FaultPlan
from marketplace.prolific.api.hooks import add_secrets, add_subscriptions
from marketplace.prolific.api.middleware import ApiRouter, error_response
from marketplace.prolific.api.people import (
    add_demographics,
    add_groups,
    add_messages,
    add_test_studies,
)
from marketplace.prolific.api.studies import add_costs, add_studies
from marketplace.prolific.api.submissions import add_bonuses, add_submissions
from marketplace.prolific.api.workspaces import add_workspaces
from marketplace.prolific.store import Store

__all__ = ["error_response", "researcher_door"]


def create_researcher_api(
    store: Store, faults: FaultPlan, on_done: Callable[[], None]
) -> Blueprint:
    """Return the blueprint of the API.

    Args:
        store: The stand-in's state.
        faults: The planned faults.
        on_done: Called after each API call.
    """
    router = ApiRouter(store, faults, on_done)
    for add in (
        *(add_workspaces, add_studies, add_costs, add_submissions, add_bonuses),
        *(add_secrets, add_subscriptions, add_groups, add_messages, add_demographics),
        add_test_studies,
    ):
        add(router)
    return router.blueprint
