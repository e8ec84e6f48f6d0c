"""Every example study is taken in the readings that fit it, and refused by name in others."""

from pathlib import Path

import pytest

from analysis.takers.taking import take_sessions
from experiment.errors import ParallaxError
from experiment.studies.load import load_study
from experiment.takers.readings.base import READINGS, load_reading
from experiment.takers.session import Form
from tests.analysis.takers.sessions import EXAMPLES, PRESENTATIONS, knowing, planned

CHOICES = tuple(name for name in READINGS.built_in if Form.CHOOSE in load_reading(name).forms)
WITHOUT_PROMPTS = ("sentence", "difference", "after_instructions")
# Readings that fit a study; of others, all do.
FIT = {
    "given_lists": ("rating",),
    "ratings": ("rating",),
    "scales": (),
    "yes_no": ("acceptability",),
    "right_to_left": WITHOUT_PROMPTS,
    "maze": (),
    "typed": (),
    "self_paced": (),
    "mixed": (),
    "read_then_rate": (),
}
REASONS = r"asks? for|no model takes sessions of the type|prompts have no words in the language"
STUDIES = sorted(
    path.parent for folder in (EXAMPLES, PRESENTATIONS) for path in folder.glob("*/study.toml")
)


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_a_study_is_taken_or_refused_in_a_paragraph(folder: Path):
    study = load_study(str(folder))
    fitting = FIT.get(folder.name, CHOICES)
    for name in READINGS.built_in:
        if name not in fitting:
            with pytest.raises(ParallaxError, match=REASONS) as refused:
                planned(study, [name], n_sessions=1)
            said = str(refused.value)
            assert "\n" not in said and said.endswith(".")
            if fitting and folder.name != "right_to_left":
                assert f"Readings that can: {', '.join(fitting)}" in said
            continue
        plan = planned(study, [name], labels=("numbers",), n_sessions=1)
        sittings = take_sessions(plan, plan.readings[0], knowing(plan))
        read = [one for sitting in sittings for one in sitting.read]
        assert read and all(one.given in one.trial.answers for one in read)
