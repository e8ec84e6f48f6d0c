"""The numbers of server processes and database connections."""

# Further connections: one per process for the server lock, and two for jobs where they run.
_LOCK_CONNECTIONS, _JOB_CONNECTIONS = 1, 2
# Answers that arrive together share a transaction, so a process keeps few connections busy. A
# periodic job holds up to two of them, and a few requests that wait for a lock must leave one free.
PARTICIPANT_CONNECTIONS, RESEARCHER_CONNECTIONS = 6, 4
COMMAND_CONNECTIONS = 5


def count_workers(workers: int) -> int:
    """Return the total number of server processes, including the one for researcher pages.

    Args:
        workers: The number of processes for participants; a single process also serves researchers.
    """
    return workers if workers == 1 else workers + 1


def count_connections(workers: int) -> int:
    """Return the maximum number of connections of one machine's server and its commands.

    Args:
        workers: The number of processes for participants.
    """
    per_worker = PARTICIPANT_CONNECTIONS + _LOCK_CONNECTIONS + _JOB_CONNECTIONS
    n_needed = workers * per_worker + COMMAND_CONNECTIONS
    if count_workers(workers) > workers:
        n_needed += RESEARCHER_CONNECTIONS + _LOCK_CONNECTIONS
    return n_needed
