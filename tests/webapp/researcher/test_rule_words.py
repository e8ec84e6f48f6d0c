"""What each rule found, in words."""

from experiment.exclusion.rules import RULES
from webapp.researcher import template_globals


def test_every_rule_has_words_and_one_of_a_plug_in_is_named():
    built_in = set(RULES) - {name for name in RULES if ":" in name}
    assert set(template_globals._WORDS) == built_in
    assert template_globals.said_of_rule("our_own") == 'fail the rule "our_own"'
