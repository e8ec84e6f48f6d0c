"""The numbers of server processes and database connections."""

# Further connections per process: one for the server lock, two for periodic jobs.
_EXTRA_CONNECTIONS = 3
PARTICIPANT_CONNECTIONS, RESEARCHER_CONNECTIONS = 16, 4
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
    n_needed = workers * (PARTICIPANT_CONNECTIONS + _EXTRA_CONNECTIONS) + COMMAND_CONNECTIONS
    if count_workers(workers) > workers:
        n_needed += RESEARCHER_CONNECTIONS + _EXTRA_CONNECTIONS
    return n_needed
