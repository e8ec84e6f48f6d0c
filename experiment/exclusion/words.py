"""What each exclusion rule found, in words that follow a number: "3 made more errors ..."."""

_WORDS = {
    "max_errors": "made more errors than allowed",
    "max_error_rate": "made a larger share of errors than allowed",
    "too_fast": "answered too fast",
    "too_slow": "answered too slowly",
    "too_late": "answered too often after the deadline",
    "same_side": "chose one side too often",
    "rating_gap": "rated good and other versions too much alike",
    "incomplete": "left out too much",
    "not_native": "gave an answer to a question that is not accepted",
    "failed_comprehension": "misunderstood too many questions",
    "outlier": "lie too far from everybody else",
    "impossible_time": "claim times that are impossible",
    "timing_mismatch": "claim times that do not match the arrival of their answers",
    "device_change": "used too many devices",
    "agent_likelihood": "look like a program",
    "any": "fail one of several rules",
    "all": "fail several rules together",
    "not": "fail the opposite of a rule",
}


def said_of_rule(name: str) -> str:
    """Return what a rule found, in words that follow a number of people.

    Args:
        name: The rule's; one of a plug-in is named as it is.
    """
    return _WORDS.get(name, f'fail the rule "{name}"')
