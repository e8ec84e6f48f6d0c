"""The pages of money: confirmed with the amount, done once, and said who did it."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from tests.webapp.payments.conftest import hit, platform, worked  # noqa: F401 - fixtures
from tests.webapp.payments.platform_double import DIES_AFTER, REFUSES, ProcessDied
from webapp.database.engine import reading
from webapp.database.models import AuditEntry, Participant, Recruitment, Run, Verdict
from webapp.gate.gate import begin_ledger_entry, store_ledger_state
from webapp.payments import run_payments
from webapp.researcher import money, recruitment
from webapp.researcher.template_globals import describe_act
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def published(run, sessions, platform, clock, monkeypatch):  # noqa: F811
    """The run is published on a platform in memory, which the pages find."""
    with sessions.begin() as session:
        begin_ledger_entry(session.connection())
        session.add(
            Recruitment(
                run_id=run.id, endpoint="double", qualification_id=None, published_at=clock()
            )
        )
    with reading(sessions) as session:
        store_ledger_state(session.connection())
    for module in (run_payments, recruitment):
        monkeypatch.setattr(module, "open_platform", lambda *_, **__: platform)
    return run


class Payer:
    """A researcher at a run's page of money."""

    def __init__(self, here, run) -> None:
        self.here, self.run, self.path = here, run, f"/runs/{run.ref}"

    def check(self, **form: str):
        return self.here.post(f"{self.path}/money/check", **form)

    def confirm(self, page):
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', unescape(page.text)))
        return self.here.post(f"{self.path}/money/pay", **fields)

    def pay(self, **form: str):
        return self.confirm(self.check(**form))

    def page(self) -> str:
        return self.here.get(f"{self.path}/money").text


@pytest.fixture
def payer(published, researcher):
    return Payer(researcher(Role.RESEARCHER), published)


def test_everyone_is_paid_what_was_confirmed_once_and_the_log_says_by_whom(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    for number in (1, 2):
        worked(number)
    asked = payer.check(act="approve")
    assert "2 in all: $0.40, with the platform's fee $0.48" in asked.text
    assert platform.approvals == []
    assert payer.confirm(asked).status_code == 303
    assert platform.approvals == ["ASSIGNMENT1", "ASSIGNMENT2"]
    page = payer.page()
    assert "payees: ref1, ref2" in page
    assert "result: 2 done" in page
    assert page.count("<td>approved</td>") == 2
    assert "AWORKER" not in page
    again = payer.check(act="approve")
    assert "Nothing is left to do" in again.text
    # The button pressed once more, or the page loaded again.
    assert payer.confirm(asked).status_code == 409
    assert len(platform.approvals) == 2


def _live_figures(payer) -> dict[str, str]:
    page = re.sub(r"</?a[^>]*>", "", payer.here.get(payer.path).text)
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))


