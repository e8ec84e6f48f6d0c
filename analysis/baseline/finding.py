"""The answered checklist for human baselines: a section of the report, and its files."""

from functools import partial

import pandas as pd

from analysis.baseline.answers import answered
from analysis.baseline.checklist import AnsweredItem
from analysis.baseline.facts import facts_of
from analysis.baseline.write import NAME, tally, write_baseline
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.findings.multiverse import MOST_RESPONSES
from analysis.tables.accuracy_table import Column
from analysis.tables.section import Section

_LONGEST = 60
_FROM = {"run": "the run", "study.toml": "study.toml", "unknown": "-"}


def _run(inputs: FindingInputs) -> Findings:
    about = inputs.options.about
    study = inputs.run.study
    contexts = {
        one.model: tuple(sorted(set(one.frame["context"].astype(str)) - {""}))
        for one in inputs.options.takers
    }
    facts = facts_of(
        inputs.run,
        inputs.context.origin,
        inputs.data.judgments,
        publication=about.publication if about else study.publication,
        baseline=about.baseline if about else study.baseline,
        contexts=contexts,
        robust=not inputs.context.origin.asked.shown
        and len(inputs.run.responses) <= MOST_RESPONSES,
    )
    items = answered(facts)
    table = inputs.context.table(
        NAME,
        "Human baseline",
        f"The checklist of Wei et al. (2025). {tally(items)}",
        pd.DataFrame([_row(one) for one in items]),
        (
            Column("label", "Item", "text"),
            Column("answer", "Answer", "text"),
            Column("source", "From", "text"),
        ),
        notes=(
            "The checklist's own folder, in the report's folder, has every answer in full with its "
            "evidence, and for each unknown one the key that would answer it.",
        ),
        section=Section.BASELINE,
    )
    return Findings(tables=(table,), folders={NAME: partial(write_baseline, facts, items)})


def _row(one: AnsweredItem) -> dict[str, str]:
    answer = " ".join(one.answer.value.split()) or "unknown"
    short = answer if len(answer) <= _LONGEST else f"{answer[: _LONGEST - 1]}\u2026"
    return {
        "group": one.section,
        "label": f"{one.number} {one.title}",
        "answer": short,
        "source": _FROM[one.answer.source],
    }


HUMAN_BASELINE = Finding("human_baseline", Section.BASELINE, _run)
