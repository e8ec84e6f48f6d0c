"""The recruiter whose arrivals and exits are described by the study's own ``[panel]``."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from experiment.panels.check_panel import unbounded_patterns
from experiment.panels.panel import Panel, only_value, preset
from experiment.panels.signing import signed_address, with_signatures
from experiment.panels.table import PRESETS
from experiment.panels.templates import UnfilledError, fill, fill_address, names_in
from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.errors import RunError, WebappError
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing, checked_id, other_study
from webapp.recruiters.base import Recruiter, ReportTerms
from webapp.recruiters.endings import Departure, Exit, ExitForm
from webapp.recruiters.panel.known import known_of, secrets_at_hand, secrets_of, text_of
from webapp.recruiters.panel.reporting import call
from webapp.recruiters.panel.settings import PanelSettings
from webapp.recruiters.panel.signature import Signatures
from webapp.recruiters.terms import AT_THE_DOOR, Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor

_STANDS_FOR_NAME = "x"


class PanelRecruiter(Recruiter):
    """Brings participants of a panel by a link, and sends them back by another.

    Args:
        settings: The installation's secrets.
    """

    name = "panel"
    settings_model = PanelSettings
    # Panels' participant ids: 24 or 32 hexadecimal digits.
    id_patterns = (r"\b[0-9a-f]{24}\b", r"\b[0-9a-fA-F]{32}\b")
    link_ids = tuple(
        dict.fromkeys(id_ for name in PRESETS for id_ in preset(name).get("person", []))
    )
    terms = Terms(AT_THE_DOOR | {"panel"}, frozenset({"recruitment", "payment"}))

    def __init__(self, settings: PanelSettings) -> None:
        super().__init__(settings)
        self._settings, self._signatures = settings, Signatures()

    def check(self, study: Study) -> None:
        """Check before a launch that the study has a panel and no secret of it is missing.

        Raises:
            WebappError: The panel or a secret is missing.
        """
        panel = _panel(study)
        for path, why in unbounded_patterns(panel):
            raise RunError(
                "the pattern could keep the server busy for as long as somebody likes",
                where=f"study.toml, [panel] {'.'.join(path)}",
                expected=why,
            )
        secrets_of(panel, self._settings)

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the sites to which the study's endings lead."""
        if study is None or study.panel is None:
            return ()
        panel = study.panel
        addresses = filter(None, map(panel.address_of, Ending))
        found = (_site(panel, address) for address in addresses)
        return tuple(dict.fromkeys((*filter(None, found), *panel.sites)))

    def posted_link(self, public_url: str, run_ref: str, study: Study) -> str:
        """Return the link to paste on the platform, with the platform's placeholders."""
        link = self.invitation(public_url, run_ref)
        pairs = [
            f"{name}={parameter.placeholder}"
            for name, parameter in _panel(study).parameters.items()
            if parameter.placeholder
        ]
        return f"{link}?{'&'.join(pairs)}" if pairs else link

    def arrival(self, landing: Landing) -> Arrival:
        """Return the participant that the link names.

        ``?preview=1`` opens a preview.

        Raises:
            ArrivalError: The platform would not have made the link, or made it for another study.
        """
        panel, arguments = _panel(landing.study), landing.arguments
        if arguments.get("preview") == "1":
            return Arrival(platform_id="" if panel.person else None, preview=True)
        kept = {
            name: checked_id(arguments, name, parameter.pattern)
            for name, parameter in panel.parameters.items()
            if parameter.required or arguments.get(name)
        }
        for name, parameter in panel.parameters.items():
            only = only_value(panel, parameter.only)
            if only and kept.get(name, only) != only:
                raise other_study(name)
        if panel.signature is not None:
            try:
                self._signatures.check(panel, landing, secrets_of(panel, self._settings))
            except ArrivalError as error:
                error.kept = kept
                raise
        person = " ".join(kept[name] for name in panel.person) or None
        link = arguments.get("link", "") if panel.access_codes else None
        # A study whose signature does not cover the participant is refused.
        signed = panel.signature is not None and person is not None
        return Arrival(person, link=link, proven=signed, parameters=kept)

    def exit(self, departure: Departure) -> Exit:
        """Return the ending's redirect or form, its code, and the page's text about them.

        A form or code that lacks a value for this participant is left out; the text then says what
        to do.
        """
        if departure.study.panel is None:
            return super().exit(departure)
        panel = departure.study.panel
        known = known_of(panel, departure, secrets_at_hand(panel, self._settings))
        form = _form(panel, departure.ending, known)
        way = panel.way_back(departure.ending)
        reported = way.report is not None and bool(departure.receipt)
        text = way.text or text_of(
            departure.ending, form=form is not None, code=bool(known["code"]), reported=reported
        )
        return Exit(text, form, known["code"])

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return a demonstration for each known panel."""
        from webapp.recruiters.panel.demonstration import demonstrations

        return demonstrations()

    def visitor(self) -> "Visitor":
        """Return the factory of simulated participants, who come through the panel's stand-in.

        Raises:
            WebappError: The settings name no stand-in.
        """
        from webapp.recruiters.simulated_session import StandInSession

        if not self._settings.stand_in:
            raise WebappError(
                "simulated participants of a panel need a stand-in of the panel to send them",
                where="panel_stand_in",
                remedy="Start one with: parallax marketplace --platform panels",
            )
        return partial(StandInSession, listed=self._settings.stand_in)

    def report_terms(self, study: Study, ending: Ending) -> ReportTerms | None:
        """Return how an ending is reported to the study's panel; None if it is not reported."""
        report = study.panel and study.panel.way_back(ending).report
        if study.panel is None or not report:
            return None
        return ReportTerms(report.repeatable, study.panel.report_tries)

    def report(self, departure: Departure) -> str:
        """Report the end to the panel, and return the panel's answer.

        Raises:
            PlatformUnreachable: The outcome is unknown.
            PlatformError: The panel refused, or the link lacked a value that the report needs.
            WebappError: The installation lacks a secret.
        """
        panel = _panel(departure.study)
        report = panel.way_back(departure.ending).report
        assert report is not None, "this ending is not reported to the panel"
        secrets = secrets_of(panel, self._settings)
        return call(report, panel.signatures, known_of(panel, departure, secrets), secrets.values())


def _panel(study: Study) -> Panel:
    if study.panel is None:
        raise WebappError(
            f'the study "{study.name}" does not say which panel its participants come from',
            where="study.toml, [panel]",
            expected="a table [panel] with a preset or with parameters of its own",
            remedy="docs/panels.md says what to write for each panel",
        )
    return study.panel


def _form(panel: Panel, ending: Ending, known: dict[str, str]) -> ExitForm | None:
    way, address = panel.way_back(ending), panel.address_of(ending)
    if not address:
        return None
    try:
        filled = signed_address(address, panel.signatures, known)
        signed = with_signatures(panel.signatures, known)
        fields = {name: fill(template, signed) for name, template in way.fields.items()}
    except UnfilledError:
        return None
    redirect = ExitForm.redirect(filled)
    if way.method == "redirect":
        return redirect
    return replace(redirect, fields={**redirect.fields, **fields}, method="post")


def _site(panel: Panel, address: str) -> str:
    """Return the fixed site of an address, which no participant's values can change."""
    others = {name: quote(_STANDS_FOR_NAME) for name in names_in(address)}
    try:
        parts = urlsplit(fill_address(address, {**others, **panel.values}))
    except UnfilledError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
