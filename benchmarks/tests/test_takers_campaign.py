"""Nothing is lost and nothing is paid twice, when the command is killed and answers are cut off."""

from pathlib import Path

from benchmarks.takers_campaign import run
from tests.lm.toy_models import ngram_folder


def test_a_short_campaign_loses_nothing_and_pays_once(tmp_path: Path):
    """One kill, every third answer cut off, another model in between."""
    ngram_folder(tmp_path / "model")
    found = run(
        tmp_path / "model",
        tmp_path / "take",
        study="minimal",
        sessions=1,
        kills=1,
        seconds=(0.0, 0.2),
    )
    assert found.prompts == 48 and found.lost == 0
    assert found.paid_again == 0 and 0 < found.paid <= 48
    assert found.refused_other_model
    # The command that was killed counts what was under way at its worst.
    assert found.spent >= found.billed > 0
