"""What a server can do wrong, on purpose."""

from enum import StrEnum


class Fault(StrEnum):
    """A planted fault; each strikes at every third call, where nothing else is said."""

    RATE_LIMIT = "rate_limit"  # 429 with Retry-After
    CUT = "cut"  # the answer ends in the middle
    MODEL_CHANGED = "model_changed"  # another fingerprint from the twelfth call on
    MISSING_LOGPROBS = "missing_logprobs"  # null in place of log-probabilities
    STALE_LOGPROBS = "stale_logprobs"  # those of the text before
    ECHO_IGNORED = "echo_ignored"  # always: the completion alone
    TRUNCATED_ALTERNATIVES = "truncated_alternatives"  # always: the most probable one alone
    REFUSES = "refuses"  # always, in chats: declines to answer


EVERY, CHANGED_AFTER = 3, 12
