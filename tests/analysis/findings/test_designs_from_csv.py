"""Two studies of one's own, from a CSV through the commands to the report, against R."""

import re
import subprocess
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import comparison
from tests.analysis.rated_study import CUTS
from tests.drawn_studies.workshop import workshop
from tests.prerequisites import LME4, ORDINAL

LEVELS = {"structure": ("nonisland", "island"), "length": ("short", "long"),
          "instruction": ("plain", "careful")}  # fmt: skip
_R = """
library({library}); rows <- read.csv("rows.csv")
for (name in c("participant", "frame")) rows[[name]] <- factor(rows[[name]])
model <- {model}
found <- coef(summary(model))
write.csv(found[rownames(found) %in% c("a", "b", "ab"), ], "coefficients.csv")
write(as.numeric(logLik(model)), "loglik.txt")
write.csv(aggregate(y ~ a + b, rows, mean), "means.csv")
"""


@dataclass(frozen=True)
class Own:
    """A study: its factors, what it asks for, and the report's tables of its answer."""

    factors: tuple[str, str]
    response: str = "sentence_pair"
    model: str = "design_model"
    effects: str = "design_effects"


# Choices within participants are compared with lme4 in test_designs.py.
OWN = {
    "mixed": Own(("length", "instruction")),
    "island": Own(("structure", "length"), "rating", "rating_model", "rating_effects"),
}


def table(own: Own) -> str:
    """The researcher's CSV: twelve frames, each in every condition."""
    within = [one for one in own.factors if one != "instruction"]
    rated = own.response == "rating"
    rows = [",".join(["item", *within, *(("sentence",) if rated else ("good", "bad"))])]
    for frame, levels in product(range(1, 13), product(*(LEVELS[one] for one in within))):
        texts = [f"What {' '.join(levels)} {frame} {word}?" for word in ("is", "are")]
        rows.append(",".join([str(frame), *levels, *texts[: 1 if rated else 2]]))
    return "\n".join(rows) + "\n"


def taken(work, own: Own, name: str) -> Path:
    """Make the study from its CSV, have it taken, and return its export."""
    Path(f"{name}.csv").write_text(table(own), encoding="utf-8")
    within = [f"--factor={one}" for one in own.factors if one != "instruction"]
    work("study", "new", name, "--from", f"{name}.csv", "--response", own.response, *within)
    path = Path(name) / "study.toml"
    between = '\nfactors = { instruction = ["plain", "careful"] }' if len(within) == 1 else ""
    text = re.sub(r"participants_per_list = \d+", f"participants_per_list = 4{between}",
                  path.read_text(encoding="utf-8"))  # fmt: skip
    path.write_text(text, encoding="utf-8")
    work("study", "check", name)
    work.taken(name, 1)
    return Path(f"{name}-export")


def answered(folder: Path, own: Own, seed: int) -> pd.DataFrame:
    """Put answers by known effects in the export's place of the simulated ones; return them."""
    read = {one: pd.read_csv(folder / f"{one}.csv", keep_default_na=False, dtype=str) for one in
            ("responses", "items", "participants", "trials")}  # fmt: skip
    rows = read["responses"].merge(read["items"], on="item_id", validate="m:1")
    lists = dict(
        zip(read["participants"]["participant"], read["participants"]["list"], strict=True)
    )
    rows["list"] = rows["participant"].map(lists).astype(int)
    rows["instruction"] = [LEVELS["instruction"][one % 2] for one in rows["list"]]
    # People's references are drawn anew in each run: within a list, whose noise is whose is alike.
    rows = rows.reset_index().sort_values(["list", "participant", "item_id"], ignore_index=True)
    # A single factor of the items makes the condition, and has no column besides.
    levels = [rows[one if one in rows else "condition"] for one in own.factors]
    a, b = (np.where(one == LEVELS[name][0], 0.5, -0.5)
            for one, name in zip(levels, own.factors, strict=True))  # fmt: skip
    rng = np.random.default_rng(seed)
    person, frame = (pd.factorize(rows[one])[0] for one in ("participant", "frame"))
    value = 0.8 * a + 0.6 * b - 1.2 * a * b + rng.normal(0, 0.7, person.max() + 1)[person]
    value += rng.normal(0, 0.5, frame.max() + 1)[frame] + rng.logistic(size=len(rows))
    if own.response == "rating":
        given = 1 + (value[:, None] > CUTS).sum(axis=1)
        read["responses"].loc[rows["index"], "rating"] = given.astype(str)
    else:
        given = (value + 0.4 > 0).astype(int)
        good = rows.merge(read["trials"][["participant", "position", "good_side"]],
                          on=["participant", "position"])["good_side"]  # fmt: skip
        other = good.map({"first": "second", "second": "first"})
        side = np.where(given == 1, good, other)
        told = np.where(given == 1, "true", "false")
        read["responses"].loc[rows["index"], ["chosen_side", "chose_good"]] = np.stack(
            [side, told], 1
        )
    read["responses"].replace("", np.nan).to_csv(folder / "responses.csv", index=False)
    (folder / "responses.parquet").unlink()
    return pd.DataFrame({"y": given, "a": a, "b": b, "ab": a * b,
                         "participant": rows["participant"], "frame": rows["frame"]})  # fmt: skip


