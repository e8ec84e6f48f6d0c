"""Studies whose trials are no pairs."""

from pathlib import Path

PRESENTATIONS = Path(__file__).parents[2] / "data" / "presentations"
