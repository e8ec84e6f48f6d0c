"""What the checklist counts, against numbers worked out by hand on tables of a few people."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from analysis.baseline.answers import _format_range
from analysis.baseline.checklist import AnsweredItem, answer_from_run
from analysis.baseline.execution import EXECUTION_ANSWERS
from analysis.baseline.facts import Facts, collect_facts, summarise_payments
from analysis.baseline.finding import _item_row
from analysis.baseline.recruiting import RECRUITMENT_ANSWERS
from analysis.data.participant_flow import Flow
from experiment.studies.publication import Baseline, Publication

PEOPLE = ("Ann", "Bob", "Cem", "Dan", "Eva", "Flo", "Gus")
KEPT = PEOPLE[:6]  # Gus was excluded.


def verdicts() -> pd.DataFrame:
    return pd.DataFrame({"participant": PEOPLE, "kept": [name in KEPT for name in PEOPLE]})


def trials() -> pd.DataFrame:
    """Ann and Bob had the same two items in two orders, Cem had three others."""
    rows = [
        ("Ann", 1, "a"),
        ("Ann", 2, "b"),
        ("Bob", 1, "b"),
        ("Bob", 2, "a"),
        ("Cem", 1, "c"),
        ("Cem", 2, "d"),
        ("Cem", 3, "e"),
    ]
    return pd.DataFrame(rows, columns=["participant", "position", "item_id"])


def responses() -> pd.DataFrame:
    """Those kept took 1, 2 and 6 s, whose median is 2 s; with Gus' 90 s twice it would be 6 s."""
    rows = [("Ann", "a", 1000), ("Bob", "a", 2000), ("Cem", "c", 6000)]
    rows += [("Gus", "a", 90_000), ("Gus", "b", 90_000)]
    return pd.DataFrame(rows, columns=["participant", "item_id", "rt_ms"])


def facts(tmp_path: Path, **changed: Any) -> Facts:
    """Return the facts of a run of seven people, of whom six are kept."""
    question = SimpleNamespace(name="region", closed=True)
    study = SimpleNamespace(
        exclusion=[], attention=None, questionnaire=[question], screening=[], comprehension=None
    )
    run = SimpleNamespace(
        folder=tmp_path / "none",
        facts=SimpleNamespace(launched_at="2026-11-24", simulated=False, recruiter="open"),
        study=study,
        trials=trials(),
        responses=responses(),
        verdicts=verdicts(),
        answers=None,
    )
    for name in [name for name in changed if hasattr(run, name)]:
        setattr(run, name, changed.pop(name))
    flow = Flow(7, 7, 7, excluded={"max_errors": 1}, kept=6, simulated=0)
    kept = responses()[lambda rows: rows["participant"].isin(KEPT)]
    return replace(
        collect_facts(
            cast(Any, run),
            cast(Any, SimpleNamespace(flow=flow, models=[], simulated=False)),
            kept,
            publication=Publication(),
            baseline=Baseline(),
            contexts={},
            robust=False,
        ),
        **changed,
    )


def answer(number: str, found: Facts) -> tuple[str, str]:

    item = {**EXECUTION_ANSWERS, **RECRUITMENT_ANSWERS}[number](found)
    return item.value, item.evidence


def test_answers_to_the_questionnaire_are_counted_of_those_kept(tmp_path: Path):
    """Five kept people of the north and one of the south; Gus, who was excluded, is of the north.

    With Gus it would be six.
    """
    regions = ["North"] * 5 + ["South", "North"]
    answers = pd.DataFrame({"participant": PEOPLE, "field": "region", "value": regions})
    _, evidence = answer("5.1.1", facts(tmp_path, answers=answers))
    assert evidence == "region: North 5, other answers, each of fewer than 5 people, 1"


def test_answers_of_excluded_people_alone_are_none(tmp_path: Path):
    answers = pd.DataFrame({"participant": ["Gus"], "field": "region", "value": "North"})
    assert answer("5.1.1", facts(tmp_path, answers=answers))[0] == ""


def test_the_exclusions_are_of_all_who_finished(tmp_path: Path):
    assert answer("3.2.2", facts(tmp_path)) == (
        "1 of 7 participants",
        "the table of verdicts: 1 for too many errors",
    )


def test_the_time_is_the_median_of_those_kept(tmp_path: Path):
    _, evidence = answer("5.1.3", facts(tmp_path, minutes=12.34))
    assert evidence == "median answer 2.00 s, median session 12.3 min"


