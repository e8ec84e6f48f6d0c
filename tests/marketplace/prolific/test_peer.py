"""Another project's client of Prolific, driven through the stand-in where it is at hand."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

# A Python with Dallinger installed, which cannot stand in our environment: it wants other versions.
PEER = os.environ.get("DALLINGER_PYTHON", "")
DRIVER = Path(__file__).parent / "peer_client.py"
REFUSED = {"draft_study, custom screening", "screen_out", "delete_study, published"}


@pytest.mark.skipif(not PEER, reason="DALLINGER_PYTHON names no Python that has Dallinger")
def test_dallingers_calls_succeed_and_removed_ones_are_refused(served):
    run = subprocess.run(
        [PEER, str(DRIVER), served.url], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert run.returncode == 0, run.stderr
    succeeded = json.loads(run.stdout)
    assert {name for name, succeeded in succeeded.items() if not succeeded} == REFUSED
    assert len(succeeded) == 19
    assert served.payments()[-1][2] == 50
