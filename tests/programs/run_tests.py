"""pytest as a script of the repository, which tests start as any other program."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

if __name__ == "__main__":
    sys.exit(pytest.main())
