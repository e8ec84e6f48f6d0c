"""What can go wrong with this stand-in's calls and webhooks."""

from marketplace.faults import FaultPlan


class ProlificFaultPlan(FaultPlan):
    """The faults that Prolific's stand-in makes.

    An operation is named as Prolific's own document names it, e.g. ``pay-bonus-payments``;
    ``webhook`` is the delivery of an event.
    """

    kinds = (
        "throttled",  # 429; nothing is done
        "server_error",  # 500; nothing is done
        "server_error_after",  # 500, but the deed is done
        "request_lost",  # the connection closes; nothing is done
        "reply_lost",  # the connection closes, but the deed is done
        "cut_off",  # the deed is done, and the answer ends in its middle
        "slow",  # the answer comes after a while
        "accepted_not_done",  # 202, and what was promised never happens
        "webhook_lost",  # an event reaches nobody
        "webhook_doubled",  # an event comes twice
        "webhook_reordered",  # waiting events come in the other order
    )
