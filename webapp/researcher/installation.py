"""What ``parallax doctor`` finds, as a page."""

import json
from collections import Counter
from pathlib import Path

from flask import Blueprint, current_app, render_template

from webapp.core.i18n import gettext
from webapp.core.own_process import parallax
from webapp.errors import RequestError
from webapp.researcher.access import allowed
from webapp.users.roles import Role

installation_pages = Blueprint("installation", __name__)


@installation_pages.get("/installation")
@allowed(Role.OWNER)
def show() -> str:
    """Show every finding, faults first; a process of its own checks the installation.

    Raises:
        RequestError: The checks could not be made.
    """
    checked = parallax(Path(current_app.instance_path), "doctor", "--json")
    if not checked.worked:
        raise RequestError(
            gettext("The installation could not be checked: %(text)s", text=checked.text),
            status=500,
            code="unchecked",
        )
    findings = json.loads(checked.text)
    worst_first = ("fault", "warning", "good")
    findings.sort(key=lambda each: worst_first.index(each["level"]))
    counts = Counter(each["level"] for each in findings)
    return render_template("researcher/installation.html", findings=findings, counts=counts)
