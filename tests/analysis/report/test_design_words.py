"""The words on a design: steps of reading, a scale, reasons of exclusion, simulated people."""

from types import SimpleNamespace

import pytest

from analysis.report.design_words import describe_reason, fill_in, name_participants
from experiment.studies.load import load_study
from experiment.studies.study import Rule
from tests.analysis import small_run


@pytest.mark.parametrize(
    ("response", "parameters", "words", "said"),
    [
        ("rating", {"points": 5}, "rated it from 1 to {points}", "rated it from 1 to 5"),
        ("self_paced", {"by": "region"}, "a sentence, {steps}", "a sentence, region by region"),
        ("self_paced", {"by": "word"}, "a sentence, {steps}", "a sentence, word by word"),
        ("sentence_pair", {}, "chose {one}", "chose {one}"),
    ],
)
def test_the_settings_of_the_type_of_response_are_filled_in(
    response, parameters, words, said, tmp_path
) -> None:
    study = load_study(str(small_run.write_study(tmp_path / "study")))
    trial = study.trial.model_copy(update={"parameters": parameters})
    study = study.model_copy(update={"response": response, "trial": trial})
    assert fill_in(words, study) == said


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ([{"kind": "catch"}], "too many errors on catch trials"),
        (
            [{"kind": ["catch"]}, {"kind": ["filler"]}],
            "too many errors on catch trials and fillers",
        ),
        ([{"kind": "catch"}, {}], "too many errors"),
        ([], "too many errors"),
    ],
)
def test_an_exclusion_names_its_trials_if_each_rule_does(rules, said) -> None:
    study = SimpleNamespace(exclusion=[Rule(rule="max_errors", **keys) for keys in rules])
    assert describe_reason(study, "max_errors") == said


def test_simulated_people_are_not_called_people_except_in_a_name() -> None:
    study = SimpleNamespace(comparisons=[SimpleNamespace(name="people and models")])
    sentence = "people and models: people in 90%. People's share; peoples"
    told = (
        "people and models: simulated participants in 90%. Simulated participants' share; peoples"
    )
    assert name_participants(sentence, study, SimpleNamespace(kept=2, simulated=2)) == told
    assert name_participants(sentence, study, SimpleNamespace(kept=2, simulated=1)) == sentence
