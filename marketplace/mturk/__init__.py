"""A local stand-in for Mechanical Turk: its API and its workers' site, with play money."""

import time
from collections.abc import Callable, Collection
from pathlib import Path

from flask import Flask

from marketplace.mturk.api import create_requester_api
from marketplace.mturk.control import MturkFaultPlan, create_control_api
from marketplace.mturk.site import create_worker_site
from marketplace.mturk.store import EXTENSION, Store
from marketplace.serving import RunningStandIn, StandInOptions
from marketplace.storage import Clock, open_folder, session_key, utc_now

BALANCE_CENTS = 10_000_00
_LARGEST_BODY_BYTES = 1024 * 1024


def create_marketplace(
    folder: Path,
    *,
    balance_cents: int = BALANCE_CENTS,
    now: Clock = utc_now,
    sleep: Callable[[float], object] = time.sleep,
    key_ids: Collection[str] = (),
    public: bool = False,
) -> Flask:
    """Return the app that serves both the requester API and the workers' site.

    Args:
        folder: Folder of its state; created if missing.
        balance_cents: The requester's play money, if the folder is new.
        now: The real clock; the marketplace's clock runs ahead of it by an adjustable time.
        sleep: Delays the answers that a fault makes slow.
        key_ids: The accepted access key ids; empty accepts any.
        public: Whether users of other machines can reach it: then there is no control
            API, and workers cannot set their own record of approved work.

    Raises:
        MarketplaceError: The folder cannot be used.
    """
    folder = open_folder(folder)
    app = Flask(__name__, static_folder=None)
    app.secret_key = session_key(folder)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    app.config["SESSION_COOKIE_NAME"], app.config["SESSION_COOKIE_SAMESITE"] = "marketplace", "Lax"
    store, faults = Store(folder, balance_cents, now), MturkFaultPlan(sleep)
    app.extensions[EXTENSION] = store
    app.register_blueprint(create_requester_api(store, faults, key_ids))
    app.register_blueprint(create_worker_site(store, faults, public=public))
    if not public:
        app.register_blueprint(create_control_api(store, faults))
    return app


def start(options: StandInOptions) -> RunningStandIn:
    """Return the started stand-in; its only currency is US dollars."""
    app = create_marketplace(
        options.folder, balance_cents=options.balance, key_ids=options.keys, public=options.public
    )
    key = options.keys[0] if options.keys else "any"
    instructions = (
        f"Requesters: boto3.client('mturk', endpoint_url='{options.url}',",
        f"    region_name='us-east-1', aws_access_key_id='{key}', aws_secret_access_key='any')",
        f"Workers: open {options.url} and sign in with any ID like A1WORKER.",
    )
    return RunningStandIn(app, instructions, True, app.extensions[EXTENSION].engine.dispose)
