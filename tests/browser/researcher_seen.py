"""Which researcher pages a browser has looked at, and which nobody has seen yet.

A page has a template that extends theirs, or is a report. So a page that is new, and that no
walk comes to, fails a test.
"""

from dataclasses import dataclass, field
from pathlib import Path

from flask import Flask, Response, request, request_finished, template_rendered

import webapp

TEMPLATES = Path(webapp.__file__).parent / "templates"
# Reports are pages of their own, which an analysis wrote.
REPORTS = {"report", "shared_report"}
# What a GET sends that is no page to be read, or a way to another one.
NO_PAGE = {
    "api.show_run",
    "api.list_runs",
    "api.list_decisions",
    "api.list_statements",
    "audit.download_audit_csv",
    "audit.download_audit_json",
    "charts.send_charts",
    "live.stream_live_part",
    "power.download_simulation",
    "power.send_figure",
    "report_pages.download_report",
    "researcher_files.static",
    "studies.download_study",
    "elsewhere.redirect_to_provider",
    "elsewhere.sign_in_from_provider",
}


def pages() -> set[str]:
    """Return the name of every researcher page: that of its template, or of a kind of report."""
    own = (TEMPLATES / "researcher").glob("*.html")
    return REPORTS | {each.stem for each in own if "{% extends" in each.read_text("utf-8")}


@dataclass
class Seen:
    """What a server rendered while a browser walked, and what was looked at.

    Attributes:
        pages: The pages that were looked at, by their templates' names.
        addresses: The endpoints that answered a GET with a page.
    """

    app: Flask
    pages: set[str] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)
    _last: str = ""

    def __post_init__(self) -> None:
        template_rendered.connect(self._rendered, self.app)
        request_finished.connect(self._answered, self.app)

    def look(self) -> None:
        """Note that the page that was made last is looked at."""
        self.pages.add(self._last)

    def refuse_unseen(self) -> None:
        """Fail for a page or an address that the walk did not come to."""
        assert pages() <= self.pages, f"not looked at: {sorted(pages() - self.pages)}"
        wanted = {
            rule.endpoint for rule in self.app.url_map.iter_rules()
            if rule.rule.startswith("/researcher") and "GET" in (rule.methods or ())
        }  # fmt: skip
        unseen = wanted - self.addresses - NO_PAGE
        assert not unseen, f"no page of {sorted(unseen)} was opened, nor does NO_PAGE name it"

    def _rendered(self, _app: Flask, template: object, **_: object) -> None:
        folder, _, name = str(getattr(template, "name", "")).partition("/")
        if folder == "researcher" and name.removesuffix(".html") in pages():
            self._last = name.removesuffix(".html")

    def _answered(self, _app: Flask, response: Response, **_: object) -> None:
        if request.method != "GET" or response.mimetype != "text/html" or not request.endpoint:
            return
        self.addresses.add(request.endpoint)
        if request.endpoint == "report_pages.read_report" and response.status_code == 200:
            self._last = "report"
        if request.endpoint == "report_pages.read_shared_report" and response.status_code == 200:
            self._last = "shared_report"
