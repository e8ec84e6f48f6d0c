"""Scripts for R that fit the mixed models of a report's designs: lme4, ordinal, or brms."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.statistics.crossed import CrossedModel
from analysis.statistics.linear_mixed import LinearMixedModel


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted model and what was fitted.

    Attributes:
        model: The model, with the random effects that the report's rule left.
        left_out: What the rule left out, in words.
        answers: The answers, or the logarithms of reading times.
        fixed: The columns of the effects and covariates.
        units: The participant, frame and further repeated unit of each answer.
    """

    model: CrossedModel | LinearMixedModel
    left_out: str
    answers: pd.Series
    fixed: pd.DataFrame
    units: pd.DataFrame


_R_SCRIPT = """# The mixed model of {name} in the report: Rscript {name}.R
# It has the random effects that the report's rule left, and gives the report's estimates.
# As a Bayesian model, fitted with brms and its default priors: Rscript {name}.R brms
{columns}
answers <- read.csv("{name}.csv", colClasses = c({units}))
if ("brms" %in% commandArgs(TRUE)) {{
  library(brms)
  model <- {brms}
  coefficients <- fixef(model)
}} else {{
  library({library})
  model <- {call}
  coefficients <- coef(summary(model))
}}
print(summary(model))
write.csv(coefficients, "{name}_coefficients.csv")
"""
_BRMS = """brm(
  answer ~ {formula},
  data = answers, family = {family}, seed = 1
)"""
_GLMER = """glmer(
  answer ~ {formula},
  data = answers, family = binomial,
  control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 200000))
)"""
_CLMM = """clmm(
  factor(answer) ~ {formula},
  data = answers
)"""


_LMER = """lmer(
  answer ~ {formula},
  data = answers
)"""


def write_scripts(folder: Path, fitted: Mapping[str, Fitted]) -> list[Path]:
    """Write each construction's answers and a script that fits its model in R; return the files."""
    paths: list[Path] = []
    for number, (name, fit) in enumerate(fitted.items(), 1):
        stem = re.sub(r"\W+", "-", name)
        if folder / f"{stem}.R" in paths:
            stem = f"{stem}-{number}"
        # The third unit is a column of the researcher's, whose name R may not take.
        units = dict(zip(map(str, fit.units), ("participant", "frame", "repeated"), strict=False))
        columns = {str(term): f"effect_{place}" for place, term in enumerate(fit.fixed, 1)}
        library, call, family = _name_fitting_library(fit.model)
        formula = " +\n    ".join([*columns.values(), *_random_in_r(fit.model, columns, units)])
        script = _R_SCRIPT.format(
            name=stem,
            columns="\n".join(f"# {column}: {term}" for term, column in columns.items()),
            library=library,
            units=", ".join(f'{unit} = "factor"' for unit in units.values()),
            call=call.format(formula=formula),
            brms=_BRMS.format(formula=formula, family=family),
        )
        table = fit.fixed.rename(columns=columns).assign(answer=fit.answers.to_numpy())
        script_paths = [folder / f"{stem}.csv", folder / f"{stem}.R"]
        pd.concat([table, fit.units.rename(columns=units)], axis=1).to_csv(
            script_paths[0], index=False
        )
        script_paths[1].write_text(script, "utf-8", newline="\n")
        paths += script_paths
    return paths


def _name_fitting_library(model: CrossedModel | LinearMixedModel) -> tuple[str, str, str]:
    """Return the library that fits such a model, its call, and the family of brms."""
    if isinstance(model, LinearMixedModel):
        return "lme4", _LMER, "gaussian()"
    if len(model.thresholds) > 1:
        return "ordinal", _CLMM, "cumulative()"
    return "lme4", _GLMER, "bernoulli()"


def _random_in_r(
    model: CrossedModel | LinearMixedModel, columns: Mapping[str, str], units: Mapping[str, str]
) -> Iterator[str]:
    """Yield the random effects; those without a correlation each alone: ordinal has no ``||``."""
    for unit, rows in model.random.groupby("unit", sort=False):
        effects = ["1" if effect == "1" else columns[effect] for effect in rows["effect"]]
        unit_in_r = units[str(unit)]
        if rows["correlation"].notna().any():
            yield f"({' + '.join(effects)} | {unit_in_r})"
        else:
            yield from (
                f"({'' if random_effect == '1' else '0 + '}{random_effect} | {unit_in_r})"
                for random_effect in effects
            )
