"""The numbers of connections, added up by hand."""

import pytest

from webapp.core.worker_count import count_connections


# Each process for participants: 6 for requests, 1 for the lock, 2 for jobs. The one for
# researchers: 4 and 1. Commands: 5.
@pytest.mark.parametrize(("workers", "expected"), [(1, 14), (2, 28), (4, 46)])
def test_a_process_for_participants_needs_nine_connections(workers, expected):
    assert count_connections(workers) == expected
