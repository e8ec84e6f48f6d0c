"""What nobody's judgments are left of is named, and no contrast is made of it."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.data.load import ExportedRun
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import LEVELS, designed, mixed, within
from tests.analysis.rated_study import island_run


def found(run: ExportedRun, effects: str) -> tuple[list[str], pd.DataFrame]:
    compared = compare_by((effects,), run)
    return list(compared.summary), compared.statistics[effects].set_index("contrast")


def without(run: ExportedRun, condition: str) -> ExportedRun:
    own = run.items.set_index("item_id").loc[run.responses["item_id"], "condition"]
    return replace(run, responses=run.responses[(own != condition).to_numpy()])


@pytest.mark.parametrize(
    ("run", "effects"),
    [(within(1, 24, 8), "design_effects"), (island_run(1, 24, 8), "rating_effects")],
)
def test_a_cell_that_nobody_judged_is_named_and_in_no_contrast(run, effects):
    whole = found(run, effects)[1]
    named = designed(run, analysis={"factors": ("structure", "length")})
    said, rows = found(without(named, "island_long"), effects)
    assert "Extraction: no judgments are left in island_long." in said
    # What does not need the cell is as it was; a mean over three of four cells is no main effect.
    assert list(rows.index) == ["nonisland: short - long"]
    assert rows["estimate"].item() == pytest.approx(whole.loc[rows.index[0], "estimate"])


def test_a_level_that_nobody_is_left_of_is_named_and_in_no_contrast():
    run = mixed(2, 24, 8)
    kept = run.participants["list"] % 2 == LEVELS.index("plain")
    gone = replace(run, verdicts=run.verdicts.assign(kept=kept.to_numpy()))
    said, rows = found(gone, "design_effects")
    assert "No participants are left with instruction = careful." in said
    assert list(rows.index) == ["short - long"]
