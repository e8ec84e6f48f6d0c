"""The page of a run's money: what is left to do, owed and paid amounts, confirmed payments."""

from dataclasses import asdict, dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from experiment.money import in_words, minor_units
from experiment.participation import State
from experiment.payment.payment import SETTLED_FOR_GOOD, PaymentError, PaymentItem, PaymentKind
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Participant, Payment, Run
from webapp.payments.accounts import load_accounts
from webapp.payments.bonuses import find_rule_bonuses, prepare_listed_bonuses
from webapp.payments.compensation_request import (
    find_payee,
    pays_compensation_as_bonus,
    prepare_compensation_entry,
)
from webapp.payments.debts import OpenPayment, find_open_payments, sum_open_minor
from webapp.payments.ledger import Entry
from webapp.payments.reconciliation.statement import build_statements
from webapp.payments.rewards import (
    find_all_rewards,
    find_named_rewards,
    normalize_reason,
    prepare_rejection,
)
from webapp.payments.run_payments import Proposal, RunPayments, open_run_payments
from webapp.recruitment.published import find_recruitment
from webapp.researcher.access import (
    current_user,
    get_refusal_status,
    redirect_after_act,
    require_access,
)
from webapp.researcher.run_checks import check_first, check_may_pay
from webapp.researcher.template_globals import get_page_number
from webapp.runs.people_table import PAGE_SIZE
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.users.roles import Right

money_pages = Blueprint("money", __name__)

# The payments a form can ask for: for all participants, and for one.
ACTS_FOR_ALL = {
    "approve": "Approve everyone who finished and submitted",
    "bonus_rule": "Pay the bonuses of the study's rule",
}
ACTS_FOR_ONE = {
    "approve_one": "Approve: pay the reward",
    "undo_rejection": "Undo the rejection: pay the reward after all",
    "reject": "Reject: do not pay the reward",
    "bonus": "Pay a bonus",
    "compensate": "Compensate: they worked and could not submit",
}


@dataclass(frozen=True, slots=True)
class MoneyForm:
    """The fields of the payment form.

    Attributes:
        act: A key of ``FOR_ALL`` or ``FOR_ONE``.
        who: A participant's reference or code, or the platform's id of an assignment.
        amount: The typed amount, in the run's currency.
        reason: The message to the payee.
        category: The category of a rejection, if the platform requires one.
        additional: "yes" if a bonus may resemble another one.
        live: "yes" if real money may be spent.
    """

    act: str = ""
    who: str = ""
    amount: str = ""
    reason: str = ""
    category: str = ""
    additional: str = ""
    live: str = ""

    @classmethod
    def from_form(cls) -> "MoneyForm":
        """Read the current request's form."""
        return cls(**{name: request.form.get(name, "").strip() for name in cls.__slots__})

    def entries(self, payments: RunPayments) -> tuple[list[Entry], list[str]]:
        """Return the entries for the ledger, and notes on the bonuses that are left out.

        Raises:
            ParallaxError: The payment is not possible.
        """
        if self.act == "approve":
            return find_all_rewards(payments), []
        if self.act == "bonus_rule":
            bonuses = find_rule_bonuses(payments, additional=bool(self.additional))
            return bonuses.entries, bonuses.notes(payments.run.ref)
        if self.act not in ACTS_FOR_ONE or not self.who:
            raise PaymentError("the form does not say what to do, and for whom")
        if self.act == "reject":
            return prepare_rejection(payments, self.who, self.reason, self.category), []
        if self.act in ("approve_one", "undo_rejection"):
            return find_named_rewards(
                payments, [self.who], undo_rejection=self.act == "undo_rejection"
            ), []
        return self._enter_single_bonus(payments)

    def _enter_single_bonus(self, payments: RunPayments) -> tuple[list[Entry], list[str]]:
        amount_minor = minor_units(self.amount, payments.run.currency)
        if amount_minor == 0:
            raise PaymentError("the amount must be more than 0")
        reason = normalize_reason(self.reason)
        account, worker_id = find_payee(payments, self.who)
        if self.act == "compensate":
            return [
                prepare_compensation_entry(payments, account, worker_id, amount_minor, reason)
            ], []
        assert account is not None
        # The same serial as in a bonus file, so that a bonus given both ways is paid once.
        item = PaymentItem(
            account.participant.ref, PaymentKind.BONUS, amount_minor, reason, f"file\x1f{reason}"
        )
        bonuses = prepare_listed_bonuses(payments, [item], additional=bool(self.additional))
        return bonuses.entries, bonuses.notes(payments.run.ref)


@money_pages.get("/runs/<ref>/money")
@require_access(Right.SEE)
def show_payments(ref: str) -> str:
    """Show what each participant is owed and was paid; no platform is called."""
    return _render_page(ref)