def test_the_sessions_minutes_are_those_of_the_kept_who_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Kept people took 10 and 30 minutes, so 20; Gus took 100, and Cem did not finish."""
    times = {"Ann": 10, "Bob": 30, "Gus": 100}
    start = pd.Timestamp("2026-11-24T09:00Z")
    people = pd.DataFrame(
        {
            "participant": [*times, "Cem"],
            "consented_at": start,
            "finished_at": [*(start + pd.Timedelta(minutes=n) for n in times.values()), None],
        }
    )
    monkeypatch.setattr("analysis.baseline.facts.read_exported_table", lambda *_: people)
    assert facts(tmp_path, folder=tmp_path).minutes == pytest.approx(20.0)


def test_sets_of_items_in_several_orders_are_counted(tmp_path: Path):
    assert answer("3.1.1", facts(tmp_path)) == (
        "yes",
        "1 of 1 sets of items were shown in more than one order",
    )
    assert answer("3.1", facts(tmp_path))[0] == "2 to 3"


def test_payments_are_summed_by_what_they_were_for():
    payments = pd.DataFrame(
        {
            "participant": ["Ann", "Bob", "Ann"],
            "paid_for": ["reward", "reward", "bonus"],
            "amount_minor": [150, 150, 25],
            "currency": ["EUR", "EUR", "EUR"],
        }
    )
    assert summarise_payments(payments) == {"bonus": "1 of 0.25 EUR", "reward": "2 of 1.50 EUR"}


def test_judgments_of_each_item_and_of_each_participant_are_counted(tmp_path: Path):
    found = facts(tmp_path)
    assert dict(found.per_item) == {"a": 2, "c": 1}
    assert dict(found.per_participant) == {"Ann": 1, "Bob": 1, "Cem": 1}


def test_those_screened_out_are_counted_apart_from_other_endings(tmp_path: Path):
    endings = pd.DataFrame({"ending": ["screened_out", "failed_check", "finished", "screened_out"]})
    assert answer("2.3.2", facts(tmp_path, endings=endings))[0] == "3"


def studied(*, closed: bool = True, practice: int = 0, bonus: str = "none") -> SimpleNamespace:
    """Return a study with one question, so many practice trials and a rule for the bonus."""
    return SimpleNamespace(
        exclusion=[],
        attention=None,
        questionnaire=[SimpleNamespace(name="region", closed=closed)],
        screening=[],
        comprehension=None,
        trial=SimpleNamespace(practice=practice),
        payment=SimpleNamespace(bonus=bonus),
    )


def paid_for(*what: str) -> pd.DataFrame:
    columns = {"participant": PEOPLE[: len(what)], "paid_for": what, "amount_minor": 100}
    return pd.DataFrame({**columns, "currency": "EUR"})


UNTIMED = responses().assign(rt_ms=float("nan"))
REGIONS = pd.DataFrame({"participant": KEPT, "field": "region", "value": "North"})
SIMULATED = SimpleNamespace(simulated=True)
PUBLISHED = SimpleNamespace(launched_at=None, simulated=False, recruiter="open")
ABOUT = " in study.toml, or in a file for --about"


@pytest.mark.parametrize(
    ("number", "changed", "expected"),
    [
        ("5.1.1", {}, ("", "`questionnaire` in study.toml")),
        (
            "5.1.1",
            {"study": studied(closed=False), "answers": REGIONS},
            ("", "`questionnaire` in study.toml"),
        ),
        ("5.1.3", {}, ("yes", "median answer 2.00 s")),
        (
            "5.1.3",
            {"responses": UNTIMED, "minutes": 12.34},
            ("yes", "median session 12.3 min"),
        ),
        ("5.1.3", {"responses": UNTIMED}, ("", "reaction times in the table of responses")),
        ("5.2", {}, ("", f"`publication.data_url`{ABOUT}")),
        (
            "5.2",
            {"publication": Publication(data_url="https://d.example", doi="10.5555/x")},
            ("yes: https://d.example", "`publication.data_url or publication.doi`"),
        ),
        (
            "5.2",
            {"publication": Publication(doi="10.5555/x")},
            ("yes: https://doi.org/10.5555/x", "`publication.data_url or publication.doi`"),
        ),
        (
            "5.2",
            {"baseline": Baseline(no_data_because="consent")},
            ("no", "`baseline.no_data_because`"),
        ),
        ("2.6", {"study": studied()}, ("no", "the session had no practice trials")),
        ("2.6", {"study": studied(practice=4)}, ("yes", "practice trials: 4")),
        (
            "2.6",
            {"study": studied(practice=4), "facts": PUBLISHED},
            ("", "`trial.practice` in study.toml"),
        ),
        ("2.6.2", {"study": studied()}, ("not applicable", "see 2.6")),
        ("2.6.2", {"study": studied(practice=4)}, ("", f"`baseline.training_paid`{ABOUT}")),
        (
            "2.6.2",
            {"study": studied(), "facts": PUBLISHED},
            ("", f"`baseline.training_paid`{ABOUT}"),
        ),
        ("2.7.2", {}, ("", f"`baseline.compensation`{ABOUT}")),
        ("2.7.2", {"payments": paid_for()}, ("", f"`baseline.compensation`{ABOUT}")),
        ("2.7.2", {"origin": SIMULATED}, ("not applicable", "see 2.7")),
        (
            "2.7.2",
            {"payments": paid_for("reward"), "study": studied(bonus="kept")},
            ("no", "no payment of the ledger is a bonus"),
        ),
        (
            "2.7.2",
            {"payments": paid_for("reward", "bonus"), "study": studied(bonus="kept")},
            ("yes", "bonuses were paid; payment.bonus is kept"),
        ),
        (
            "2.7.2",
            {"payments": paid_for("bonus"), "study": studied(bonus="everyone")},
            ("no", "bonuses were paid; payment.bonus is everyone"),
        ),
        (
            "2.7",
            {"payments": paid_for("reward", "bonus")},
            ("yes", "2 payments to 2 participants in the ledger"),
        ),
        ("2.7", {"origin": SIMULATED}, ("no", "programs took part, and no payment was made")),
        (
            "2.7",
            {"baseline": Baseline(compensation="5 EUR")},
            ("yes", "`baseline.compensation`"),
        ),
    ],
)
def test_an_answer_says_what_is_known_and_which_key_would_answer_it(
    number: str, changed: dict[str, Any], expected: tuple[str, str], tmp_path: Path
):
    assert answer(number, facts(tmp_path, **changed)) == expected


@pytest.mark.parametrize(
    ("length", "shown"), [(0, "unknown"), (60, "x" * 60), (61, "x" * 59 + "…")]
)
def test_a_long_answer_is_cut_to_sixty_characters_in_the_report(length: int, shown: str):
    item = AnsweredItem("1.1", "Participants", answer_from_run("x" * length, ""))
    assert _item_row(item)["answer"] == shown


def test_a_range_of_one_number_is_that_number():
    assert [_format_range(3, 3, 3), _format_range(2, 2.5, 4)] == ["3", "2 to 4, median 2.5"]