def test_the_page_of_a_run_says_what_is_spent_and_what_is_still_to_be_paid(
    payer,
    start,
    sessions,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    refs = [worked(number) for number in (1, 2, 3)]
    start(payer.run)
    with sessions.begin() as session:
        session.get(Run, payer.run.id).recruiter = "mturk"
    figures = _live_figures(payer)
    assert figures["people paid"] == "0"
    assert (figures["spent"], figures["committed, not paid yet"]) == ("$0.00", "$0.80")
    payer.pay(act="approve_one", who=refs[0])
    payer.pay(act="bonus", who=refs[0], amount="0.50", reason="Well done")
    payer.pay(act="reject", who=refs[1], reason="No answer")
    figures = _live_figures(payer)
    assert figures["people paid"] == "1"
    assert (figures["spent"], figures["committed, not paid yet"]) == ("$0.70", "$0.40")


def test_one_person_is_rejected_taken_back_and_given_a_bonus(
    payer,
    sessions,
    clock,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    ref = worked(1)
    assert payer.pay(act="reject", who=ref, reason="<b>No</b> answer").status_code == 303
    assert platform.rejections == ["ASSIGNMENT1"]
    assert "<td>rejected</td>" in payer.page()
    assert payer.check(act="approve_one", who=ref).status_code == 409
    with sessions.begin() as session:
        person = session.scalars(select(Participant).where(Participant.ref == ref)).one()
        session.add(
            Verdict(participant_id=person.id, kept=True, rule="", evidence="", decided_at=clock())
        )
    assert "1 person whom the analysis keeps was rejected" in payer.here.get(payer.path).text
    assert payer.pay(act="undo_rejection", who=ref).status_code == 303
    assert platform.approvals == ["ASSIGNMENT1"]
    assert "<td>approved</td>" in payer.page()
    bonus = {"act": "bonus", "who": ref, "amount": "0.50", "reason": "Well done"}
    assert payer.pay(**bonus).status_code == 303
    assert "Nothing is left" in payer.check(**bonus).text
    alike = payer.check(**{**bonus, "reason": "Well done again"})
    assert alike.status_code == 409
    assert "may have been paid before" in alike.text
    assert [paid.amount_minor for paid in platform.paid] == [50]
    assert "<b>No" not in payer.page()


@pytest.mark.parametrize(
    "form",
    [
        {"act": "bonus", "amount": "-1", "reason": "x"},
        {"act": "bonus", "amount": "0", "reason": "x"},
        {"act": "bonus", "amount": "1000", "reason": "x"},
        {"act": "bonus", "amount": "0.50", "reason": " "},
        {"act": "bonus", "amount": "0.50", "reason": "x", "who": "=HYPERLINK(1)\x00"},
        {"act": "reject", "reason": "x" * 1001},
        {"act": "compensate", "amount": "0.50", "reason": "x"},
        {"act": "approve_one", "who": "nobody"},
        {"act": "__class__"},
        {},
    ],
)
def test_what_cannot_be_paid_is_said_and_nothing_is_done(
    form,
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    ref = worked(1)
    payer.pay(act="approve")
    refused = payer.check(**{"who": ref, **form})
    assert refused.status_code == 409
    assert "Nothing was done." in refused.text
    assert ("the amount must be more than 0" in refused.text.lower()) is (form.get("amount") == "0")
    assert platform.paid == []
    assert platform.rejections == []


@pytest.mark.both_databases
def test_two_researchers_who_pay_one_person_at_once_pay_once(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
    published,
    researcher,
    monkeypatch,
):
    worked(1)
    other = Payer(researcher(Role.OWNER), published)
    seen, approve = other.check(act="approve"), platform.approve
    answers = []

    def meanwhile(assignment_id: str, feedback: str = "", *, undo_rejection: bool = False) -> None:
        monkeypatch.setattr(platform, "approve", approve)
        answers.append(other.confirm(seen))  # while the first one's call is under way
        approve(assignment_id, feedback, undo_rejection=undo_rejection)

    monkeypatch.setattr(platform, "approve", meanwhile)
    assert payer.pay(act="approve").status_code == 303
    assert platform.approvals == ["ASSIGNMENT1"]
    assert [answer.status_code for answer in answers] == [303]
    page = payer.page()
    assert "another process is working on it" in page
    assert "result: 1 done" in page
    late = other.confirm(seen)
    assert late.status_code == 409
    assert "somebody else may have paid meanwhile" in late.text
    assert platform.approvals == ["ASSIGNMENT1"]


@pytest.mark.both_databases
def test_a_session_that_ends_in_the_middle_of_a_payment_loses_and_doubles_nothing(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
    browser,
    monkeypatch,
):
    worked(1)
    approve, asked = platform.approve, payer.check(act="approve")

    def meanwhile(*arguments: str, **how: bool) -> None:
        elsewhere = browser()
        elsewhere.sign_in("researcher")
        assert elsewhere.post("/sessions/end").status_code == 303
        approve(*arguments, **how)

    monkeypatch.setattr(platform, "approve", meanwhile)
    assert payer.confirm(asked).status_code == 303
    assert platform.approvals == ["ASSIGNMENT1"]
    asked_to_sign_in = payer.confirm(asked)
    assert asked_to_sign_in.status_code in (303, 403)
    payer.here.sign_in("researcher")
    assert "result: 1 done" in payer.page()


def test_a_server_that_dies_in_the_middle_of_a_payment_pays_once(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
    clock,
):
    worked(1)
    platform.trouble("approve", DIES_AFTER)
    with pytest.raises(ProcessDied):
        payer.pay(act="approve")
    assert "calling" in payer.page()
    assert "1 payment is not done yet" in payer.here.get(payer.path).text
    clock.go_on(minutes=6)
    assert payer.pay(act="approve").status_code == 303
    assert platform.approvals == ["ASSIGNMENT1"]
    assert "Not done yet" not in payer.page()
    assert "not done yet" not in payer.here.get(payer.path).text


def test_reconciling_shows_what_differs_and_does_what_is_safe(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    worked(1)
    platform.approve("ASSIGNMENT1")  # by hand, at the platform's own site
    look = payer.here.post(f"{payer.path}/reconcile")
    assert "reviewed_elsewhere" in look.text
    assert payer.here.post(f"{payer.path}/reconcile/fix").status_code == 303
    assert "everyone has received what" in payer.here.post(f"{payer.path}/reconcile").text
    assert "discrepancies mended" in payer.page()


def test_recruitment_is_seen_and_paused(payer, worked, platform):  # noqa: F811
    worked(1)
    page = payer.here.post(f"{payer.path}/recruitment").text
    assert "<dt>submitted</dt><dd>1</dd>" in page
    assert payer.here.post(f"{payer.path}/recruitment/pause").status_code == 303
    for hours in ("²", "000001" + "9" * 20):
        assert payer.here.post(f"{payer.path}/recruitment/extend", hours=hours).status_code == 400
    assert payer.here.post(f"{payer.path}/recruitment/extend", hours="2").status_code == 303


def test_participants_are_written_to_once_it_was_confirmed(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
    monkeypatch,
):
    worked(1)
    address, form = f"{payer.path}/recruitment/write", {"whom": "finished", "text": "Come again."}
    assert payer.here.post(address, **form).status_code == 400  # this platform cannot
    assert "Write to participants" not in payer.here.post(f"{payer.path}/recruitment").text
    sent: list[tuple] = []
    # Of this one alone: whether a class can write is asked once in a process.
    monkeypatch.setattr(platform, "write", lambda *letter: sent.append(letter), raising=False)
    assert "Write to participants" in payer.here.post(f"{payer.path}/recruitment").text
    page = payer.here.post(address, **form)
    assert "1 participant would read this" in page.text and not sent
    assert payer.here.post(address, **form, agreed="2").status_code == 200 and not sent
    assert payer.here.post(address, **form, agreed="1").status_code == 303
    [(_, people, text)] = sent
    assert len(people) == 1 and text == "Come again."
    assert payer.here.post(address, whom="finished", text=" ").status_code == 409
    assert payer.here.post(address, whom="nobody", text="x").status_code == 400
    assert len(sent) == 1


def test_who_may_only_look_is_offered_no_payment(published, researcher, worked):  # noqa: F811
    worked(1)
    page = researcher(Role.VIEWER).get(f"/runs/{published.ref}/money").text
    assert "ref1" in page
    assert "Approve everyone" not in page


@pytest.fixture
def change_settings(app, monkeypatch):
    """Return a function that changes settings of the server."""

    def change(**settings: str) -> None:
        services = app.extensions["parallax"]
        changed = services.settings.model_copy(update=settings)
        monkeypatch.setattr(services, "settings", changed)

    change(public_url="https://study.example")
    return change


def offered(platform) -> int:  # noqa: F811
    return sum(offer.places for _, _, offer in platform.posted.values())


def test_a_run_is_published_once_for_what_was_shown_and_confirmed(
    payer,
    platform,  # noqa: F811
    change_settings,
):
    asked = payer.here.post(f"{payer.path}/recruitment/plan")
    assert "Yes: publish for $1.92 at most" in asked.text
    assert "hourly pay at the median time" in asked.text
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', unescape(asked.text)))
    assert offered(platform) == 0
    for answer in (303, 409):  # the button pressed once more
        pressed = payer.here.post(f"{payer.path}/recruitment/publish", **fields)
        assert (pressed.status_code, offered(platform)) == (answer, 8)
    assert "has changed since you looked" in pressed.text


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("most_per_participant", "0.10 USD", "would get $0.20 in all"),
        ("most_per_run", "1.50 USD", "would cost $1.60"),
        ("most_per_hour", "6 USD", "$12.00 an hour"),
        ("least_per_hour", "13 USD", "$12.00 an hour"),
    ],
)
def test_terms_beyond_the_limits_are_not_published_from_the_page_either(
    payer,
    platform,  # noqa: F811
    change_settings,
    setting,
    value,
    said,
):
    change_settings(**{setting: value})
    for act in ("plan", "publish"):
        refused = payer.here.post(f"{payer.path}/recruitment/{act}")
        assert (refused.status_code, said in refused.text) == (409, True)
    assert offered(platform) == 0


def test_more_than_the_balance_is_not_published(
    payer,
    platform,  # noqa: F811
    change_settings,
):
    asked = payer.here.post(f"{payer.path}/recruitment/plan")
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', unescape(asked.text)))
    platform.balance = 191
    refused = payer.here.post(f"{payer.path}/recruitment/publish", **fields)
    assert (refused.status_code, "at least $1.92" in refused.text) == (409, True)
    assert offered(platform) == 0


def test_the_page_lists_who_waits_and_never_says_that_nothing_is_left_while_somebody_does(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    worked(1)
    worked(2, status=None)
    worked(3, state="answered", status=None)
    page = payer.page()
    assert "2 people wait: $0.40 in all" in page
    assert "approval of the reward" in page
    assert "no: at work: last questions" in page and "no: answered" not in page
    assert "nothing" in page
    paid = payer.pay(act="approve")
    done = payer.here.client.get(paid.location).text
    assert "1 payment was made, $0.20 in all." in done
    assert 'role="status"' in done
    assert "1 person waits: $0.20 in all" in done
    again = payer.check(act="approve").text
    assert "Nothing can be paid in this way now." in again
    assert "Nothing is left to do" not in again
    assert "1 person waits: $0.20 in all" in again


@pytest.mark.parametrize(
    ("rule", "undecided", "is_offered"),
    [(False, False, False), (True, True, False), (True, False, True)],
)
def test_bonuses_of_the_rule_are_offered_once_they_can_be_paid(
    payer,
    worked,  # noqa: F811
    monkeypatch,
    rule,
    undecided,
    is_offered,
):
    worked(1)
    collected = money._collect_open_payments
    found = {"has_bonus_rule": rule, "undecided_by_rule": undecided}
    monkeypatch.setattr(money, "_collect_open_payments", lambda ref: collected(ref) | found)
    page = payer.page()
    assert ("Pay the bonuses of the study" in page) is is_offered
    assert ("once all their amounts are decided" in page) is undecided


def test_an_act_that_is_not_done_is_said_with_who_asked_for_it(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
):
    worked(1)
    platform.trouble("approve", REFUSES)
    reply = payer.pay(act="approve")
    page = payer.here.client.get(reply.location).text
    assert "Not everything is done: 1 refused." in page
    assert "another attempt to pay their reward" in page
    assert "1 reward ($0.20), asked for by researcher on" in page


def test_the_latest_order_of_each_person_is_said_however_many_followed_for_others(
    payer,
    worked,  # noqa: F811
    sessions,
    clock,
):
    for number in (1, 2, 3):
        worked(number)
    with sessions.begin() as session:
        often, once, _ = session.scalars(select(Participant.ref).order_by(Participant.id))
        orders = [("anna", f"{often}, {once}"), ("bert", often), *[("carl", "others")] * 300]
        session.add_all(
            AuditEntry(
                number=number, at=clock(), who=who, act="payment ordered", run_ref=payer.run.ref,
                before={}, after={"payees": payees, "what": "1 reward"}, previous_hash="", hash="",
            )
            for number, (who, payees) in enumerate(orders, start=1_000)
        )  # fmt: skip
    page = payer.page()
    by = [page.count(f"1 reward, asked for by {who} on") for who in ("anna", "bert", "carl")]
    assert (by, page.count("<td>nothing</td>")) == ([1, 1, 0], 1)


def test_what_was_done_is_not_said_of_another_run_or_after_a_while(
    payer,
    worked,  # noqa: F811
    platform,  # noqa: F811
    clock,
):
    worked(1)
    place = payer.pay(act="approve").location
    clock.go_on(minutes=3)
    assert "1 payment was made" not in payer.here.client.get(place).text
    assert payer.here.get("/?done=1").status_code == 200


@pytest.mark.parametrize(
    ("act", "after", "said"),
    [
        ("payment made", {"result": "2 done", "amount": ""}, ("2 decisions were made.", True)),
        (
            "payment made",
            {"result": "offered", "told": "by the platform"},
            ("The compensation is offered, and the platform told them.", True),
        ),
        (
            "payment made",
            {"result": "offered", "told": "no"},
            (
                "The compensation is offered, but the platform could not tell them. Write to them.",
                False,
            ),
        ),
        ("run closed", {}, ("The run is closed: nobody new is let in.", True)),
        ("payment settled by hand", {}, ("Done: payment settled by hand.", True)),
    ],
)
def test_each_act_has_its_sentence(act, after, said):
    assert describe_act(act, after) == said


def test_messages_name_the_run_instead_of_the_placeholder_of_commands(payer, worked):  # noqa: F811
    worked(1)
    refused = payer.check(act="compensate", who="ref1", amount="0.50", reason="x").text
    assert f"parallax approve {payer.run.ref}" in refused
    assert "RUN" not in refused
