"""Looking after the jobs' queue: in the server's own processes, or in a process for it alone."""

from huey import Huey
from huey.consumer import Consumer, Scheduler

# How often a process looks for a tick that nobody has claimed; a divisor of 60.
_CHECK_S = 15
# Less than gunicorn allows a worker without a sign of life.
_END_WITHIN_S = 20.0


class _Consumer(Consumer):  # type: ignore[misc]
    def _create_scheduler(self) -> Scheduler:
        scheduler = super()._create_scheduler()
        # Huey looks once a minute and would find each tick only when it is nearly over.
        scheduler.periodic_task_seconds = scheduler.interval
        return scheduler


class _Embedded(_Consumer):
    def _set_signal_handlers(self) -> None:
        # The process is the server's, and so are its signals.
        return


class Embedded:
    """A queue looked after by threads of this process until it is told to end.

    Args:
        queue: The queue.
    """

    def __init__(self, queue: Huey) -> None:
        self._consumer = _Embedded(queue, **_options(_CHECK_S))
        self._consumer.start()

    def stop(self) -> None:
        """Take up nothing new, and let a job at work end unless it takes long."""
        self._consumer.stop(graceful=True)


def consume(queue: Huey, check_s: int = _CHECK_S) -> None:
    """Look after a queue until the process is told to end; a job at work ends first.

    Args:
        queue: The queue.
        check_s: How often to look for a tick that nobody has claimed; a divisor of 60.
    """
    _Consumer(queue, graceful_signal="TERM", **_options(check_s)).run()


def _options(check_s: int) -> dict[str, float | int]:
    return {
        "workers": 1,
        "max_delay": check_s / 2,
        "scheduler_interval": check_s,
        "shutdown_timeout": _END_WITHIN_S,
    }
