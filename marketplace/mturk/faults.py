"""What can go wrong with this stand-in's calls, messages and identifiers."""

from marketplace.faults import FaultPlan


class MturkFaultPlan(FaultPlan):
    """The faults that Mechanical Turk's stand-in makes."""

    kinds = (
        "throttled",  # ThrottlingException; nothing is done
        "server_error",  # ServiceFault; nothing is done
        "server_error_after",  # ServiceFault, but the deed is done
        "request_lost",  # the connection closes; nothing is done
        "reply_lost",  # the connection closes, but the deed is done
        "slow",  # the answer comes after a while
        "duplicated",  # a message stays in the queue when it is received
        "reordered",  # messages are received in another order
        "id_reused",  # an accepted assignment gets the identifier of one that was returned
    )
