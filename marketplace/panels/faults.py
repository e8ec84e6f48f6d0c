"""What can go wrong between a panel and a study."""

from marketplace.faults import FaultPlan


class PanelFaultPlan(FaultPlan):
    """The faults that the panels make."""

    kinds = (
        "throttled",  # 429; nothing is done
        "server_error",  # 500; nothing is done
        "server_error_after",  # 500, but the deed is done
        "request_lost",  # the connection closes; nothing is done
        "reply_lost",  # the connection closes, but the deed is done
        "truncated",  # the deed is done, and half of the answer arrives
        "slow",  # the answer comes after a while
        "unfilled",  # a link is handed out with its placeholders in it
        "cut_off",  # a link is handed out whose last id lacks its end
    )
