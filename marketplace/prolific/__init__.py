"""A local stand-in for Prolific: its API and its participants' site, with play money."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask, Response, request

from marketplace.prolific.api import create_researcher_api, error_response
from marketplace.prolific.control import ProlificFaultPlan, create_control_api
from marketplace.prolific.documents import FEATURES
from marketplace.prolific.errors import RefusedError, UnknownError
from marketplace.prolific.expiry import apply_expiry
from marketplace.prolific.participation import new_private_key
from marketplace.prolific.site import create_participant_site
from marketplace.prolific.store import EXTENSION, Store
from marketplace.prolific.webhooks import WebhookSender
from marketplace.serving import RunningStandIn, StandInOptions
from marketplace.storage import Clock, open_folder, session_key, utc_now

BALANCE_MINOR = 10_000_00
_LARGEST_BODY_BYTES = 1024 * 1024
# The platform's minimum and recommended hourly pay, in minor units.
_HOURLY_PAY_MINOR = {"GBP": (6_00, 9_00), "USD": (8_00, 12_00)}


def create_prolific(
    folder: Path,
    *,
    currency: str = "GBP",
    balance_minor: int = BALANCE_MINOR,
    token: str = "",
    bulk_s: float = 0.0,
    now: Clock = utc_now,
    webhooks_by_themselves: bool = True,
    public: bool = False,
) -> Flask:
    """Return the app that serves both the researchers' API and the participants' site.

    Args:
        folder: Folder of its state; created if missing.
        currency: The workspace's currency, ``GBP`` or ``USD``, if the folder is new.
        balance_minor: The wallet's play money in minor units, if the folder is new.
        token: The accepted API token; empty accepts any.
        bulk_s: Seconds until an asynchronous call's work is done.
        now: The real clock; the stand-in's clock runs ahead of it by an adjustable time.
        webhooks_by_themselves: Whether events are delivered as they happen; otherwise only when the
            control API requests it.
        public: Whether users of other machines can reach it: then there is no control
            API.

    Raises:
        MarketplaceError: The folder cannot be used.
    """
    folder = open_folder(folder)
    app = Flask(__name__, static_folder=None)
    app.secret_key = session_key(folder)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    app.config["SESSION_COOKIE_NAME"], app.config["SESSION_COOKIE_SAMESITE"] = "prolific", "Lax"
    account = _account_factory(
        currency, deposited_minor=balance_minor, features=list(FEATURES), token=token, bulk_s=bulk_s
    )
    store, faults = Store(folder, account, now, apply_expiry), ProlificFaultPlan()
    app.extensions[EXTENSION] = store
    _add_blueprints(app, store, faults, by_themselves=webhooks_by_themselves, public=public)
    return app


def _account_factory(currency: str, **chosen: object) -> Callable[[], dict[str, Any]]:
    minimum, recommended = _HOURLY_PAY_MINOR[currency]

    def account() -> dict[str, Any]:
        return {
            **chosen,
            "currency": currency,
            "least_per_hour_minor": minimum,
            "recommended_per_hour_minor": recommended,
            "private_key": new_private_key(),
        }

    return account


def _add_blueprints(
    app: Flask, store: Store, faults: ProlificFaultPlan, *, by_themselves: bool, public: bool
) -> None:
    courier = WebhookSender(store, faults)
    on_done = courier.wake if by_themselves else _do_nothing
    app.register_blueprint(create_researcher_api(store, faults, on_done))
    app.register_blueprint(create_participant_site(store, on_done))
    app.register_error_handler(404, _answer_unknown_path)
    app.register_error_handler(405, _answer_wrong_method)
    if not public:
        app.register_blueprint(create_control_api(store, faults, courier))


def _do_nothing() -> None:
    """Do nothing after a call: waiting events stay undelivered."""


def _answer_unknown_path(_error: Exception) -> Response:
    return error_response(UnknownError(f"address: {request.path}"))


def _answer_wrong_method(_error: Exception) -> Response:
    return error_response(RefusedError(f"{request.method} is not allowed here.", status=405))


def start(options: StandInOptions) -> RunningStandIn:
    """Return the started stand-in."""
    app = create_prolific(
        options.folder,
        balance_minor=options.balance,
        currency=options.currency,
        token=options.keys[0] if options.keys else "",
        public=options.public,
    )
    token = options.keys[0] if options.keys else "any"
    instructions = (
        f"Researchers: {options.url}/api/v1 with the header Authorization: Token {token}.",
        f"Participants: open {options.url} and sign in with any ID of 24 digits 0-9a-f.",
    )
    return RunningStandIn(app, instructions, True, app.extensions[EXTENSION].engine.dispose)
