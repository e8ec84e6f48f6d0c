"""Local stand-ins for participant panels: each sends participants to a study and takes them back.

The stand-in acts as any panel: the request that lists a study states which ids the panel writes
into the link, and how. The state is in memory only: a restart loses it.
"""

import time
from collections.abc import Callable

from flask import Flask

from marketplace.panels.records import Records
from marketplace.panels.site import PanelFaultPlan, credit_doors, panel_site
from marketplace.serving import Asked, Started

_LARGEST_BODY_BYTES = 1024 * 1024


def create_panels(sleep: Callable[[float], object] = time.sleep) -> Flask:
    """Return the app of all panels: the control API and every panel's routes.

    Args:
        sleep: Delays the answers that a fault makes slow.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    records, faults = Records(), PanelFaultPlan(sleep)
    app.register_blueprint(panel_site(records, faults))
    app.register_blueprint(credit_doors(records, faults))
    return app


def start(asked: Asked) -> Started:
    """Return the started stand-ins."""
    ways_in = (
        f"Researchers: list a study with a POST to {asked.url}/control/studies.",
        f"Participants: a POST to {asked.url}/people answers with their link.",
    )
    return Started(create_panels(), ways_in, False, lambda: None)
