"""The numbers of server processes and database connections."""

# Further connections per process: one for the server lock, two for periodic jobs.
_BESIDES = 3
OF_PARTICIPANTS, OF_RESEARCHERS = 16, 4
OF_COMMANDS = 5


def with_researcher_worker(workers: int) -> int:
    """Return the total number of server processes, including the one for researcher pages.

    Args:
        workers: The number of processes for participants; a single process also serves researchers.
    """
    return workers if workers == 1 else workers + 1


def connections_of(workers: int) -> int:
    """Return the maximum number of connections of one machine's server and its commands.

    Args:
        workers: The number of processes for participants.
    """
    needed = workers * (OF_PARTICIPANTS + _BESIDES) + OF_COMMANDS
    if with_researcher_worker(workers) > workers:
        needed += OF_RESEARCHERS + _BESIDES
    return needed
