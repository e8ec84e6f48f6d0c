"""The recruiter whose participants are workers of Mechanical Turk."""

import re
from collections.abc import Mapping

from webapp.errors import RequestError
from webapp.language import gettext
from webapp.recruiters.base import Acceptance, Arrival, Handover
from webapp.recruiters.mturk.sites import worker_sites
from webapp.settings import Settings

_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID = re.compile(r"[A-Z0-9]{1,64}", re.ASCII)
_WORKER_ID = re.compile(r"A[A-Z0-9]{1,63}", re.ASCII)


class MturkRecruiter:
    """Brings workers who found the study in the marketplace and see it there in a frame."""

    name = "mturk"
    simulated = False

    @property
    def closing(self) -> str:
        """Say that the work is handed in from here."""
        return gettext("Your work is handed in to the marketplace from this page.")

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the address that the marketplace shows in its frame."""
        return f"{public_url}/run/{run_ref}"

    def arrival(self, arguments: Mapping[str, str], settings: Settings) -> Arrival:
        """Return who the marketplace says has come, or that they only look.

        Raises:
            RequestError: The marketplace would not have written this.
        """
        assignment_id = arguments.get("assignmentId", "")
        if assignment_id in ("", _PREVIEW):
            # Without a name, but the page tells those who look that it stores people's names here.
            return Arrival(platform_id="", preview=True)
        worker_id, hit_id = arguments.get("workerId", ""), arguments.get("hitId", "")
        submit_to = arguments.get("turkSubmitTo", "").rstrip("/")
        if not (
            _ID.fullmatch(assignment_id)
            and _ID.fullmatch(hit_id)
            and _WORKER_ID.fullmatch(worker_id)
            # Work is handed in there, so an address of anybody else's must never be taken.
            and submit_to in worker_sites(settings)
        ):
            raise RequestError(
                gettext(
                    "This page was opened in a way we cannot follow. Please open it from the"
                    " marketplace once more."
                ),
                status=400,
                code="bad_arrival",
            )
        return Arrival(worker_id, acceptance=Acceptance(assignment_id, hit_id, submit_to))

    def handover(self, assignment_id: str, submit_to: str, receipt: str) -> Handover | None:
        """Return the form that submits the assignment."""
        fields = {"assignmentId": assignment_id, "receipt": receipt}
        return Handover(f"{submit_to}/mturk/externalSubmit", fields)
