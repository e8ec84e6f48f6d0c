"""Prolific through its API: translates between its vocabulary and ours."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from experiment.payment.cost import Charge
from webapp.core.clock import Clock, utc_now
from webapp.recruiters.platform import (
    Audience,
    Offer,
    OfferState,
    PlatformError,
    PlatformUnreachable,
    RejectionTerms,
    Submission,
    Task,
)
from webapp.recruiters.prolific import drafts
from webapp.recruiters.prolific.api import (
    ApiClient,
    NotSentError,
    StudyAnswer,
    SubmissionAnswer,
    WalletBusyError,
    member,
    parse,
)
from webapp.recruiters.prolific.codes import refuse_unknown_group, screen_out_slots, set_slots
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.prolific.workspace import Workspace, format_bonus, subscribe, webhook_secret

CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
_LEAST_REASON_CHARS = 100
_PAGE_SIZE = 100
_FEATURES_REMEDY = (
    "Signed links (the setting prolific_signed_arrivals), paid screen-outs (screen_out_reward in "
    "study.toml) and a share for who withdraws (withdrawn_percent) are not enabled in every "
    "workspace: leave them out, or ask Prolific to enable them"
)
# A study that recruits, or will recruit automatically.
_OPEN_STATUSES = ("ACTIVE", "PUBLISHING", "SCHEDULED")
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ProlificClient:
    """A ``webapp.recruiters.platform.Platform`` for Prolific or its stand-in.

    Args:
        endpoint: ``live`` or an address.
        calls: The API.
        settings: The installation's settings.
        now: The clock.
    """

    most_places: int | None = None
    tells_every_status = True
    hands_in_forms = False
    settles_later = False
    rejection_terms = RejectionTerms(_LEAST_REASON_CHARS, CATEGORIES)
    pays_unsubmitted = True

    def __init__(
        self, endpoint: str, calls: ApiClient, settings: ProlificSettings, now: Clock = utc_now
    ) -> None:
        self.endpoint, self._calls, self._settings, self._now = endpoint, calls, settings, now
        self.workspace = Workspace(calls, settings.workspace)

    @property
    def currency(self) -> str:
        """The code of the workspace's currency, read once."""
        return self.workspace.currency()

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        """Return the fees and taxes on payments, as the platform calculates them."""
        return self.workspace.fees_minor(charges)

    def balance_minor(self) -> int:
        """Return the workspace's balance that no study has reserved."""
        return self.workspace.balance_minor()

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield the name and content of each call that offering a task needs, without calling."""
        for offer in offers:
            draft = drafts.build_draft(task, offer, self._settings)
            yield "POST /studies/", json.dumps(draft, indent=2, ensure_ascii=False)
            yield "POST /studies/(its id)/transition/", json.dumps({"action": "PUBLISH"})

    def post(self, task: Task, offer: Offer) -> str:
        """Make a draft of an offer and return its id.

        Participants cannot find it before its launch.
        """
        try:
            return self._create_draft(task, drafts.build_draft(task, offer, self._settings)).id
        except PlatformUnreachable:
            raise
        except PlatformError as error:
            signed = self._settings.signed_arrivals
            if not (signed or task.screen_out_places or task.withdrawn_percent):
                raise
            problem = f"{error.problem}. {_FEATURES_REMEDY}"
            raise PlatformError(problem, code=error.code, where=error.where) from error

    def launch(self, offer_id: str) -> None:
        """Publish a draft; repeating the call is no error."""
        if self.study(offer_id).status in ("UNPUBLISHED", "SCHEDULED"):
            self._change_status(offer_id, "PUBLISH", unless=("UNPUBLISHED", "SCHEDULED"))

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        """Return the id of the study whose internal name contains the token's mark."""
        parameters = {"page_size": _PAGE_SIZE}
        for study in self._calls.list_entries("/studies/", parameters):
            if drafts.compute_mark(token) in (study.get("internal_name") or ""):
                return str(study["id"])
        return None

    def expire(self, offer_id: str, at: datetime) -> None:
        """Pause a study if the time is past, resume it if the time is to come."""
        status = self.study(offer_id).status
        over = at <= self._now()
        if over and status in _OPEN_STATUSES:
            self._change_status(offer_id, "PAUSE", unless=_OPEN_STATUSES)
        elif not over and status == "PAUSED":
            self._change_status(offer_id, "START", unless=("PAUSED",))

    def stop(self, offer_id: str) -> None:
        """Stop a study permanently: reserved money is freed, and only adding places revives it."""
        if self.study(offer_id).status in ("ACTIVE", "PAUSED"):
            self._change_status(offer_id, "STOP", unless=("ACTIVE", "PAUSED"))

    def grow(self, offer_id: str, places: int) -> None:
        """Set a study's total number of places, and let participants find it."""
        study = self.study(offer_id)
        if study.status == "COMPLETED" and places <= study.total_available_places:
            # A stopped study's free places become available only once a further place is added.
            places = study.total_available_places + 1
        if places > study.total_available_places:
            self._update_study(offer_id, {"total_available_places": places})
        if study.status == "PAUSED":
            self._change_status(offer_id, "START", unless=("PAUSED",))

    def list_places(self, offer_id: str) -> Mapping[str, int]:
        """Return how many places each address of a study still has free."""
        where = f"/studies/{offer_id}/access-details-progress/"
        free = Counter[str]()
        for entry in member(self._calls.get(where), "progress", where):
            unused = member(entry, "total_allocation", where) - member(entry, "allocated", where)
            free[drafts.remove_placeholders(member(entry, "external_url", where))] += max(0, unused)
        return free

    def grow_lists(self, offer_id: str, quotas: Sequence[tuple[str, int]]) -> None:
        """Add places to addresses of a study in one unrepeated call, and let participants find it.

        If no answer comes, the next publishing reads the places of each address and adds the rest.
        """
        body = {"access_details": drafts.access_details(quotas)}
        self._calls.send_once(f"/studies/{offer_id}/", body, "PATCH")
        if self.study(offer_id).status == "PAUSED":
            self._change_status(offer_id, "START", unless=("PAUSED",))

    def state(self, offer_id: str) -> OfferState:
        """Return a study's progress; a paused or stopped study counts as expired."""
        study = self.study(offer_id)
        counts = self._calls.get(f"/studies/{offer_id}/submissions/counts/")
        count_by_status = {name: int(number) for name, number in counts.items()}
        pending = count_by_status.get("RESERVED", 0) + count_by_status.get("ACTIVE", 0)
        completed = sum(
            count_by_status.get(name, 0) for name in ("APPROVED", "PARTIALLY APPROVED", "REJECTED")
        )
        n_taken = pending + completed + count_by_status.get("AWAITING REVIEW", 0)
        stopped = study.status == "COMPLETED"
        places = n_taken if stopped else max(n_taken, study.total_available_places)
        return OfferState(
            places=places,
            available=places - n_taken,
            pending=pending,
            completed=completed,
            expires_at=_LONG_AGO if study.status in ("PAUSED", "UNPUBLISHED") else None,
            reward_minor=study.reward,
            # As in grow(): a stopped study's free places open only once a further place is added.
            revived=study.total_available_places - n_taken + 1 if stopped else 0,
            posted_at=study.published_at,
        )

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        """Yield every submission of a study, in every status."""
        parameters: dict[str, str | int] = {"study": offer_id, "page_size": _PAGE_SIZE}
        for submission in self._calls.list_entries("/submissions/", parameters):
            yield parse(SubmissionAnswer, submission, "GET /submissions/").to_submission(offer_id)

    def submission(self, assignment_id: str) -> Submission:
        """Return one submission."""
        return self._submission(assignment_id).to_submission()

    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        """Pay a submission's reward; approving an approved submission is no error.

        Args:
            assignment_id: The submission.
            feedback: Ignored: Prolific notifies participants itself.
            undo_rejection: Whether a rejected submission is paid after all.
        """
        if undo_rejection and self._submission(assignment_id).status == "REJECTED":
            self._decide(assignment_id, "AWAITING REVIEW", {"action": "UNREJECT"})
        self._decide(assignment_id, "APPROVED", {"action": "APPROVE"})

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        """Refuse to pay for a submission; rejecting it a second time is not an error."""
        body = {"action": "REJECT", "message": reason, "rejection_category": category}
        self._decide(assignment_id, "REJECTED", body)

    def complete(self, assignment_id: str, code: str, percent: int | None = None) -> str:
        """Complete a submission with one of our codes and return its status; repeating is no error.

        Args:
            assignment_id: The submission.
            code: The code.
            percent: The share of the reward that the code pays; None if it pays by other terms.

        Raises:
            PlatformError: The submission cannot be completed: it was returned or ran out of time.
        """
        body: dict[str, Any] = {"action": "COMPLETE", "completion_code": code}
        if percent is not None:
            body["completion_code_data"] = {"percentage_of_reward": percent}
        where = f"/submissions/{assignment_id}/transition/"
        try:
            return str(member(self._calls.send("POST", where, body), "status", where))
        except PlatformUnreachable:
            raise
        except PlatformError:
            # The submission was completed before, perhaps by a call whose answer was lost, and
            # since decided.
            submission = self._submission(assignment_id)
            if submission.completed_at is None:
                raise
            return submission.status

    def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask a participant to return a submission."""
        if self._submission(assignment_id).return_requested is None:
            body = {"request_return_reasons": [reason]}
            self._calls.send_once(f"/submissions/{assignment_id}/request-return/", body)

    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        """Set up one bonus and return the set-up's id; nothing is paid yet."""
        line = format_bonus(assignment_id, amount_minor, self.currency)
        where, body = "/submissions/bonus-payments/", {"study_id": offer_id, "csv_bonuses": line}
        response = self._calls.send_once(where, body)
        if int(member(response, "amount", where)) != amount_minor:
            raise PlatformError(
                f"the platform understood {response['amount']} in place of {amount_minor} minor"
                " units",
                where=where,
                remedy="Nothing was paid. Find out why before you pay any bonus",
            )
        return str(member(response, "id", where))

    def pay_bonus(self, set_up_id: str) -> None:
        """Tell the platform to pay a set-up bonus, in one unrepeated call."""
        try:
            self._calls.send_once(f"/bulk-bonus-payments/{set_up_id}/pay/")
        except (WalletBusyError, NotSentError) as error:
            raise PlatformError(
                f"nothing was paid: {error.problem}", where=error.where, remedy="Pay again later"
            ) from error

    def bonuses_of(self, assignment_id: str) -> Sequence[int]:
        """Return the amount of each bonus that a submission shows, in minor units."""
        return [round(amount) for amount in self._submission(assignment_id).bonus_payments]

    def screen_outs_left(self, offer_id: str) -> int:
        """Return how many screen-outs may still be paid."""
        counts = self._calls.get(f"/studies/{offer_id}/submissions/counts/")
        slots = screen_out_slots(self.study(offer_id)) or 0
        return max(0, slots - int(counts.get("SCREENED OUT", 0)))

    def add_screen_outs(self, offer_id: str, places: int) -> None:
        """Set the total number of paid screen-outs, and continue recruiting."""
        study = self.study(offer_id)
        if places > (screen_out_slots(study) or 0):
            self._update_study(offer_id, {"completion_codes": set_slots(study, places)})
        if study.status == "PAUSED":
            self._change_status(offer_id, "START", unless=("PAUSED",))

    def notes(self, task: Task) -> Sequence[tuple[str, str]]:
        """Return notes: the recommended pay, the audience, and the effect of each ending."""
        return drafts.list_notes(task, self.workspace.recommendation(), self._settings)

    def account(self) -> str:
        """Return the id of the workspace that pays."""
        return self.workspace.id()

    def eligible(self, task: Task) -> int | None:
        """Return how many people could find a task.

        None below 25, which the platform does not tell.
        """
        return self.workspace.eligible(drafts.list_filters(task)) if not task.filter_set else None

    def write(self, offer_id: str, worker_ids: Sequence[str], text: str) -> None:
        """Write to participants with a submission of a study, in one unrepeated call."""
        body = {"ids": list(worker_ids), "body": text, "study_id": offer_id}
        self._calls.send_once("/messages/bulk/", body)

    def offer_test(self, task: Task, offer: Offer) -> str:
        """Make a draft of an offer and Prolific's test study of it; return the test's address."""
        response = self._create_draft(task, drafts.make_test_draft(task, offer, self._settings))
        where = f"/studies/{response.id}/test-study"
        return str(member(self._calls.send_once(where), "study_url", where))

    def edits(self, offer_id: str, task: Task, link: str) -> Sequence[str]:
        """Return descriptions of what changed on the platform since the study was posted."""
        return drafts.list_edits(self.study(offer_id), task, link, self._settings)

    def hook_secret(self, *, new: bool) -> str:
        """Return the secret of the workspace's webhooks; create it if missing or if ``new``."""
        return webhook_secret(self._calls, self.workspace.id(), new=new)

    def subscribe(self, target_url: str) -> str:
        """Subscribe our server to the workspace's submissions; repeating it is no error."""
        return subscribe(self._calls, self.workspace.id(), target_url)

    most_exports = 2

    def exports_used(self, offer_id: str) -> int:
        """Return how many demographic exports of a study were used."""
        reply = self._calls.get(f"/studies/{offer_id}/demographic-export-history/")
        return int(member(reply, "count", "demographic-export-history"))

    def demographics(self, offer_id: str) -> bytes:
        """Return the platform's table of participants, with its basic columns."""
        where = f"/studies/{offer_id}/demographic-export/"
        reply = self._calls.send("POST", where, {"filters": []})
        return (reply if isinstance(reply, str) else json.dumps(reply)).encode()

    def study(self, offer_id: str) -> StudyAnswer:
        """Return a study."""
        where = f"/studies/{offer_id}/"
        return parse(StudyAnswer, self._calls.get(where), f"GET {where}")

    def _create_draft(self, task: Task, draft: dict[str, Any]) -> StudyAnswer:
        """Make a draft, by default with signed links if the platform accepts them."""
        refuse_unknown_group(self._calls, task)
        try:
            response = self._calls.send_once("/studies/", draft)
        except PlatformUnreachable:
            raise
        except PlatformError:
            # A refused draft does not exist, so a retry without signed links makes no second study.
            if self._settings.signed_arrivals is not None:
                raise
            response = self._calls.send_once("/studies/", {**draft, drafts.SIGNS_LINKS: False})
        return parse(StudyAnswer, response, "POST /studies/")

    def _submission(self, assignment_id: str) -> SubmissionAnswer:
        where = f"/submissions/{assignment_id}/"
        return parse(SubmissionAnswer, self._calls.get(where), f"GET {where}")

    def _update_study(self, offer_id: str, fields: dict[str, Any]) -> None:
        self._calls.send("PATCH", f"/studies/{offer_id}/", fields)

    def _change_status(self, offer_id: str, action: str, *, unless: Sequence[str]) -> None:
        """Send an action to a study, unless its status shows that the action is already done."""
        try:
            self._calls.send("POST", f"/studies/{offer_id}/transition/", {"action": action})
        except PlatformUnreachable:
            raise
        except PlatformError:
            # Done before, perhaps by a call whose answer was lost: the platform's status decides.
            if self.study(offer_id).status in unless:
                raise

    def _decide(self, assignment_id: str, wanted: str, asked: dict[str, str]) -> None:
        where = f"/submissions/{assignment_id}/transition/"
        try:
            reply = self._calls.send("POST", where, asked)
            if member(reply, "status", where) == wanted:
                return
        except PlatformUnreachable:
            raise
        except PlatformError:
            if self._submission(assignment_id).status != wanted:
                raise
            return
        if (status := self._submission(assignment_id).status) != wanted:
            problem = f"the platform answered, but the submission is still {status}"
            raise PlatformUnreachable(problem, where=where)
