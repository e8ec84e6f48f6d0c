"""The pages of the Python interface: which modules are for others to call."""

from collections.abc import Iterator

PAGES = {
    "experiment": (
        "Python: experiments",
        "Studies, materials, lists, rules and tables. Nothing here needs a server or a model.",
        (
            "experiment.studies.load",
            "experiment.grammar.grammar",
            "experiment.materials.render",
            "experiment.design.lists",
            "experiment.design.audit.audit",
            "experiment.responses.base",
            "experiment.exclusion.rules",
            "experiment.exclusion.base",
            "experiment.responses.responders",
            "experiment.records",
            "experiment.tables.column",
            "experiment.tables.files",
            "experiment.seeds",
            "experiment.plugins",
            "experiment.errors",
        ),
    ),
    "lm": (
        "Python: language models",
        "Strings in, log-probabilities out. All log-probabilities are natural logarithms.",
        ("lm.registry", "lm.scorer", "lm.model_folder", "lm.errors"),
    ),
    "analysis": (
        "Python: analysis",
        "Tables in; tables, figures and a report out. [Comparing people and models]"
        "(../../compare.md) describes the same as a command.",
        (
            "analysis.compare",
            "analysis.comparison",
            "analysis.findings.finding",
            "analysis.data.facts",
            "analysis.data.load",
            "analysis.data.join",
            "analysis.scores.metrics",
            "analysis.errors",
        ),
    ),
    "recruiters": (
        "Python: recruiters",
        "What a [recruiter of your own](../../plugins.md#a-recruiter-of-your-own) builds on.",
        (
            "webapp.recruiters.base",
            "webapp.recruiters.arrivals",
            "webapp.recruiters.endings",
            "webapp.recruiters.platform",
        ),
    ),
}


def python_pages(statistics: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a page for each group of modules.

    Args:
        statistics: The modules of ``analysis.statistics``.
    """
    pages = PAGES | {
        "statistics": (
            "Python: statistics",
            "Each module takes tables and returns one. [What each statistic means]"
            "(../../statistics.md) is the text to read first.",
            tuple(statistics),
        )
    }
    for name, (title, introduction, modules) in pages.items():
        listed = "\n".join(f"::: {module}\n" for module in modules)
        yield f"reference/python/{name}.md", f"# {title}\n\n{introduction}\n\n{listed}"
