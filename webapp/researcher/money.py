"""A run's money: what everybody is owed and was paid, and paying after a confirmation."""

from dataclasses import asdict, dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from experiment.errors import ParallaxError
from experiment.money import minor_units
from experiment.payment.payment import PaymentError, PaymentItem, PaymentKind
from webapp.database.engine import reading
from webapp.payments.bonuses import bonuses_of_rule, listed_bonuses
from webapp.payments.compensation_request import by_bonus, compensation_entry, payee
from webapp.payments.ledger import Entry
from webapp.payments.proposal import Proposal
from webapp.payments.rewards import all_rewards, rejection_of, rewards_of, stated_reason
from webapp.payments.run_payments import RunPayments, open_run_payments
from webapp.projects.rights import Right
from webapp.researcher.access import allowed, current_user
from webapp.researcher.money_shown import money_of
from webapp.services import current_services
from webapp.sessions.lookup import find_run

money_pages = Blueprint("money", __name__)

# What can be asked for: for everybody, and for one person.
FOR_ALL = {
    "approve": "Approve everyone who finished and submitted",
    "bonus_rule": "Pay the bonuses of the study's rule",
}
FOR_ONE = {
    "approve_one": "Approve: pay the reward",
    "undo_rejection": "Undo the rejection: pay the reward after all",
    "reject": "Reject: do not pay the reward",
    "bonus": "Pay a bonus",
    "compensate": "Compensate: they worked and could not submit",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form asks for.

    Attributes:
        act: One of the above.
        who: A participant's reference or code, or the platform's id of an assignment.
        amount: How much, as it was typed, in the run's currency.
        reason: What the payee is told.
        category: Of a rejection, where the platform asks for one.
        additional: "yes" where a bonus may be like another one.
        live: "yes" where real money may be spent.
    """

    act: str = ""
    who: str = ""
    amount: str = ""
    reason: str = ""
    category: str = ""
    additional: str = ""
    live: str = ""

    @classmethod
    def from_form(cls) -> "Asked":
        """Return what the present request's form asks for."""
        return cls(**{name: request.form.get(name, "").strip() for name in cls.__slots__})

    def entries(self, payments: RunPayments) -> tuple[list[Entry], list[str]]:
        """Return what it would write down, and what to know of bonuses that are left out.

        Raises:
            ParallaxError: It cannot be paid like that.
        """
        if self.act == "approve":
            return all_rewards(payments), []
        if self.act == "bonus_rule":
            found = bonuses_of_rule(payments, additional=bool(self.additional))
            return found.entries, found.notes(payments.run.ref)
        if self.act not in FOR_ONE or not self.who:
            raise PaymentError("the form does not say what to do, and for whom")
        if self.act == "reject":
            return rejection_of(payments, self.who, self.reason, self.category), []
        if self.act in ("approve_one", "undo_rejection"):
            return rewards_of(payments, [self.who], undo_rejection=self.act == "undo_rejection"), []
        return self._amount_for_one(payments)

    def _amount_for_one(self, payments: RunPayments) -> tuple[list[Entry], list[str]]:
        amount_minor = minor_units(self.amount, payments.run.currency)
        if amount_minor == 0:
            raise PaymentError("the amount must be more than 0")
        reason = stated_reason(self.reason)
        account, worker_id = payee(payments, self.who)
        if self.act == "compensate":
            return [compensation_entry(payments, account, worker_id, amount_minor, reason)], []
        assert account is not None
        # The serial of a file's bonus: the same bonus by a file or by this form is one.
        item = PaymentItem(
            account.participant.ref, PaymentKind.BONUS, amount_minor, reason, f"file\x1f{reason}"
        )
        found = listed_bonuses(payments, [item], additional=bool(self.additional))
        return found.entries, found.notes(payments.run.ref)


@money_pages.get("/runs/<ref>/money")
@allowed(Right.SEE)
def show(ref: str) -> str:
    """Show what everybody is owed and got; no platform is called."""
    return _page(ref)


@money_pages.post("/runs/<ref>/money/check")
@allowed(Right.PAY)
def check(ref: str) -> str:
    """Show what would be paid, for somebody to confirm."""
    asked = Asked.from_form()
    payments = _open(ref, asked)
    entries, notes = asked.entries(payments)
    return _confirm(ref, asked, payments.proposal(entries), notes)


@money_pages.post("/runs/<ref>/money/pay")
@allowed(Right.PAY)
def carry_out(ref: str) -> ResponseReturnValue:
    """Pay what was confirmed, if it is still the same."""
    asked = Asked.from_form()
    payments = _open(ref, asked)
    entries, notes = asked.entries(payments)
    proposal = payments.proposal(entries)
    if proposal.digest != request.form.get("agreed", ""):
        return _confirm(ref, asked, proposal, notes, has_changed=True), 409
    if not proposal.entries:
        return redirect(url_for("money.show", ref=ref), 303)
    if asked.act == "compensate" and not by_bonus(payments):
        sent = payments.offer(proposal, compensation_link(ref))
        payments.note("payment made", result="offered", told="by the platform" if sent else "no")
    else:
        outcome = payments.carry_out(
            proposal,
            undo_rejections=asked.act == "undo_rejection",
            additional=bool(asked.additional),
        )
        payments.note("payment made", result=str(outcome), answers=" ".join(outcome.answers))
    return redirect(url_for("money.show", ref=ref), 303)


@money_pages.errorhandler(ParallaxError)
def refuse(error: ParallaxError) -> ResponseReturnValue:
    """Show the paragraph on the run's page of money."""
    return _page((request.view_args or {})["ref"], problem=str(error)), 409


def compensation_link(ref: str) -> str:
    """Return the address of the page by which compensation is taken up."""
    return f"{current_services().settings.link_base}/run/{ref}/compensation"


def _open(ref: str, asked: Asked) -> RunPayments:
    services = current_services()
    with reading(services.sessions) as session:
        find_run(session, ref)  # an unknown one is told as such
    return open_run_payments(
        services.settings,
        services.sessions,
        ref,
        live=bool(asked.live),
        by=current_user().name,
        now=services.now,
    )


def _confirm(
    ref: str, asked: Asked, proposal: Proposal, notes: list[str], *, has_changed: bool = False
) -> str:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
    return render_template(
        "researcher/money_confirm.html",
        run=run,
        asked=asdict(asked),
        title={**FOR_ALL, **FOR_ONE}[asked.act],
        proposal=proposal,
        notes=notes,
        has_changed=has_changed,
    )


def _page(ref: str, problem: str = "") -> str:
    asked = Asked.from_form() if problem else Asked(who=request.args.get("who", ""))
    return render_template(
        "researcher/money.html",
        problem=problem,
        for_all=FOR_ALL,
        for_one=FOR_ONE,
        asked=asked,
        looked=current_services().now().isoformat(),
        **money_of(ref),
    )
