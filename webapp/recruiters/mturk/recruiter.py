"""The recruiter whose participants are workers of Mechanical Turk."""

import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.recruiters.arrivals import Acceptance, Arrival, ArrivalError, Landing, checked_id
from webapp.recruiters.base import Recruiter
from webapp.recruiters.endings import Departure, Exit, ExitForm
from webapp.recruiters.mturk.settings import (
    MturkSettings,
    framing_sites,
    requester_site,
    worker_sites,
)
from webapp.recruiters.platform import Platform
from webapp.recruiters.terms import Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor

_PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID_PATTERN = re.compile(r"[A-Z0-9]{1,64}", re.ASCII)
_WORKER_ID = re.compile(r"A[A-Z0-9]{1,63}", re.ASCII)


class MturkRecruiter(Recruiter):
    """Brings workers who find the study in the marketplace and see it there in a frame."""

    name = "mturk"
    settings_model = MturkSettings
    id_patterns = (r"\bA[0-9A-Z]{9,}\b",)
    link_ids = ("workerId", "assignmentId")
    terms = Terms(
        honoured=frozenset(
            f"recruitment.{name}"
            for name in (
                "title", "description", "keywords", "reward", "median_minutes", "duration_minutes",
                "lifetime_hours", "auto_approve_days", "frame_height_px", "countries",
                "min_approval_percent", "min_approved", "masters", "require", "refuse",
                "exclude_earlier_runs",
            )
        ) | {"payment"},
        set_aside=frozenset({"panel"}),
    )  # fmt: skip

    def __init__(self, settings: MturkSettings) -> None:
        super().__init__(settings)
        self._settings = settings

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the marketplace's sites for workers."""
        return framing_sites(self._settings)

    def arrival(self, landing: Landing) -> Arrival:
        """Return the worker's identity from the marketplace's arguments, or a preview.

        Raises:
            ArrivalError: The marketplace would not have made this link.
        """
        arguments = landing.arguments
        assignment_id = arguments.get("assignmentId", "")
        is_offered = assignment_id == _PREVIEW_ID
        if is_offered or arguments.get("preview") == "1":
            # The arrival has no id. Its empty string lets the preview say that the study stores
            # worker ids.
            return Arrival(platform_id="", preview=True, acceptable=is_offered)
        if not assignment_id:
            checked_id(arguments, "assignmentId")  # raises: the link names nobody
        worker_id, hit_id = arguments.get("workerId", ""), arguments.get("hitId", "")
        submit_to = arguments.get("turkSubmitTo", "").rstrip("/")
        if not (
            _ID_PATTERN.fullmatch(assignment_id)
            and _ID_PATTERN.fullmatch(hit_id)
            and _WORKER_ID.fullmatch(worker_id)
            # Work is submitted to this address, so an address of any other site must be refused.
            and submit_to in worker_sites(self._settings)
        ):
            raise ArrivalError(
                gettext(
                    "We do not recognise how this page was opened. Please open it"
                    " again from the marketplace."
                )
            )
        return Arrival(worker_id, acceptance=Acceptance(assignment_id, hit_id, submit_to, "hitId"))

    def exit(self, departure: Departure) -> Exit:
        """Return the form that submits the assignment, or the instruction to return it."""
        if departure.ending is not Ending.COMPLETED:
            return Exit(gettext("Please return the task in the marketplace."))
        accepted = departure.acceptance
        if accepted is None:
            return Exit(gettext("You can close this page now."))
        fields = {"assignmentId": accepted.assignment_id, "receipt": departure.receipt}
        form = ExitForm(f"{accepted.submit_to}/mturk/externalSubmit", fields)
        return Exit(gettext("Please submit your work with this button."), form)

    def pays_after(self, study: Study) -> timedelta | None:
        """Return the delay that the study sets."""
        terms = study.recruitment
        return timedelta(days=terms.auto_approve_days) if terms is not None else None

    def offer_page(self, offer_id: str) -> str:
        """Return where a requester sees a HIT, which has no page of its own."""
        return f"HIT {offer_id} at {requester_site(self._settings.endpoint)}"

    def visitor(self) -> "Visitor":
        """Return the factory of simulated workers, who come through the marketplace's pages."""
        from webapp.recruiters.mturk.worker import WorkerSession

        return partial(WorkerSession, site=worker_sites(self._settings)[0])

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return the demonstration with the stand-in."""
        from webapp.recruiters.mturk.worker import DEMONSTRATION

        return {cls.name: DEMONSTRATION}

    def open_platform(self, *, live: bool) -> Platform:
        """Return the client of the endpoint that the settings name.

        Raises:
            WebappError: The endpoint is the live one, and the command does not allow it; or there
                are no credentials.
            ModuleNotFoundError: boto3 is not installed.
        """
        from webapp.recruiters.mturk.client import open_mturk

        return open_mturk(self._settings, live=live)
