"""How many simulated participants each exclusion rule would exclude."""

import json

import pytest
from click.testing import CliRunner

from experiment.authoring.rule_counts import count_excluded
from experiment.commands.study import try_rules
from experiment.studies.load import load_study
from experiment.studies.study import Rule

# In "minimal", a list has four trials of this construction: a target and three catch trials.
ERRORS = Rule(rule="max_errors", construction="simple_agreement", max_errors=0)


def count(*rules: Rule, people: int = 40) -> dict[str, dict[str, int]]:
    study = load_study("minimal").model_copy(update={"exclusion": list(rules)})
    counts = count_excluded(study, 1, people)
    return {each.rule: dict(each.excluded) for each in counts.rules} | {
        f"note {number}": each.note for number, each in enumerate(counts.rules)
    }


def test_a_rule_without_any_error_excludes_who_guesses_fifteen_times_of_sixteen():
    found = count(ERRORS, people=200)["all rules together"]
    assert list(found) == ["accurate", "guessing", "always_first", "careless"]
    # Half of the good options are first: who always chooses the first errs twice in four.
    assert found["always_first"] == 200
    # 1 - (1/2) ** 4 = .9375; three standard errors are .051.
    assert found["guessing"] / 200 == pytest.approx(0.9375, abs=0.051)
    assert found["accurate"] < found["careless"] < found["guessing"] + 20


def test_all_rules_together_exclude_whom_any_excludes():
    found = count(ERRORS, Rule(rule="same_side", max_share=0.9))
    one, other, together = (counts for name, counts in found.items() if "note" not in name)
    for way in together:
        assert max(one[way], other[way]) <= together[way] <= one[way] + other[way]
    assert other["always_first"] == 40 and other["accurate"] == 0


def test_a_rule_that_simulated_people_cannot_be_tried_with_says_so():
    found = count(Rule(rule="device_change"), Rule(rule="rating_gap", min_gap=1.0))
    assert "reads records of real sessions" in found["note 0"]
    assert "compares ratings" in found["note 1"]
    assert found["all rules together"]["guessing"] == 0


def test_a_rule_that_can_never_exclude_anybody_says_so():
    found = count(ERRORS.model_copy(update={"max_errors": 4}))
    assert "the rule can never exclude anyone: it allows 4 errors on 4 trials" in found["note 0"]


def test_attentive_people_give_the_accepted_answers_and_others_any():
    rule = Rule(rule="not_native", question="native_language", accepted="English")
    [counts] = [found for name, found in count(rule).items() if "language" in name]
    assert (counts["accurate"], counts["guessing"]) == (0, 40)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(try_rules, ["minimal", *arguments])
    return result.exit_code, result.output or str(result.exception)


def test_the_command_tries_rules_of_a_file_in_place_of_the_studys(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text('[[exclusion]]\nrule = "same_side"\nmax_share = 0.9\n', encoding="utf-8")
    code, text = run("--people", "4", "--rules", str(file), "--json")
    values = json.loads(text)
    assert (code, values["people"], len(values["rules"])) == (0, 4, 2)
    code, text = run("--people", "4")
    assert text.startswith("excluded by") and "all rules together" in text
    file.write_text('exclusion = ["x"]', encoding="utf-8")
    assert "the rules cannot be read" in run("--rules", str(file))[1]
