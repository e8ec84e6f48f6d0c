"""The system qualifications of every worker, under the real service's identifiers."""

from marketplace.mturk.tables import Worker

MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
APPROVED_COUNT = "00000000000000000040"
APPROVED_PERCENT = "000000000000000000L0"

NAMES = {
    MASTERS[0]: "Masters",
    MASTERS[1]: "Masters (sandbox)",
    LOCALE: "Worker_Locale",
    ADULT: "Worker_Adult",
    APPROVED_COUNT: "Worker_NumberHITsApproved",
    APPROVED_PERCENT: "Worker_PercentAssignmentsApproved",
}
# Below this number of submissions the service reports 100 percent for every worker.
_FIRST_RATED = 100


def system_value(worker: Worker, type_id: str, approved: int, rejected: int) -> int | None:
    """Return the worker's value of a system qualification other than the locale.

    Args:
        worker: The worker.
        type_id: The qualification type.
        approved: How many of the worker's assignments were approved here.
        rejected: How many were rejected here.

    Returns:
        The value; None if the worker does not have the qualification.
    """
    if type_id == APPROVED_COUNT:
        return worker.approved_before + approved
    if type_id == APPROVED_PERCENT:
        return _percent(worker, approved, rejected)
    held = worker.adult if type_id == ADULT else worker.masters
    return 1 if held else None


def _percent(worker: Worker, approved: int, rejected: int) -> int:
    if worker.approved_percent is not None:
        return worker.approved_percent
    good = worker.approved_before + approved
    return 100 * good // (good + rejected) if good + rejected >= _FIRST_RATED else 100