@money_pages.post("/runs/<ref>/money/check")
@require_access(Right.PAY)
def preview_payments(ref: str) -> str:
    """Show the proposed payments for confirmation."""
    form = MoneyForm.from_form()
    payments = open_payments(ref, form)
    entries, notes = form.entries(payments)
    return _render_confirmation(ref, form, payments.propose_payments(entries), notes)


@money_pages.post("/runs/<ref>/money/pay")
@require_access(Right.PAY)
@check_first(check_may_pay)
def make_payments(ref: str) -> ResponseReturnValue:
    """Make the confirmed payments, if the proposal is still the same."""
    form = MoneyForm.from_form()
    payments = open_payments(ref, form)
    entries, notes = form.entries(payments)
    proposal = payments.propose_payments(entries)
    if proposal.digest != request.form.get("agreed", ""):
        return _render_confirmation(ref, form, proposal, notes, has_changed=True), 409
    if not proposal.entries:
        return redirect(url_for("money.show_payments", ref=ref), 303)
    if form.act == "compensate" and not pays_compensation_as_bonus(payments):
        was_notified = payments.offer_compensation(proposal, make_compensation_link(ref))
        payments.log_act(
            "payment made", result="offered", told="by the platform" if was_notified else "no"
        )
    else:
        outcome = payments.carry_out(
            proposal,
            undo_rejections=form.act == "undo_rejection",
            additional=bool(form.additional),
        )
        amount = in_words(proposal.amount_minor, proposal.currency) if proposal.amount_minor else ""
        answers = " ".join(outcome.answers)
        payments.log_act("payment made", result=str(outcome), amount=amount, answers=answers)
    return redirect_after_act("money.show_payments", ref=ref)


@money_pages.errorhandler(ParallaxError)
def show_error(error: ParallaxError) -> ResponseReturnValue:
    """Show the error's message on the run's page of money."""
    ref = (request.view_args or {})["ref"]
    return _render_page(ref, problem=str(error)), get_refusal_status(error)


def make_compensation_link(ref: str) -> str:
    """Return the address of the page on which compensation is accepted."""
    return f"{current_services().settings.link_base}/run/{ref}/compensation"


def open_payments(ref: str, form: MoneyForm) -> RunPayments:
    """Return the run that pays, for the signed-in user.

    Raises:
        ParallaxError: The run is unknown, or its platform cannot be used.
    """
    services = current_services()
    with reading(services.sessions) as session:
        find_run(session, ref)  # raises for an unknown run
    return open_run_payments(
        services.settings,
        services.sessions,
        ref,
        live=bool(form.live),
        by=current_user().name,
        now=services.now,
    )


def _render_confirmation(
    ref: str, form: MoneyForm, proposal: Proposal, notes: list[str], *, has_changed: bool = False
) -> str:
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
    return render_template(
        "researcher/money_confirm.html",
        run=run,
        asked=asdict(form),
        title={**ACTS_FOR_ALL, **ACTS_FOR_ONE}[form.act],
        proposal=proposal,
        notes=notes,
        has_changed=has_changed,
        **({} if proposal.entries else _collect_open_payments(ref)),
    )


def _render_page(ref: str, problem: str = "") -> str:
    form = (
        MoneyForm.from_form()
        if problem
        else MoneyForm(who=request.args.get("who", ""), act=request.args.get("act", ""))
    )
    facts = _collect_open_payments(ref)
    return render_template(
        "researcher/money.html",
        problem=problem,
        for_all=_list_payments_for_all(facts),
        for_one=ACTS_FOR_ONE,
        asked=form,
        looked=current_services().now().isoformat(),
        **facts,
        **_collect_page_data(ref),
    )


def _list_payments_for_all(facts: dict[str, object]) -> dict[str, str]:
    """Return the payments for all that can be asked for now."""
    can_pay_bonuses = facts["has_bonus_rule"] and not facts["undecided_by_rule"]
    return {
        act: title for act, title in ACTS_FOR_ALL.items() if act != "bonus_rule" or can_pay_bonuses
    }


_ACTS_OF_MONEY = (
    "payment ordered",
    "payment made",
    "payment settled by hand",
    "compensation withdrawn",
    "discrepancies mended",
)
_MOST_ACTS = 20
# So many participants are asked what they wait for; so many of those who wait are listed.
_MOST_EXAMINED = 1_000
_MOST_LISTED = 100
# More than this is an outage, to be fixed by reconciling.
_MOST_UNSETTLED = 100


