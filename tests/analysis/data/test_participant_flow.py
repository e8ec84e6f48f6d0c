"""Rules of exclusion in words, as a paper tells them."""

import pytest

from analysis.data.participant_flow import rule_in_words


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"rule": "max_errors", "max_errors": 1}, "too many errors (errors allowed: 1)"),
        (
            {"rule": "all", "rules": [
                {"rule": "too_fast", "below_ms": 400, "max_share": 0.2},
                {"rule": "not", "rules": [{"rule": "same_side", "max_share": 0.9}]},
            ]},
            "several reasons together (answering too fast (below: 400 ms; max share: 0.2); and the "
            "absence of what was required (choosing one side too often (max share: 0.9)))",
        ),
        (
            {"rule": "failed_comprehension", "answers": {"who": ["the cat", "a cat"]}},
            "wrong answers about the instructions (answers: who the cat, a cat)",
        ),
        ({"rule": "mine:MyOwn"}, "MyOwn"),
    ],
)  # fmt: skip
def test_a_rule_is_told_with_its_settings_and_its_parts(rule, words):
    assert rule_in_words(rule) == words


def test_a_construction_is_told_by_its_title_inside_other_rules_too():
    rule = {"rule": "max_errors", "construction": "simple_agreement", "max_errors": 1}
    words = rule_in_words(
        {"rule": "not", "rules": [rule]}, {"simple_agreement": "Agreement: Simple"}
    )
    assert "(construction: Agreement: Simple; errors allowed: 1)" in words
