"""Prolific through its API: its words on one side, ours on the other."""

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
from webapp.recruiters.prolific.answers import StudyAnswer, SubmissionAnswer, member, read
from webapp.recruiters.prolific.calls import Busy, Calls, NotSent
from webapp.recruiters.prolific.codes import refuse_unknown_group, screen_out_slots, with_slots
from webapp.recruiters.prolific.drafts import (
    SIGNS_LINKS,
    access_details,
    draft_of,
    filters_of,
    mark,
    own_address,
    test_draft_of,
)
from webapp.recruiters.prolific.hooks import secret_of, subscribe
from webapp.recruiters.prolific.notes import edits_of, notes_on
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.prolific.workspace import Workspace, csv_bonuses

CATEGORIES = (
    *("TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK"),
    *("LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER"),
)
_LEAST_REASON_CHARS = 100
_PAGE_SIZE = 100
_FEATURES = (
    "Signed links (the setting prolific_signed_arrivals), paid screen-outs (screen_out_reward in "
    "study.toml) and a share for who withdraws (withdrawn_percent) are not enabled in every "
    "workspace: leave them out, or ask Prolific to enable them"
)
# A study that recruits, or will by itself.
_OPEN = ("ACTIVE", "PUBLISHING", "SCHEDULED")
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ProlificClient:
    """A ``webapp.recruiters.platform.Platform`` that is Prolific, or its stand-in.

    Args:
        endpoint: ``live`` or an address.
        calls: The API.
        settings: The installation's.
        now: The clock.
    """

    most_places: int | None = None
    tells_every_status = True
    hands_in_forms = False
    settles_later = False
    rejection_terms = RejectionTerms(_LEAST_REASON_CHARS, CATEGORIES)
    pays_unsubmitted = True

    def __init__(
        self, endpoint: str, calls: Calls, settings: ProlificSettings, now: Clock = utc_now
    ) -> None:
        self.endpoint, self._calls, self._settings, self._now = endpoint, calls, settings, now
        self.workspace = Workspace(calls, settings.workspace)

    @property
    def currency(self) -> str:
        """The code of the workspace's currency, asked for once."""
        return self.workspace.currency()

    def fees_minor(self, charges: Sequence[Charge], audience: Audience) -> int:
        """Return the fees and taxes on payments together, as the platform calculates them."""
        return self.workspace.fees_minor(charges)

    def balance_minor(self) -> int:
        """Return the money of the workspace that no study holds back."""
        return self.workspace.balance_minor()

    def requests(
        self, qualification: tuple[str, str] | None, task: Task, offers: Sequence[Offer]
    ) -> Iterator[tuple[str, str]]:
        """Yield each call that offering a task would make, and what it says; make none."""
        for offer in offers:
            draft = draft_of(task, offer, self._settings)
            yield "POST /studies/", json.dumps(draft, indent=2, ensure_ascii=False)
            yield "POST /studies/(its id)/transition/", json.dumps({"action": "PUBLISH"})

    def post(self, task: Task, offer: Offer) -> str:
        """Make a draft of an offer, and return its id; nobody finds it before it is launched."""
        try:
            return self._make(task, draft_of(task, offer, self._settings)).id
        except PlatformUnreachable:
            raise
        except PlatformError as error:
            wants = (self._settings.signed_arrivals, task.screen_out_places, task.withdrawn_percent)
            if not any(wants):
                raise
            problem = f"{error.problem}. {_FEATURES}"
            raise PlatformError(problem, code=error.code, where=error.where) from error

    def launch(self, offer_id: str) -> None:
        """Publish a draft; publishing a published one is success."""
        if self.study(offer_id).status in ("UNPUBLISHED", "SCHEDULED"):
            self._move(offer_id, "PUBLISH", unless=("UNPUBLISHED", "SCHEDULED"))

    def find_posted(self, token: str, qualification_id: str | None) -> str | None:
        """Return the id of the study whose internal name has the token's mark."""
        wanted = {"page_size": _PAGE_SIZE}
        for each in self._calls.pages("/studies/", wanted):
            if mark(token) in (each.get("internal_name") or ""):
                return str(each["id"])
        return None

    def expire(self, offer_id: str, at: datetime) -> None:
        """Pause a study where the time is over, start it again where it is to come."""
        status = self.study(offer_id).status
        over = at <= self._now()
        if over and status in _OPEN:
            self._move(offer_id, "PAUSE", unless=_OPEN)
        elif not over and status == "PAUSED":
            self._move(offer_id, "START", unless=("PAUSED",))

    def stop(self, offer_id: str) -> None:
        """Stop a study for good: what it holds back is free, and only more places revive it."""
        if self.study(offer_id).status in ("ACTIVE", "PAUSED"):
            self._move(offer_id, "STOP", unless=("ACTIVE", "PAUSED"))

    def grow(self, offer_id: str, places: int) -> None:
        """Let a study have so many places in all, and be found."""
        study = self.study(offer_id)
        if study.status == "COMPLETED" and places <= study.total_available_places:
            # Whoever stopped it left places that only a further one opens again.
            places = study.total_available_places + 1
        if places > study.total_available_places:
            self._change(offer_id, {"total_available_places": places})
        if study.status == "PAUSED":
            self._move(offer_id, "START", unless=("PAUSED",))

    def list_places(self, offer_id: str) -> Mapping[str, int]:
        """Return how many places each address of a study still has for somebody."""
        where = f"/studies/{offer_id}/access-details-progress/"
        free = Counter[str]()
        for each in member(self._calls.read(where), "progress", where):
            left = member(each, "total_allocation", where) - member(each, "allocated", where)
            free[own_address(member(each, "external_url", where))] += max(0, left)
        return free

    def grow_lists(self, offer_id: str, quotas: Sequence[tuple[str, int]]) -> None:
        """Add places to addresses of a study, once, and let it be found.

        Where no answer comes, publishing again asks what the addresses have, and adds the rest.
        """
        further = {"access_details": access_details(quotas)}
        self._calls.once(f"/studies/{offer_id}/", further, "PATCH")
        if self.study(offer_id).status == "PAUSED":
            self._move(offer_id, "START", unless=("PAUSED",))

    def state(self, offer_id: str) -> OfferState:
        """Return how far a study has come; one that is paused or stopped is over."""
        study = self.study(offer_id)
        counted = self._calls.read(f"/studies/{offer_id}/submissions/counts/")
        of = {name: int(number) for name, number in counted.items()}
        pending = of.get("RESERVED", 0) + of.get("ACTIVE", 0)
        completed = sum(of.get(name, 0) for name in ("APPROVED", "PARTIALLY APPROVED", "REJECTED"))
        taken = pending + completed + of.get("AWAITING REVIEW", 0)
        stopped = study.status == "COMPLETED"
        places = taken if stopped else max(taken, study.total_available_places)
        return OfferState(
            places=places,
            available=places - taken,
            pending=pending,
            completed=completed,
            expires_at=_LONG_AGO if study.status in ("PAUSED", "UNPUBLISHED") else None,
            reward_minor=study.reward,
            # As grow() does: only a further place opens those that whoever stopped it left.
            revived=study.total_available_places - taken + 1 if stopped else 0,
        )

    def submissions(self, offer_id: str) -> Iterator[Submission]:
        """Yield every submission of a study, whatever became of it."""
        wanted: dict[str, str | int] = {"study": offer_id, "page_size": _PAGE_SIZE}
        for each in self._calls.pages("/submissions/", wanted):
            yield read(SubmissionAnswer, each, "GET /submissions/").to_submission(offer_id)

    def submission(self, assignment_id: str) -> Submission:
        """Return one submission."""
        return self._submission(assignment_id).to_submission()

    def approve(
        self, assignment_id: str, feedback: str = "", *, undo_rejection: bool = False
    ) -> None:
        """Pay a submission's reward; approving an approved one is success.

        Args:
            assignment_id: The submission.
            feedback: Nothing here: Prolific notifies participants by itself.
            undo_rejection: Whether one that was rejected is paid after all.
        """
        if undo_rejection and self._submission(assignment_id).status == "REJECTED":
            self._decide(assignment_id, "AWAITING REVIEW", {"action": "UNREJECT"})
        self._decide(assignment_id, "APPROVED", {"action": "APPROVE"})

    def reject(self, assignment_id: str, reason: str, category: str = "") -> None:
        """Refuse to pay a submission; rejecting a rejected one is success."""
        asked = {"action": "REJECT", "message": reason, "rejection_category": category}
        self._decide(assignment_id, "REJECTED", asked)

    def complete(self, assignment_id: str, code: str, percent: int | None = None) -> str:
        """Complete a submission with one of our codes, and return its status; again is success.

        Args:
            assignment_id: The submission.
            code: The code.
            percent: What share of the reward it pays, if it pays a share.

        Raises:
            PlatformError: It can be handed in no more: it was returned or ran out of time.
        """
        asked: dict[str, Any] = {"action": "COMPLETE", "completion_code": code}
        if percent is not None:
            asked["completion_code_data"] = {"percentage_of_reward": percent}
        where = f"/submissions/{assignment_id}/transition/"
        try:
            return str(member(self._calls.say("POST", where, asked), "status", where))
        except PlatformUnreachable:
            raise
        except PlatformError:
            # Handed in before, perhaps by a call whose answer was lost, and decided since.
            found = self._submission(assignment_id)
            if found.completed_at is None:
                raise
            return found.status

    def request_return(self, assignment_id: str, reason: str) -> None:
        """Ask a participant to return a submission."""
        if self._submission(assignment_id).return_requested is None:
            asked = {"request_return_reasons": [reason]}
            self._calls.once(f"/submissions/{assignment_id}/request-return/", asked)

    def set_up_bonus(self, offer_id: str, assignment_id: str, amount_minor: int) -> str:
        """Return the id of a set-up of one bonus; nothing is paid yet."""
        line = csv_bonuses(assignment_id, amount_minor, self.currency)
        where, asked = "/submissions/bonus-payments/", {"study_id": offer_id, "csv_bonuses": line}
        made = self._calls.once(where, asked)
        if int(member(made, "amount", where)) != amount_minor:
            raise PlatformError(
                f"the platform understood {made['amount']} in place of {amount_minor} minor units",
                where=where,
                remedy="Nothing was paid. Find out why before you pay any bonus",
            )
        return str(member(made, "id", where))

    def pay_bonus(self, set_up_id: str) -> None:
        """Tell the platform to pay what was set up: once, and never again by itself."""
        try:
            self._calls.once(f"/bulk-bonus-payments/{set_up_id}/pay/")
        except (Busy, NotSent) as error:
            raise PlatformError(
                f"nothing was paid: {error.problem}", where=error.where, remedy="Pay again later"
            ) from error

    def bonuses_of(self, assignment_id: str) -> Sequence[int]:
        """Return the amount of each bonus that a submission shows, minor units."""
        return [round(amount) for amount in self._submission(assignment_id).bonus_payments]

    def screen_outs_left(self, offer_id: str) -> int:
        """Return how many may still be paid for being screened out."""
        counted = self._calls.read(f"/studies/{offer_id}/submissions/counts/")
        slots = screen_out_slots(self.study(offer_id)) or 0
        return max(0, slots - int(counted.get("SCREENED OUT", 0)))

    def add_screen_outs(self, offer_id: str, places: int) -> None:
        """Let so many in all be paid for being screened out, and go on recruiting."""
        study = self.study(offer_id)
        if places > (screen_out_slots(study) or 0):
            self._change(offer_id, {"completion_codes": with_slots(study, places)})
        if study.status == "PAUSED":
            self._move(offer_id, "START", unless=("PAUSED",))

    def notes(self, task: Task) -> Sequence[tuple[str, str]]:
        """Return the platform's recommended pay, who finds the study, and what each ending does."""
        return notes_on(task, self.workspace.recommendation(), self._settings)

    def account(self) -> str:
        """Return the id of the workspace that pays."""
        return self.workspace.id()

    def eligible(self, task: Task) -> int | None:
        """Return how many people could find a task; None for fewer than 25, which it hides."""
        return self.workspace.eligible(filters_of(task)) if not task.filter_set else None

    def write(self, offer_id: str, worker_ids: Sequence[str], text: str) -> None:
        """Write to people about a study of which they have a submission: once."""
        asked = {"ids": list(worker_ids), "body": text, "study_id": offer_id}
        self._calls.once("/messages/bulk/", asked)

    def offer_test(self, task: Task, offer: Offer) -> str:
        """Make a draft of an offer and Prolific's test study of it; return the test's address."""
        made = self._make(task, test_draft_of(task, offer, self._settings))
        where = f"/studies/{made.id}/test-study"
        return str(member(self._calls.once(where), "study_url", where))

    def edits(self, offer_id: str, task: Task, link: str) -> Sequence[str]:
        """Return what somebody changed on the platform since the study was posted."""
        return edits_of(self.study(offer_id), task, link, self._settings)

    def hook_secret(self, *, new: bool) -> str:
        """Return what the workspace signs its webhooks with, made if there is none or ``new``."""
        return secret_of(self._calls, self.workspace.id(), new=new)

    def subscribe(self, target_url: str) -> str:
        """Have our server notified of the workspace's submissions; again is success."""
        return subscribe(self._calls, self.workspace.id(), target_url)

    most_exports = 2

    def exports_used(self, offer_id: str) -> int:
        """Return how many demographic exports a study had."""
        reply = self._calls.read(f"/studies/{offer_id}/demographic-export-history/")
        return int(member(reply, "count", "demographic-export-history"))

    def demographics(self, offer_id: str) -> bytes:
        """Return the platform's table of who took part, with its basic columns."""
        where = f"/studies/{offer_id}/demographic-export/"
        reply = self._calls.say("POST", where, {"filters": []})
        return (reply if isinstance(reply, str) else json.dumps(reply)).encode()

    def study(self, offer_id: str) -> StudyAnswer:
        """Return a study."""
        where = f"/studies/{offer_id}/"
        return read(StudyAnswer, self._calls.read(where), f"GET {where}")

    def _make(self, task: Task, draft: dict[str, Any]) -> StudyAnswer:
        """Make a draft, with signed links where the workspace can and nobody decided otherwise."""
        refuse_unknown_group(self._calls, task)
        try:
            made = self._calls.once("/studies/", draft)
        except PlatformUnreachable:
            raise
        except PlatformError:
            # What was refused does not exist: asking for less is no second study.
            if self._settings.signed_arrivals is not None:
                raise
            made = self._calls.once("/studies/", {**draft, SIGNS_LINKS: False})
        return read(StudyAnswer, made, "POST /studies/")

    def _submission(self, assignment_id: str) -> SubmissionAnswer:
        where = f"/submissions/{assignment_id}/"
        return read(SubmissionAnswer, self._calls.read(where), f"GET {where}")

    def _change(self, offer_id: str, fields: dict[str, Any]) -> None:
        self._calls.say("PATCH", f"/studies/{offer_id}/", fields)

    def _move(self, offer_id: str, action: str, *, unless: Sequence[str]) -> None:
        """Do what is wanted with a study, unless its status says that it is done."""
        try:
            self._calls.say("POST", f"/studies/{offer_id}/transition/", {"action": action})
        except PlatformUnreachable:
            raise
        except PlatformError:
            # Done before, perhaps by a call whose answer was lost: the platform's word counts.
            if self.study(offer_id).status in unless:
                raise

    def _decide(self, assignment_id: str, wanted: str, asked: dict[str, str]) -> None:
        where = f"/submissions/{assignment_id}/transition/"
        try:
            reply = self._calls.say("POST", where, asked)
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