def _collect_open_payments(ref: str) -> dict[str, object]:
    """Return the template variables of the list of participants who wait for money."""
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        pays_after = services.recruiter(run.recruiter).pays_after(study)
        waiting, are_more = find_open_payments(session, run, study, pays_after, _MOST_EXAMINED)
        at_work = (State.ARRIVED, State.WORKING, State.ANSWERED)
        n_at_work = session.scalar(
            select(func.count())
            .select_from(Participant)
            .where(Participant.run_id == run.id, Participant.consented_at.is_not(None))
            .where(Participant.state.in_(at_work))
        )
        orders = _find_latest_orders(session, ref, waiting[:_MOST_LISTED])
    return {
        "waiting": waiting[:_MOST_LISTED],
        "n_waiting": len(waiting),
        "are_more": are_more,
        "waiting_minor": sum_open_minor(waiting),
        "undecided": sum(open_payment.amount_minor is None for open_payment in waiting),
        "undecided_by_rule": any(
            open_payment.amount_minor is None and not open_payment.is_restricted
            for open_payment in waiting
        ),
        "has_bonus_rule": study.payment.bonus != "none",
        "n_at_work": n_at_work,
        "orders": orders,
    }


def _find_latest_orders(
    session: Session, ref: str, waiting: list[OpenPayment]
) -> dict[str, AuditEntry]:
    """Return the latest order to pay each participant, by their reference."""
    orders, unordered = dict[str, AuditEntry](), {payment.payee for payment in waiting}
    of_run = AuditEntry.run_ref == ref, AuditEntry.act == "payment ordered"
    newest_first = select(AuditEntry).where(*of_run).order_by(AuditEntry.number.desc())
    for entry in session.scalars(newest_first):
        if not unordered:
            break
        named = unordered.intersection(entry.after.get("payees", "").split(", "))
        orders |= dict.fromkeys(named, entry)
        unordered -= named
    return orders


def _collect_page_data(ref: str) -> dict[str, object]:
    """Return the template variables of a run's page of money."""
    services, page = current_services(), get_page_number()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study = services.study_of(session, run)
        ids = _list_participant_ids(session, run, (page - 1) * PAGE_SIZE)
        owed = load_accounts(session, run, ids[:PAGE_SIZE])
        strangers = _find_payments_without_participant(session, run) if page == 1 else []
        unsettled, n_unsettled = _find_unsettled_payments(session, run)
        facts: dict[str, object] = {
            "run": run,
            "refs": _get_participant_refs(session, unsettled),
            "published": find_recruitment(session, run),
            "acts": _find_latest_acts(session, ref),
        }
    lines = [line for account in owed for line in account.payments]
    of_payee = {line.payee: line for line in build_statements(owed, [*lines, *strangers], study)}
    people = [(account, of_payee.pop(account.participant.ref)) for account in owed]
    return facts | {
        "people": people,
        "page": page,
        "more": len(ids) > PAGE_SIZE,
        "strangers": list(of_payee.values()),
        "unsettled": unsettled,
        "n_unsettled": n_unsettled,
    }


def _list_participant_ids(session: Session, run: Run, begin: int) -> list[int]:
    """Return the ids of a page's participants, plus one more if there is another page."""
    # Participants who declined are filtered afterwards: a join for each would slow down later
    # pages.
    everybody = select(Participant.id).where(Participant.run_id == run.id)
    order = everybody.order_by(Participant.id).offset(begin).limit(PAGE_SIZE + 1)
    return list(session.scalars(order))


def _find_payments_without_participant(session: Session, run: Run) -> list[Payment]:
    never_came = Payment.run_id == run.id, Payment.participant_id.is_(None)
    return list(session.scalars(select(Payment).where(*never_came).order_by(Payment.id)))


def _find_unsettled_payments(session: Session, run: Run) -> tuple[list[Payment], int]:
    """Return the first payments that are not done, and the number of all of them."""
    waits = Payment.run_id == run.id, Payment.state.not_in(SETTLED_FOR_GOOD)
    first = select(Payment).where(*waits).order_by(Payment.id).limit(_MOST_UNSETTLED)
    n = session.scalar(select(func.count()).select_from(Payment).where(*waits)) or 0
    return list(session.scalars(first)), n


def _get_participant_refs(session: Session, lines: list[Payment]) -> dict[int, str]:
    ids = [line.participant_id for line in lines]
    rows = session.execute(select(Participant.id, Participant.ref).where(Participant.id.in_(ids)))
    return dict(rows.all())


def _find_latest_acts(session: Session, ref: str) -> list[AuditEntry]:
    """Return the latest audit entries on the run's money, the latest first."""
    of_money = AuditEntry.run_ref == ref, AuditEntry.act.in_(_ACTS_OF_MONEY)
    latest = select(AuditEntry).where(*of_money).order_by(AuditEntry.number.desc())
    return list(session.scalars(latest.limit(_MOST_ACTS)))
