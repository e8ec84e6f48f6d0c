"""The answered checklist for human baselines: a section of the report, and its files."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from analysis.baseline.answers import answer_checklist
from analysis.baseline.checklist import SECTIONS, AnsweredItem
from analysis.baseline.facts import Facts, collect_facts
from analysis.data.load import ExportedRun
from analysis.findings.finding import Finding, FindingInputs, Findings
from analysis.findings.multiverse import MOST_RESPONSES
from analysis.tables.accuracy_table import Column
from analysis.tables.latex import escape_latex
from analysis.tables.section import Section
from experiment.errors import ParallaxError
from experiment.materials.render import render

FINDING_NAME = "human_baseline"
_UNKNOWN = "unknown"
_SOURCE = (
    "Wei, K. L. et al. (2025). Recommendations and reporting checklist for rigorous and "
    "transparent human baselines in model evaluations. ICML 2025."
)


def write_baseline(facts: Facts, items: Sequence[AnsweredItem], folder: Path) -> list[Path]:
    """Write the checklist in three formats, and the items as participants and models saw them.

    Args:
        facts: The facts that the answers are based on.
        items: The answered checklist.
        folder: An existing folder.

    Returns:
        The files.
    """
    contents = {
        f"{FINDING_NAME}.json": _checklist_json(facts, items),
        f"{FINDING_NAME}.md": _checklist_markdown(facts, items),
        f"{FINDING_NAME}.tex": _checklist_latex(facts, items),
        "items.csv": _items_csv(facts),
    }
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    return [folder / name for name in contents]


def count_answers(items: Sequence[AnsweredItem]) -> str:
    """Return one sentence: the number of answered items, by source."""
    sources = [item.answer.source for item in items]
    return (
        f"{len(items)} items and sub-items: {sources.count('run')} answered from the run, "
        f"{sources.count('study.toml')} from study.toml, {sources.count('unknown')} unknown."
    )


def _instructions_text(facts: Facts) -> str:
    if not facts.recorded:
        return ""
    return facts.run.study.text("instructions").strip()


def _describe_model_inputs(facts: Facts) -> dict[str, str]:
    """Return a description of the input that each model was given."""
    inputs = {
        model_facts.facts.model: f"the text alone, without instructions; {model_facts.facts.given}"
        for model_facts in facts.origin.models
    }
    for model, contexts in facts.contexts.items():
        context_names = ", ".join(contexts) or "no prompt"
        inputs[model] = f"the session of a participant; before each trial: {context_names}"
    return inputs


def _checklist_json(facts: Facts, items: Sequence[AnsweredItem]) -> str:
    content = {
        "checklist": _SOURCE,
        "simulated": facts.origin.simulated,
        "run": facts.run.facts.run,
        "study": facts.run.facts.study,
        "materials_hash": facts.run.facts.materials_hash,
        "items": [
            {
                "number": item.number,
                "section": item.section,
                "title": item.title,
                "answer": item.answer.value or None,
                "source": item.answer.source,
                "evidence": item.answer.evidence,
            }
            for item in items
        ],
        "instructions": {
            "people": _instructions_text(facts) or None,
            "models": _describe_model_inputs(facts),
        },
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _checklist_markdown(facts: Facts, items: Sequence[AnsweredItem]) -> str:
    lines = [f"# Human baseline: {facts.run.study.study.title}", ""]
    if facts.origin.warning:
        lines += [f"**{facts.origin.warning}**", ""]
    lines += [f"{count_answers(items)} The checklist: {_SOURCE}", ""]
    for number, title in SECTIONS.items():
        lines += [
            f"## {number} {title}",
            "",
            "| No. | Item | Answer | Evidence |",
            "|---|---|---|---|",
        ]
        lines += [
            "| " + " | ".join(map(_markdown_cell, _checklist_row(item))) + " |"
            for item in items
            if item.section == title
        ]
        lines.append("")
    lines += ["## Instructions side by side", "", "People read:", ""]
    lines += [f"> {line}".rstrip() for line in (_instructions_text(facts) or _UNKNOWN).splitlines()]
    lines += ["", "Models were given:", ""]
    lines += [f"- {model}: {text}" for model, text in _describe_model_inputs(facts).items()] or [
        "- no model"
    ]
    lines += ["", "`items.csv` has every judged item as people and each model were shown it."]
    return "\n".join(lines) + "\n"


def _checklist_row(answered_item: AnsweredItem) -> tuple[str, str, str, str]:
    answer = answered_item.answer
    source = "" if answer.source == "unknown" else f" ({answer.source})"
    return (
        answered_item.number,
        answered_item.title,
        answer.value or _UNKNOWN,
        f"{answer.evidence}{source}",
    )


def _markdown_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def _checklist_latex(facts: Facts, items: Sequence[AnsweredItem]) -> str:
    lines = [
        "% Needs the packages booktabs and longtable.",
        *([f"% {facts.origin.warning}"] if facts.origin.warning else []),
        r"\begin{longtable}{@{}lp{.26\linewidth}p{.26\linewidth}p{.34\linewidth}@{}}",
        r"\toprule",
        r"No. & Item & Answer & Evidence \\",
        r"\midrule",
        r"\endhead",
    ]
    for title in SECTIONS.values():
        lines.append(rf"\multicolumn{{4}}{{@{{}}l}}{{\textbf{{{escape_latex(title)}}}}} \\")
        lines += [
            " & ".join(escape_latex(" ".join(cell.split())) for cell in _checklist_row(item))
            + r" \\"
            for item in items
            if item.section == title
        ]
    if facts.origin.warning:
        lines.append(
            rf"\multicolumn{{4}}{{@{{}}p{{\linewidth}}}}{{{escape_latex(facts.origin.warning)}}} \\"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{longtable}"]) + "\n"


def _items_csv(facts: Facts) -> str:
    """Return the judged items as CSV: each version as shown to participants and to each model."""
    run = facts.run
    judged_ids = set(facts.judgments["item_id"].unique())
    people_rendering = _find_rendering(run.facts.rendering if facts.recorded else "as_written")
    models = {
        model_facts.facts.model: _find_rendering(model_facts.facts.rendering)
        for model_facts in facts.origin.models
    }
    renderings: dict[str, Callable[[str], str] | None] = {"people": people_rendering, **models}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    versions = ("good", "contrast")
    writer.writerow(["item_id", *(f"{judge}_{name}" for judge in renderings for name in versions)])
    for item_id, texts in _iterate_texts(run):
        if item_id in judged_ids:
            cells = [
                ""
                if rendering is None
                else _render_version(rendering, texts["context"], texts[name])
                for rendering in renderings.values()
                for name in versions
            ]
            writer.writerow([item_id, *cells])
    return out.getvalue()


def _iterate_texts(run: ExportedRun) -> Iterator[tuple[str, Mapping[str, str]]]:
    names = ["item_id", "context", "good", "bad", "distractor", "contrast"]
    for item_id, context, good, bad, distractor, contrast in (
        run.items[names].astype(str).itertuples(index=False, name=None)
    ):
        contrast_text = distractor if contrast == "distractor" else bad
        yield item_id, {"context": context, "good": good, "contrast": contrast_text}


def _render_version(way: Callable[[str], str], context: str, text: str) -> str:
    return way(f"{context} {text}".strip())


def _find_rendering(name: str) -> Callable[[str], str] | None:
    """Return the rendering of this name; None if Parallax does not define it."""
    try:
        return render(name, own_code=False)
    except ParallaxError:
        return None


_MAX_CHARS = 60
_SOURCE_WORDS = {"run": "the run", "study.toml": "study.toml", "unknown": "-"}


def _make_findings(inputs: FindingInputs) -> Findings:
    about = inputs.options.about
    study = inputs.run.study
    contexts = {
        taker.model: tuple(sorted(set(taker.frame["context"].astype(str)) - {""}))
        for taker in inputs.options.takers
    }
    facts = collect_facts(
        inputs.run,
        inputs.context.origin,
        inputs.data.judgments,
        publication=about.publication if about else study.publication,
        baseline=about.baseline if about else study.baseline,
        contexts=contexts,
        robust=not inputs.context.origin.asked.shown
        and len(inputs.run.responses) <= MOST_RESPONSES,
    )
    items = answer_checklist(facts)
    table = inputs.context.table(
        FINDING_NAME,
        "Human baseline",
        f"The checklist of Wei et al. (2025). {count_answers(items)}",
        pd.DataFrame([_item_row(item) for item in items]),
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
    return Findings(tables=(table,), folders={FINDING_NAME: partial(write_baseline, facts, items)})


def _item_row(item_: AnsweredItem) -> dict[str, str]:
    answer = " ".join(item_.answer.value.split()) or "unknown"
    short_answer = answer if len(answer) <= _MAX_CHARS else f"{answer[: _MAX_CHARS - 1]}\u2026"
    return {
        "group": item_.section,
        "label": f"{item_.number} {item_.title}",
        "answer": short_answer,
        "source": _SOURCE_WORDS[item_.answer.source],
    }


HUMAN_BASELINE = Finding("human_baseline", Section.BASELINE, _make_findings)
