"""Who is kept, who is excluded, and the evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.errors import PluginError, StudyError, UnknownNameError
from experiment.exclusion.rules import RULES, load_rule, verdict
from experiment.records import Judgment, Kind, Side, Verdict
from experiment.studies.study import Rule


def judgments(construction: str, n: int, errors: int) -> list[Judgment]:
    return [
        Judgment(
            position=number + 1,
            item_id=f"{construction}-{number}",
            kind=Kind.TARGET if number == n - 1 else Kind.CATCH,
            construction=construction,
            chose_good=number >= errors,
            chosen_side=Side.FIRST,
            rt_ms=None,
        )
        for number in range(n)
    ]


def max_errors(construction: str = "simple_agreement", max_errors: int = 1) -> Rule:
    return Rule(rule="max_errors", construction=construction, max_errors=max_errors)


@given(st.integers(1, 12), st.data())
def test_more_errors_than_allowed_exclude(n: int, data: st.DataObject):
    errors, allowed = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    reached = verdict([max_errors("simple", allowed)], judgments("simple", n, errors))
    assert reached.kept == (errors <= allowed)


def test_the_evidence_is_in_words():
    reached = verdict([max_errors()], judgments("simple_agreement", 10, 3))
    assert reached == Verdict(
        kept=False,
        rule="max_errors",
        evidence="3 errors on the 10 trials of simple_agreement; at most 1 allowed",
    )


def test_who_is_kept_has_the_figures_too():
    reached = verdict([max_errors()], judgments("simple_agreement", 10, 1))
    assert reached == Verdict(
        kept=True,
        rule="",
        evidence="1 error on the 10 trials of simple_agreement; at most 1 allowed",
    )


def test_errors_on_other_constructions_do_not_count():
    answered = [*judgments("simple_agreement", 10, 0), *judgments("across", 8, 8)]
    assert verdict([max_errors()], answered).kept


def test_the_target_among_the_catch_trials_counts():
    *caught, target = judgments("simple_agreement", 10, 10)
    assert target.kind is Kind.TARGET
    assert not verdict([max_errors(max_errors=9)], [*caught, target]).kept


def test_the_first_rule_that_excludes_decides():
    rules = [max_errors("across", 8), max_errors("across", 2), max_errors("simple_agreement", 0)]
    answered = [*judgments("simple_agreement", 10, 5), *judgments("across", 8, 5)]
    assert verdict(rules, answered).evidence == (
        "5 errors on the 8 trials of across; at most 2 allowed"
    )


def test_the_figures_of_every_rule_that_keeps_stand_in_the_evidence():
    answered = [*judgments("simple", 10, 0), *judgments("across", 8, 1)]
    assert verdict([max_errors("simple"), max_errors("across")], answered).evidence == (
        "0 errors on the 10 trials of simple; at most 1 allowed; "
        "1 error on the 8 trials of across; at most 1 allowed"
    )


def test_without_rules_everybody_is_kept():
    assert verdict([], judgments("simple", 2, 2)) == Verdict(True, "", "no rule to apply")


def test_a_rule_on_a_construction_that_nobody_judged_is_refused():
    with pytest.raises(
        StudyError,
        match=r'counts errors on "simpel", but .* none of them. Expected one of: simple',
    ):
        verdict([max_errors("simpel")], judgments("simple", 2, 0))


def test_an_unknown_rule_answers_with_the_known_ones():
    with pytest.raises(UnknownNameError, match='Did you mean "max_errors"'):
        load_rule(Rule(rule="max_error"))


def test_a_rule_of_ones_own_is_imported_unless_that_is_forbidden():
    own = Rule(rule="experiment.exclusion.max_errors:MaxErrors", construction="c", max_errors=1)
    assert load_rule(own).judge(judgments("c", 2, 1))[0]
    with pytest.raises(PluginError):
        load_rule(own, own_code=False)


@pytest.mark.parametrize("name", [*RULES])
def test_every_rule_refuses_an_unknown_parameter(name: str):
    with pytest.raises(StudyError, match=f'"{name}" has wrong parameters.*no_such_parameter'):
        load_rule(Rule(rule=name, no_such_parameter=1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"construction": "simple"}, "max_errors is missing"),
        ({"construction": "simple", "max_errors": -1}, "max_errors: .*greater than"),
        ({"construction": "simple", "max_errors": "few"}, "max_errors: .*integer"),
        ({"construction": "", "max_errors": 1}, "construction.*at least 1"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, object], message: str):
    with pytest.raises(StudyError, match=message):
        load_rule(Rule(rule="max_errors", **parameters))
