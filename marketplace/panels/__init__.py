"""Local stand-ins for participant panels: each sends participants to a study and takes them back.

The stand-in acts as any panel: the request that lists a study states which ids the panel writes
into the link, and how. The state is in memory only: a restart loses it.
"""

import time
from collections.abc import Callable

from flask import Flask

from marketplace.panels.records import Records
from marketplace.panels.site import PanelFaultPlan, create_credit_blueprint, create_panel_site
from marketplace.serving import RunningStandIn, StandInOptions

_LARGEST_BODY_BYTES = 1024 * 1024


def create_panels(sleep: Callable[[float], object] = time.sleep) -> Flask:
    """Return the app of all panels: the control API and every panel's routes.

    Args:
        sleep: Delays the answers that a fault makes slow.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    records, faults = Records(), PanelFaultPlan(sleep)
    app.register_blueprint(create_panel_site(records, faults))
    app.register_blueprint(create_credit_blueprint(records, faults))
    return app


def start(options: StandInOptions) -> RunningStandIn:
    """Return the started stand-ins."""
    instructions = (
        f"Researchers: list a study with a POST to {options.url}/control/studies.",
        f"Participants: a POST to {options.url}/people answers with their link.",
    )
    return RunningStandIn(create_panels(), instructions, False, lambda: None)
