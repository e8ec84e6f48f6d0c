"""The recruiter whose participants come from Prolific."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from experiment.participation import Ending
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.recruiters.arrivals import Acceptance, Arrival, Landing, checked_id
from webapp.recruiters.base import Recruiter, ReportTerms
from webapp.recruiters.endings import Departure, Exit, ExitForm
from webapp.recruiters.platform import Platform, PlatformError, PlatformUnreachable, Submission
from webapp.recruiters.prolific.api import NotFoundError
from webapp.recruiters.prolific.codes import (
    CODE_TYPES,
    compute_share,
    find_code,
    refuse_uneven_share,
)
from webapp.recruiters.prolific.drafts import entry_link
from webapp.recruiters.prolific.settings import (
    ProlificSettings,
    participant_site,
    researcher_page,
)
from webapp.recruiters.prolific.signature import SIGNED_PARAMETERS, SignatureVerifier
from webapp.recruiters.prolific.workspace import find_hook_submission
from webapp.recruiters.terms import Terms

if TYPE_CHECKING:
    from webapp.recruiters.demonstration import Demonstration
    from webapp.recruiters.simulated_crowd import Visitor

# New submissions may appear with a delay, so "not found" is cached for this time only.
_CACHE_TIME = timedelta(minutes=1)
_CACHE_SIZE = 10_000
# Prolific approves what nobody has reviewed for this time.
_PAYS_AFTER = timedelta(days=21)

# (participant, study); None if the submission does not exist
_Facts = tuple[str, str] | None


class SubmissionCache:
    """Asks for submissions and caches the answers.

    Args:
        submission: Returns a submission as the platform describes it, with a short timeout.
    """

    def __init__(self, submission: Callable[[str], Submission]) -> None:
        self._submission = submission
        self._known = OrderedDict[str, tuple[_Facts, datetime]]()
        self._lock = threading.Lock()

    def belongs(self, session: str, person: str, study: str, now: datetime) -> bool | None:
        """Return whether a submission belongs to a person and study; None without an answer."""
        with self._lock:
            facts, until = self._known.get(session, (None, now))
        if now >= until:
            try:
                facts = self._ask(session)
            except (PlatformUnreachable, PlatformError):
                # This includes a refused token: that is the installation's fault, so participants
                # are admitted.
                return None
            self._store_confirmed_facts(session, facts, now)
        return facts == (person, study)

    def _ask(self, session: str) -> _Facts:
        try:
            submission = self._submission(session)
        except NotFoundError:
            return None
        return submission.worker_id, submission.offer_id

    def _store_confirmed_facts(self, session: str, facts: _Facts, now: datetime) -> None:
        # A submission's owner never changes.
        until = now + _CACHE_TIME if facts is None else datetime.max.replace(tzinfo=now.tzinfo)
        with self._lock:
            self._known[session] = facts, until
            while len(self._known) > _CACHE_SIZE:
                self._known.popitem(last=False)


_ID = r"[0-9a-f]{24}"
_PERSON, _STUDY, _SESSION = SIGNED_PARAMETERS
_N_TRIES = 12
_ARRIVAL_TIMEOUT_S = 3.0


class ProlificRecruiter(Recruiter):
    """Brings participants of Prolific; our server completes their submissions."""

    name = "prolific"
    settings_model = ProlificSettings
    id_patterns = (rf"\b{_ID}\b",)
    link_ids = (_PERSON, _SESSION)
    terms = Terms(
        honoured=frozenset(
            f"recruitment.{name}"
            for name in (
                "title", "description", "reward", "screen_out_reward", "screen_out_places",
                "withdrawn_percent",
                "median_minutes", "duration_minutes", "devices", "filters",
                "exclude_earlier_runs", "after", "filter_set", "filter_set_version", "peripherals",
                "naivety", "most_at_once", "list_quotas", "label", "group", "content_warning",
                "content_warning_details",
            )
        ) | {"payment"},
        # Prolific has no counterpart of these keys, and ignoring them breaks no promise to
        # participants.
        set_aside=frozenset(
            {"recruitment.keywords", "recruitment.lifetime_hours", "recruitment.auto_approve_days",
             "recruitment.frame_height_px", "panel"}
        ),
    )  # fmt: skip

    def __init__(self, settings: ProlificSettings) -> None:
        super().__init__(settings)
        self._settings, self._signatures = settings, SignatureVerifier(settings)
        self._asking = SubmissionCache(self._submission)
        self._platform: Platform | None = None

    def check(self, study: Study) -> None:
        """Check before a launch that a withdrawing participant's share is a payable amount.

        Raises:
            RunError: It is not a whole number of minor units, and the rounding is not documented.
        """
        refuse_uneven_share(study)

    def sites(self, study: Study | None) -> tuple[str, ...]:
        """Return the participants' site, to which the closing page leads."""
        return (participant_site(self._settings),)

    def posted_link(self, public_url: str, run_ref: str, study: Study) -> str:
        """Return the run's link with the platform's id placeholders."""
        return entry_link(self.invitation(public_url, run_ref))

    def arrival(self, landing: Landing) -> Arrival:
        """Return the participant and the submission that the link names.

        ``?preview=1`` opens a preview.

        Raises:
            ArrivalError: The link lacks an id, or the platform did not make it.
        """
        arguments = landing.arguments
        if arguments.get("preview") == "1":
            return Arrival(platform_id="", preview=True)
        person, study, session = (checked_id(arguments, name, _ID) for name in SIGNED_PARAMETERS)
        terms = landing.study.recruitment
        return Arrival(
            person,
            link=arguments.get("link", "") if terms is not None and terms.list_quotas else None,
            proven=self._signatures.vouches(landing),
            acceptance=Acceptance(session, study, participant_site(self._settings), _STUDY),
            parameters={_STUDY: study, _SESSION: session},
        )

    def confirms(self, arrival: Arrival, now: datetime) -> bool | None:
        """Return whether the platform knows the arriving participant; None if it does not answer.

        A link with a recent valid signature is not checked again.
        """
        if arrival.proven or arrival.acceptance is None:
            return True
        work = arrival.acceptance
        return self._asking.belongs(work.assignment_id, arrival.platform_id or "", work.hit_id, now)

    def _submission(self, session: str) -> Submission:
        from webapp.recruiters.prolific.opening import open_prolific

        # Reading costs nothing. A participant waits for the page, hence the short timeout.
        if self._platform is None:
            self._platform = open_prolific(
                self._settings, live=True, attempts=1, timeout_s=_ARRIVAL_TIMEOUT_S
            )
        return self._platform.submission(session)

    def exit(self, departure: Departure) -> Exit:
        """Return the way back.

        Participants who have not finished are asked to return the submission.
        """
        back = ExitForm.redirect(f"{participant_site(self._settings)}/studies")
        if self._completes(departure.study, departure.ending):
            return Exit(
                gettext("Our server tells Prolific that you have finished. You can go back now."),
                back,
            )
        return Exit(gettext("Please return your submission on Prolific."), back)

    def report_terms(self, study: Study, ending: Ending) -> ReportTerms | None:
        """Return how a submission's completion is reported; None for endings that return it."""
        return (
            ReportTerms(repeatable=True, tries=_N_TRIES) if self._completes(study, ending) else None
        )

    def report(self, departure: Departure) -> str:
        """Complete the submission from our server, and return its new status.

        Raises:
            PlatformUnreachable: The outcome is unknown; the call may be repeated.
            PlatformError: The submission can no longer be completed, or the study was changed.
        """
        from webapp.recruiters.prolific.opening import open_prolific

        session, study = (departure.parameters.get(name) for name in (_SESSION, _STUDY))
        if not (session and study):
            raise PlatformError("the link did not say which submission it was for")
        # Completing spends only the money that publishing reserved with the researcher's consent.
        platform = open_prolific(self._settings, live=True, attempts=1)
        percent = compute_share(departure)
        code = find_code(platform.study(study), departure.ending, in_part=percent is not None)
        return platform.complete(session, code, percent)

    def heard(self, headers: Mapping[str, str], body: bytes, at: datetime) -> Submission | None:
        """Return the current state, read from the platform, of the submission a webhook is about.

        Raises:
            RequestError: Prolific did not make the call.
            PlatformError: The platform cannot be asked.
        """
        from webapp.recruiters.prolific.opening import open_prolific

        secret = self._settings.hook_secret.get_secret_value()
        submission = find_hook_submission(secret, headers, body, at)
        # Reading costs nothing.
        platform = open_prolific(self._settings, live=True, attempts=1)
        return platform.submission(submission) if submission else None

    def pays_after(self, study: Study) -> timedelta | None:
        """Return the delay that Prolific sets for every study."""
        return _PAYS_AFTER

    def offer_page(self, offer_id: str) -> str:
        """Return where a researcher sees a study."""
        return researcher_page(self._settings, offer_id)

    def visitor(self) -> "Visitor":
        """Return the factory of simulated participants, who come through the platform's pages."""
        from webapp.recruiters.prolific.participant import ParticipantSession

        return partial(ParticipantSession, site=participant_site(self._settings))

    @classmethod
    def demonstrations(cls) -> "Mapping[str, Demonstration]":
        """Return the demonstration with the stand-in."""
        from webapp.recruiters.prolific.participant import DEMONSTRATION

        return {cls.name: DEMONSTRATION}

    def open_platform(self, *, live: bool) -> Platform:
        """Return the client of the endpoint that the settings name.

        Raises:
            WebappError: The endpoint is live and the command does not allow it, or there is no
                token.
        """
        from webapp.recruiters.prolific.opening import open_prolific

        return open_prolific(self._settings, live=live)

    def _completes(self, study: Study, ending: Ending) -> bool:
        if ending is Ending.SCREENED_OUT:
            terms = study.recruitment
            return bool(study.screen_out_minor and terms and terms.screen_out_places)
        return ending in CODE_TYPES
