"""What people are owed, by rule and by file, and the bounds of it."""

import pytest

from experiment.payment.bonuses import (
    BonusCandidate,
    bonus_owed_minor,
    bonuses_by_rule,
    read_bonus_file,
)
from experiment.payment.payment import (
    LONGEST_REASON,
    Caps,
    PaymentError,
    PaymentItem,
    PaymentKind,
    is_same_reason,
    payment_token,
    refuse_over_caps,
)
from experiment.studies.study import Payment

PEOPLE = [
    BonusCandidate("ann", kept=True, correct_catch_trials=10),
    BonusCandidate("bea", kept=False, correct_catch_trials=7),
    BonusCandidate("cyd", kept=True, correct_catch_trials=0),
]


def amounts(**payment: object) -> dict[str, int]:
    return {
        due.payee: due.amount_minor for due in bonuses_by_rule(Payment(**payment), PEOPLE, "r1")
    }


def test_the_rules_give_what_they_say():
    assert amounts() == {}
    assert amounts(bonus="everyone", bonus_amount="0.30") == {"ann": 30, "bea": 30, "cyd": 30}
    assert amounts(bonus="kept", bonus_amount="0.30") == {"ann": 30, "cyd": 30}
    assert amounts(bonus="per_correct_catch_trial", bonus_amount="0.02") == {"ann": 20, "bea": 14}


def test_who_is_kept_must_be_decided_before_those_kept_get_a_bonus():
    undecided = [BonusCandidate("dan", kept=None, correct_catch_trials=3)]
    with pytest.raises(PaymentError, match=r"dan is kept.*parallax exclude r1"):
        bonuses_by_rule(Payment(bonus="kept", bonus_amount="0.05"), undecided, "r1")


def test_what_is_owed_is_told_once_the_rule_can_be_applied():
    undecided = BonusCandidate("dan", kept=None, correct_catch_trials=None)
    kept = Payment(bonus="kept", bonus_amount="0.05")
    correct = Payment(bonus="per_correct_catch_trial", bonus_amount="0.02")
    everyone = Payment(bonus="everyone", bonus_amount="0.30")
    assert [bonus_owed_minor(rule, undecided) for rule in (kept, correct, everyone)] == [
        None, None, 30,
    ]  # fmt: skip
    assert [bonus_owed_minor(rule, PEOPLE[1]) for rule in (kept, correct, everyone)] == [0, 14, 30]
    with pytest.raises(PaymentError, match="depends on correct answers, and the run is blind"):
        bonuses_by_rule(correct, [undecided], "r1")


@pytest.mark.parametrize(
    ("length", "fits"), [(1, True), (LONGEST_REASON, True), (LONGEST_REASON + 1, False)]
)
def test_a_reason_is_as_long_as_the_platform_takes_and_no_longer(bonus_file, length, fits):
    path = bonus_file(f"participant,amount,reason\nann,0.01,{'x' * length}\n")
    if fits:
        assert [each.amount_minor for each in read_bonus_file(path, ["ann"], "USD", "r1")] == [1]
    else:
        with pytest.raises(PaymentError, match="the reason is empty or longer than"):
            read_bonus_file(path, ["ann"], "USD", "r1")


@pytest.mark.parametrize("payment", [{"bonus": "kept"}, {"bonus_amount": "0.05"}])
def test_a_rule_without_an_amount_is_no_rule(payment):
    with pytest.raises(ValueError, match="belong together"):
        Payment(**payment)


def test_tokens_are_the_same_for_the_same_payment_and_for_no_other():
    dues = [
        PaymentItem("ann", PaymentKind.REWARD, 20, "Thanks"),
        PaymentItem("ann", PaymentKind.BONUS, 20, "Thanks"),
        PaymentItem("bea", PaymentKind.REWARD, 20, "Thanks"),
        PaymentItem("ann", PaymentKind.BONUS, 20, "Thanks", serial="2"),
    ]
    tokens = {due.token("run") for due in dues} | {dues[0].token("other run")}
    assert len(tokens) == 5
    assert all(len(token) == 64 for token in tokens)
    assert dues[0].token("run") == payment_token("run", "ann", PaymentKind.REWARD)