def random_terms(random: pd.DataFrame, own: Own) -> str:
    """The random effects that the rule left, with R's names of the columns."""
    short = {"1": "1"}
    for effect in set(random["effect"]) - {"1"}:
        factor = effect.partition(":")[0].replace("condition", "length")
        short[effect] = "ab"[own.factors.index(factor)] if factor in own.factors else "ab"
    parts = []
    for unit, rows in random.groupby("unit", sort=False):
        effects = [short[one] for one in rows["effect"]]
        if rows["correlation"].notna().any():
            parts.append(f"({' + '.join(effects)} | {unit})")
        else:
            # ordinal knows no double bar.
            parts += [f"({'1' if one == '1' else f'0 + {one}'} | {unit})" for one in effects]
    return " + ".join(parts)


# What lme4 finds of choices is looked at in test_designs.py and test_mixed_scripts.py too.
@pytest.mark.parametrize("name", ["island", pytest.param("mixed", marks=pytest.mark.campaign)])
def test_the_report_of_a_study_from_a_csv_says_what_r_says(name, tmp_path, monkeypatch):
    own = OWN[name]
    script = (ORDINAL if own.response == "rating" else LME4).require()
    with workshop(tmp_path) as work:
        folder = taken(work, own, name)
        assert not [one for one in work.said if one.code or one.crash]
        rows = answered(folder, own, 7)
        made, compare = [], comparison.compare
        monkeypatch.setattr(
            comparison, "compare", lambda *of, **how: made.append(compare(*of, **how)) or made[-1]
        )
        work("compare", "--run", folder, "--out", "report", "--resamples", 100, "--no-figures")
        assert not [one for one in work.said if one.code or one.crash]
    [found] = made
    rows.to_csv(tmp_path / "rows.csv", index=False)
    formula = f"a + b + ab + {random_terms(found.statistics[f'{own.model}_random'], own)}"
    model = f"clmm(factor(y) ~ {formula}, data = rows)"
    if own.response != "rating":
        control = 'glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5))'
        model = f"glmer(y ~ {formula}, rows, binomial, control = {control})"
    library = "ordinal" if own.response == "rating" else "lme4"
    (tmp_path / "model.R").write_text(_R.format(library=library, model=model))
    subprocess.run([script, "model.R"], cwd=tmp_path, check=True, capture_output=True)

    theirs = pd.read_csv(tmp_path / "coefficients.csv", index_col=0).loc[["a", "b", "ab"]]
    ours = pd.read_csv(tmp_path / "report" / "tables" / f"{own.model}.csv", comment="#").tail(3)
    by_script = _estimates_of_the_reports_script(script, tmp_path / "report" / own.model)
    for column, name_in_r in (("estimate", "Estimate"), ("std_error", "Std. Error")):
        assert ours[column].to_numpy() == pytest.approx(theirs[name_in_r], rel=0.01, abs=0.01)
        assert ours[column].to_numpy() == pytest.approx(by_script[name_in_r], rel=0.01, abs=0.01)
    notes = " ".join(next(one for one in found.tables if one.name == own.model).notes)
    loglik = float(notes.partition("log-likelihood ")[2].partition(";")[0])
    assert loglik == pytest.approx(float((tmp_path / "loglik.txt").read_text()), abs=0.1)

    means = pd.read_csv(tmp_path / "means.csv").set_index(["a", "b"])["y"]
    effects = pd.read_csv(tmp_path / "report" / "tables" / f"{own.effects}.csv", comment="#")
    estimate = effects.set_index("contrast")["estimate" if "estimate" in effects else "points"]
    crossed = sum(np.sign(a * b) * mean for (a, b), mean in means.items())
    [interaction] = [one for one in estimate.index if one.startswith("Interaction")]
    assert estimate[interaction] == pytest.approx(crossed, abs=1e-6)
    first = sum(a * mean for (a, _), mean in means.items())
    assert estimate.iloc[0] == pytest.approx(first, abs=1e-6)


def _estimates_of_the_reports_script(program: str, folder: Path) -> pd.DataFrame:
    """The effects that the script beside a report estimates."""
    [script] = folder.glob("*.R")
    subprocess.run([program, script.name], cwd=folder, check=True, capture_output=True)
    written = pd.read_csv(folder / f"{script.stem}_coefficients.csv", index_col=0)
    return written[written.index.str.startswith("effect_")]
