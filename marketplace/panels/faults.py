"""The faults that can occur between a panel and a study."""

from marketplace.faults import FaultPlan


class PanelFaultPlan(FaultPlan):
    """The faults that the panels support."""

    kinds = (
        "throttled",  # 429; the call is not carried out
        "server_error",  # 500; the call is not carried out
        "server_error_after",  # 500, but the call is carried out
        "request_lost",  # the connection closes; the call is not carried out
        "reply_lost",  # the connection closes, but the call is carried out
        "truncated",  # the call is carried out, but only half of the answer arrives
        "slow",  # the answer is delayed
        "unfilled",  # the link's placeholders are not replaced
        "cut_off",  # the end of the link's last id is cut off
    )
