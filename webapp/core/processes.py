"""How many processes a server has, and what they may ask of a database."""

# Of each process: what its requests share, the lock of servers, and two for periodic jobs.
_BESIDES = 3
OF_PARTICIPANTS, OF_THE_ROOM = 16, 4
OF_COMMANDS = 5


def with_room(workers: int) -> int:
    """Return how many processes a server has: beside several, the researcher's room has its own.

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
    return needed if with_room(workers) == workers else needed + OF_THE_ROOM + _BESIDES
