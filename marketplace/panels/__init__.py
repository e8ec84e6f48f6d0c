"""A town of panels on one's own machine: each sends people by its links and takes them back.

It plays the participants' side of Prolific, CloudResearch Connect, SONA, Toloka, Respondent,
Besample, Testable Minds and a classroom, as their own pages describe it. Its state is in memory: a
restart forgets it.
"""

import time
from collections.abc import Callable

from flask import Flask

from marketplace.panels.credit import credit_doors
from marketplace.panels.faults import PanelFaultPlan
from marketplace.panels.site import panel_site
from marketplace.panels.town import Town

_LARGEST_BODY_BYTES = 1024 * 1024


def create_panels(sleep: Callable[[float], object] = time.sleep) -> Flask:
    """Return the town: its control address, and every panel's doors.

    Args:
        sleep: Holds back the answers that a fault makes slow.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_BODY_BYTES
    town, faults = Town(), PanelFaultPlan(sleep)
    app.register_blueprint(panel_site(town, faults))
    app.register_blueprint(credit_doors(town, faults))
    return app
