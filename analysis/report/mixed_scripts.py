"""Write the mixed model as R scripts: lme4, and brms for a Bayesian fit."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.statistics.mixed_model import MixedModel
from analysis.statistics.mixed_model_rows import Effects, design_levels

CHOICES, LME4, BRMS = "choices.csv", "lme4.R", "brms.R"
_FACTORS = ("judge", "construction", "condition")
_COLUMNS = ("chose_good", "judge", "construction", "condition", "participant", "item_id")

_LME4 = """# The mixed model of the report, fitted with lme4: Rscript {script}
# Participants' effects are of people alone, as in the report: "person" is 0 for a model.{notes}
library(lme4)
{read}
found <- glmer(
  {formula},
  data = choices, family = binomial,
  control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 200000))
)
print(summary(found, correlation = FALSE))
if (isSingular(found)) cat("The fit is singular: an effect has no variance.\\n")
write.csv(as.data.frame(coef(summary(found))), "lme4_coefficients.csv")
write.csv(as.data.frame(VarCorr(found)), "lme4_random_effects.csv", row.names = FALSE)
"""
_BRMS = """# The mixed model of the report as a Bayesian one, fitted with brms: Rscript {script}
# The prior of the fixed effects is that of one right and one wrong judgment: logistic(0, 1).
library(brms)
{read}
found <- brm(
  {formula},
  data = choices, family = bernoulli(),
  prior = set_prior("logistic(0, 1)", class = "b"),
  chains = 4, cores = 4, seed = 1
)
print(summary(found))
write.csv(as.data.frame(fixef(found)), "brms_coefficients.csv")
"""


def write_scripts(folder: Path, rows: pd.DataFrame, model: MixedModel) -> list[Path]:
    """Write the choices and a script for each package, and return the files.

    Args:
        folder: The folder to write.
        rows: The fitted choices.
        model: The fitted model.
    """
    varying = model.varying
    columns = _own_columns(varying)
    table = rows[[one for one in rows if one in _COLUMNS or str(one) in model.formula]]
    table = table.assign(**{name: varying.values[:, place] for place, name in columns.items()})
    table.to_csv(folder / CHOICES, index=False)
    formula = " +\n    ".join([f"chose_good ~ {_fixed(model, rows)}", *_random(varying, columns)])
    read = "\n".join(_read(rows))
    for name, script in ((LME4, _LME4), (BRMS, _BRMS)):
        text = script.format(script=name, formula=formula, read=read, notes=_notes(model))
        (folder / name).write_text(text, "utf-8", newline="\n")
    return [folder / CHOICES, folder / LME4, folder / BRMS]


def _fixed(model: MixedModel, rows: pd.DataFrame) -> str:
    """Return the fixed effects without one-level factors, which R cannot code as contrasts."""
    constant = {name for name in _FACTORS if rows[name].nunique() == 1}
    terms: list[str] = []
    for term in model.formula.split(" + (")[0].split(" + "):
        factors = [one for one in re.split("([:*])", term) if one.strip() not in constant]
        left = "".join(factors).strip(":* ")
        if left and left not in terms:
            terms.append(left)
    return " + ".join(terms) or "1"


def _own_columns(varying: Effects) -> dict[int, str]:
    """Return the names of the columns with the effects' values, by the index of the effect."""
    names: dict[int, str] = {}
    for place, name in enumerate(varying.names):
        values = varying.values[:, place]
        if (values == 1).all():
            continue
        same = next((one for one in names if np.array_equal(varying.values[:, one], values)), None)
        if same is not None:
            names[place] = names[same]
        else:
            names[place] = f"slope_{place}" if ", " in name else "person"
    return names


def _random(varying: Effects, columns: dict[int, str]) -> Iterator[str]:
    with_next = {first for first, _ in varying.pairs}
    terms: list[str] = []
    for place, name in enumerate(varying.names):
        column = columns.get(place)
        terms.append(("" if terms else "0 + ") + column if column else "1")
        if place not in with_next:
            yield f"({' + '.join(terms)} | {name.partition(', ')[0]})"
            terms = []


def _read(rows: pd.DataFrame) -> Iterator[str]:
    yield f'choices <- read.csv("{CHOICES}", colClasses = c(participant = "character", item_id = "character"))'  # noqa: E501
    for name in _FACTORS:
        levels = design_levels(rows[name])
        quoted = ", ".join('"' + one.replace('"', r"\"") + '"' for one in levels)
        yield f"choices${name} <- factor(choices${name}, levels = c({quoted}))"


def _notes(model: MixedModel) -> str:
    penalised = model.coefficients.loc[model.coefficients["penalised"], "term"]
    if penalised.empty:
        return ""
    return (
        "\n# lme4 knows no penalty: these terms, whose judgments were all right or all wrong, come "
        f"out without bound:\n# {'; '.join(penalised)}"
    )