@pytest.fixture
def bonus_file(tmp_path):
    def write(text: str):
        path = tmp_path / "bonuses.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_lists_bonuses(bonus_file):
    path = bonus_file("\ufeffreason,participant,amount\nFast,ann,0.50\nKind,ann,0.25\n")
    dues = read_bonus_file(path, ["ann"], "USD", "r1")
    assert [(due.payee, due.amount_minor, due.reason) for due in dues] == [
        ("ann", 50, "Fast"),
        ("ann", 25, "Kind"),
    ]
    assert dues[0].token("run") != dues[1].token("run")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("bob,50,Fast", 'line 2: "bob" finished nothing'),
        ("ann,0.505,Fast", 'line 2: "0.505" is not an amount of USD'),
        ("ann,-5,Fast", 'line 2: "-5" is not an amount of USD'),
        ("ann,\u0665,Fast", "is not an amount of USD"),
        ("ann,0,Fast", 'line 2: "0" is not an amount of USD'),
        (f"ann,{'9' * 5000},Fast", "is not an amount of USD"),
        ("ann,5,", "the reason is empty"),
        ("ann", "is not an amount of USD"),
        ("ann,5,Fast, and right", "line 2: more cells than columns"),
        ("ann,5,Fast\nann,6,Fast", "line 3: ann has another row with the same reason"),
        ("", "the file lists no bonus"),
    ],
)
def test_a_wrong_row_is_told_by_its_line(bonus_file, rows, said):
    path = bonus_file(f"participant,amount,reason\n{rows}\n")
    with pytest.raises(PaymentError, match=said):
        read_bonus_file(path, ["ann"], "USD", "r1")


def test_what_a_spreadsheet_leaves_around_the_rows_is_passed_over(bonus_file):
    path = bonus_file("participant, amount , reason,,\n,,,,\n\nann, 0.50, Fast,,\n,,\n")
    [due] = read_bonus_file(path, ["ann"], "USD", "r1")
    assert (due.payee, due.amount_minor, due.reason) == ("ann", 50, "Fast")
    with pytest.raises(PaymentError, match='line 4: "bea" finished nothing'):
        read_bonus_file(
            bonus_file("participant,amount,reason\n\n,,\nbea,1,Kind\n"), ["ann"], "USD", "r1"
        )


@pytest.mark.parametrize(
    "header",
    ["participant,amount,reason,amount", "participant;amount;reason", "Participant,amount,reason"],
)
def test_other_columns_are_refused_and_how_to_save_the_file_is_said(bonus_file, header):
    path = bonus_file(f"{header}\nann,0.50,Fast,0.70\n")
    with pytest.raises(
        PaymentError, match=r"the columns of the file are .* each once\. In a spreadsheet, save"
    ):
        read_bonus_file(path, ["ann"], "USD", "r1")


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_file_in_another_encoding_is_refused_in_words(bonus_file, encoding):
    path = bonus_file("")
    path.write_bytes("participant,amount,reason\nann,0.50,Für Größe\n".encode(encoding))
    with pytest.raises(PaymentError, match=r"the file of bonuses is not UTF-8 text\. In a sp"):
        read_bonus_file(path, ["ann"], "USD", "r1")


def test_a_file_that_is_none_is_refused(bonus_file, tmp_path):
    with pytest.raises(
        PaymentError,
        match=r"the columns of the file are who, much. Expected the columns participant",
    ):
        read_bonus_file(bonus_file("who,much\nann,5\n"), ["ann"], "USD", "r1")
    with pytest.raises(PaymentError, match=r"the file of bonuses cannot be read \(No such file"):
        read_bonus_file(tmp_path / "nowhere.csv", ["ann"], "USD", "r1")


def test_reasons_that_differ_in_spaces_and_capitals_are_the_same():
    assert is_same_reason(" Very  good", "very Good")
    assert not is_same_reason("Very good", "Verygood")


def test_caps_count_what_was_promised_before():
    caps = Caps(per_participant_minor=100, per_run_minor=150, currency="USD")
    refuse_over_caps({"ann": 60}, [("ann", 40), ("bea", 50)], caps)
    with pytest.raises(PaymentError, match=r"\$1\.01 in all"):
        refuse_over_caps({"ann": 60}, [("ann", 41)], caps)
    with pytest.raises(PaymentError, match=r"would cost \$1\.51"):
        refuse_over_caps({"ann": 60}, [("ann", 40), ("bea", 51)], caps)


def test_what_was_paid_already_breaks_no_cap_by_itself():
    refuse_over_caps(
        {"ann": 500}, [], Caps(per_participant_minor=1, per_run_minor=1, currency="USD")
    )
