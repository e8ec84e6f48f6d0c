"""The recruiter whose arrivals and exits are described by the study's own ``[panel]``."""

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from experiment.panels.panel import Panel, only_value, preset, unbounded_patterns
from experiment.panels.signing import (
    UnfilledError,
    add_signatures,
    fill,
    fill_address,
    names_in,
    signed_address,
)
from experiment.panels.table import PRESETS
from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.errors import RunError, WebappError
from webapp.recruiters.arrivals import Arrival, ArrivalError, Landing, checked_id, other_study
from webapp.recruiters.base import Recruiter, ReportTerms
from webapp.recruiters.endings import Departure, Exit, ExitForm
from webapp.recruiters.panel.reporting import send_report
from webapp.recruiters.panel.signature import SignatureVerifier
from webapp.recruiters.terms import CHECKED_AT_ARRIVAL, Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor


class PanelSettings(BaseModel):
    """The secrets that studies name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    secrets: dict[str, SecretStr] = Field(
        default={},
        description="the secret of each name, as a table; in the environment, as a JSON object",
    )
    stand_in: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/[\w-]+)?$",
        description=(
            "the address and name under which simulated participants find the study on a stand-in"
        ),
    )

    @field_validator("secrets", mode="before")
    @classmethod
    def _read_secrets(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError("not a JSON object of names and secrets") from error


_LOG = logging.getLogger("parallax.panels")
# Where a panel has no way back for these endings, returning the study frees the place.
_RETURNED_ENDINGS = (
    Ending.NO_CONSENT,
    Ending.DECLINED,
    Ending.SCREENED_OUT,
    Ending.FAILED_CHECK,
    Ending.WITHDRAWN,
    Ending.FULL,
    Ending.DUPLICATE,
)


def required_secrets(panel: Panel, settings: PanelSettings) -> dict[str, str]:
    """Return the panel's secrets by their names in templates.

    Raises:
        WebappError: The installation lacks a secret.
    """
    for kept in panel.secrets.values():
        if kept not in settings.secrets:
            raise WebappError(
                f'the installation has no secret "{kept}", which the study\'s [panel] names',
                where="panel_secrets",
                expected=f'a line {kept} = "..." under [panel.secrets] in parallax.toml',
                remedy=(
                    "Secrets belong to the installation, not to the study: docs/panels.md "
                    "says where to find each one"
                ),
            )
    return {name: settings.secrets[kept].get_secret_value() for name, kept in panel.secrets.items()}


def available_secrets(panel: Panel, settings: PanelSettings) -> dict[str, str]:
    """Return the panel's secrets that the installation has, and log the names of missing ones.

    A leaving participant must see a page in any case, as they cannot repair the installation.
    """
    available = {name: kept for name, kept in panel.secrets.items() if kept in settings.secrets}
    if len(available) < len(panel.secrets):
        _LOG.error(
            "panel_secrets lacks: %s", ", ".join({*panel.secrets.values()} - {*available.values()})
        )
    return {name: settings.secrets[kept].get_secret_value() for name, kept in available.items()}


def template_values(
    panel: Panel, departure: Departure, secrets: Mapping[str, str]
) -> dict[str, str]:
    """Return the values that templates may contain about a leaving participant."""
    known_values = {
        **{name: value for name, value in departure.parameters.items() if name in panel.parameters},
        **panel.values,
        **secrets,
        "participant": departure.platform_id or "",
        "receipt": departure.receipt,
    }
    try:
        known_values["code"] = fill(panel.code(departure.ending), known_values)
    except UnfilledError:
        known_values["code"] = ""
    return known_values


def compose_text(ending: Ending, *, form: bool, code: bool, reported: bool) -> str:
    """Return the page's instructions for going on.

    Args:
        ending: How the visit ended.
        form: Whether a button leads back to the platform.
        code: Whether there is a completion code to copy.
        reported: Whether our server reports the ending to the platform.
    """
    if form and code:
        return gettext(
            "Please use the button below to go back to the platform. If that does not work, enter"
            " the code there yourself."
        )
    if form:
        return gettext("Please use the button below to go back to the platform.")
    if code:
        return gettext("Please copy the completion code and enter it on the platform.")
    if reported:
        return gettext(
            "Our server reports to the platform how your visit ended. You can close this page now."
        )
    if ending in _RETURNED_ENDINGS:
        return gettext(
            "Please return the study on the platform, so that your place is free again. Then you"
            " can close this page."
        )
    return gettext("You can close this page now.")


_NAME_PLACEHOLDER = "x"


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
    terms = Terms(CHECKED_AT_ARRIVAL | {"panel"}, frozenset({"recruitment", "payment"}))

    def __init__(self, settings: PanelSettings) -> None:
        super().__init__(settings)
        self._settings, self._signatures = settings, SignatureVerifier()

    def check(self, study: Study) -> None:
        """Check before a launch that the study has a panel and no secret of it is missing.

        Raises:
            WebappError: The panel or a secret is missing.
        """
        panel = _panel(study)
        for path, problem in unbounded_patterns(panel):
            raise RunError(
                "the pattern could keep the server busy for minutes, because some texts take "
                "very long to match",
                where=f"study.toml, [panel] {'.'.join(path)}",
                expected=problem,
            )
        required_secrets(panel, self._settings)

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the sites to which the study's endings lead."""
        if study is None or study.panel is None:
            return ()
        panel = study.panel
        addresses = filter(None, map(panel.address_of, Ending))
        sites = (_get_site(panel, address) for address in addresses)
        return tuple(dict.fromkeys((*filter(None, sites), *panel.sites)))

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
                self._signatures.check(panel, landing, required_secrets(panel, self._settings))
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
        known_values = template_values(panel, departure, available_secrets(panel, self._settings))
        form = _form(panel, departure.ending, known_values)
        way = panel.way_back(departure.ending)
        reported = way.report is not None and bool(departure.receipt)
        text = way.text or compose_text(
            departure.ending,
            form=form is not None,
            code=bool(known_values["code"]),
            reported=reported,
        )
        return Exit(text, form, known_values["code"])

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
        secrets = required_secrets(panel, self._settings)
        return send_report(
            report, panel.signatures, template_values(panel, departure, secrets), secrets.values()
        )


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
        filled_address = signed_address(address, panel.signatures, known)
        signed = add_signatures(panel.signatures, known)
        fields = {name: fill(template, signed) for name, template in way.fields.items()}
    except UnfilledError:
        return None
    redirect = ExitForm.redirect(filled_address)
    if way.method == "redirect":
        return redirect
    return replace(redirect, fields={**redirect.fields, **fields}, method="post")


def _get_site(panel: Panel, address: str) -> str:
    """Return the fixed site of an address, which no participant's values can change."""
    names = {name: quote(_NAME_PLACEHOLDER) for name in names_in(address)}
    try:
        parts = urlsplit(fill_address(address, {**names, **panel.values}))
    except UnfilledError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
