"""The scripts of a report for R: lme4 finds what the report says."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from analysis.findings.mixed_model import write_scripts
from analysis.statistics.mixed_model import fit
from tests.analysis.known_choices import known_choices
from tests.prerequisites import LME4


def with_position(rng):
    rows = known_choices(rng, n_people=16, n_items=24)
    return rows.assign(position=rng.permutation(len(rows)) / len(rows) - 0.5)


FORMULAS = {
    "usual": None,
    "slopes": "judge + position + (1 + position || participant) + (1 | item)",
    "correlated": "judge + position + (1 + position | participant) + (1 | item)",
}


@pytest.fixture(scope="module")
def in_r(tmp_path_factory):
    """Each model, its script's folder, and what the script said; R starts once for all."""
    script, folder = LME4.require(), tmp_path_factory.mktemp("in_r")
    rows = with_position(np.random.default_rng(8))
    models = {name: fit(rows, formula) for name, formula in FORMULAS.items()}
    program = []
    for name, model in models.items():
        (folder / name).mkdir()
        write_scripts(folder / name, rows, model)
        program += [f'cat("\\n== {name}\\n"); setwd("{folder / name}")',
                    'source("lme4.R", local = new.env(), print.eval = TRUE)']  # fmt: skip
    (folder / "all.R").write_text("\n".join(program))
    done = subprocess.run([script, "all.R"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = dict(one.split("\n", 1) for one in done.stdout.split("\n== ")[1:])
    return {name: (model, folder / name, said[name]) for name, model in models.items()}


@pytest.mark.parametrize("name", FORMULAS)
def test_lme4_finds_the_same_by_the_script(in_r, name):
    model, folder, printed = in_r[name]
    theirs = pd.read_csv(folder / "lme4_coefficients.csv", index_col=0)
    ours = model.coefficients
    assert ours["estimate"].to_numpy() == pytest.approx(theirs["Estimate"].to_numpy(), abs=0.05)
    assert ours["std_error"].to_numpy() == pytest.approx(theirs["Std. Error"].to_numpy(), rel=0.05)
    random = pd.read_csv(folder / "lme4_random_effects.csv")
    spreads = random.loc[random["var2"].isna(), "sdcor"]
    together = random.loc[random["var2"].notna(), "sdcor"]
    assert model.random["correlation"].dropna().tolist() == pytest.approx(list(together), abs=0.05)
    assert sorted(model.random["sd"] ** 2) == pytest.approx(sorted(spreads**2), rel=0.06, abs=0.05)
    said = "The fit is singular" in printed
    assert said == bool((spreads < 1e-4).any() or (together.abs() > 0.999).any())
    assert not said or model.random["sd"].min() < 0.2 or model.random["singular"].any()


def test_lme4_finds_the_same_where_people_are_the_only_judge(tmp_path):
    script = LME4.require()
    rows = known_choices(np.random.default_rng(8), n_people=16, n_items=24)
    rows = rows[rows["judge"] == "people"]
    model = fit(rows)
    write_scripts(tmp_path, rows, model)
    done = subprocess.run([script, "lme4.R"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs = pd.read_csv(tmp_path / "lme4_coefficients.csv", index_col=0)
    ours = model.coefficients["estimate"].to_numpy()
    assert ours == pytest.approx(theirs["Estimate"].to_numpy(), abs=0.05)


def test_both_scripts_name_the_model_and_its_levels_in_order(tmp_path):
    rows = with_position(np.random.default_rng(8))
    model = fit(rows, "judge + position + (1 + position || participant) + (1 | item)")
    paths = write_scripts(tmp_path, rows, model)
    assert [path.name for path in paths] == ["choices.csv", "lme4.R", "brms.R"]
    for path in paths[1:]:
        text = path.read_text("utf-8")
        assert "chose_good ~ judge + position +" in text
        assert "(0 + person | participant)" in text
        assert "(0 + slope_1 | participant)" in text
        assert "(1 | item_id)" in text
        assert 'levels = c("people", "lstm")' in text
    assert "logistic(0, 1)" in paths[2].read_text("utf-8")
    written = pd.read_csv(paths[0])
    assert len(written) == len(rows)
    assert set(written["person"]) == {0.0, 1.0}


def test_the_script_says_which_terms_lme4_cannot_bound(tmp_path):
    rows = known_choices(np.random.default_rng(1))
    rows = rows.assign(chose_good=rows["chose_good"].where(rows["judge"] == "people", 1.0))
    write_scripts(tmp_path, rows, fit(rows))
    assert "# construction a, judge lstm; construction b, judge lstm" in (
        tmp_path / "lme4.R"
    ).read_text("utf-8")
