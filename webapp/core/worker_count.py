"""How many processes a server has, and what they may ask of a database."""

# Of each process: what its requests share, the lock of servers, and two for periodic jobs.
_BESIDES = 3
OF_PARTICIPANTS, OF_RESEARCHERS = 16, 4
OF_COMMANDS = 5


def with_researcher_worker(workers: int) -> int:
    """Return how many processes a server has: beside several, researchers have one.

    Args:
        workers: How many answer participants; who wants a single process gets a single one.
    """
    return workers if workers == 1 else workers + 1


def connections_of(workers: int) -> int:
    """Return how many connections one machine's server, and commands beside it, may open.

    Args:
        workers: How many processes answer participants.
    """
    needed = workers * (OF_PARTICIPANTS + _BESIDES) + OF_COMMANDS
    if with_researcher_worker(workers) > workers:
        needed += OF_RESEARCHERS + _BESIDES
    return needed
