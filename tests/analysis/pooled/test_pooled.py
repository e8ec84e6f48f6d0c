"""Reports of several languages are pooled; every value is worked out by hand."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.errors import AnalysisError
from analysis.pooled.command import command
from analysis.pooled.effects import noun_of, pool_comparisons, summarise
from analysis.pooled.figure import pooled_figure
from analysis.pooled.reports import read_report, read_reports
from analysis.pooled.sites import compare_sites, describe_sites
from analysis.pooled.tables import accuracy_table

ATTRACTION: dict[str, Any] = {
    "name": "attraction", "role": "primary", "is_of_judges": False, "measure": "accuracy",
    "response": "sentence_pair", "scale": "", "compared": "embedded: sg - pl", "covariates": "",
    "regions": "", "judge": "", "per": "", "if_positive": "accuracy is higher for sg than for pl",
    "if_negative": "accuracy is lower for sg than for pl",
    "if_unclear": "whether accuracy differs between sg and pl", "estimate": 0.1,
    "standard_error": 0.01, "n_in_family": 1, "one_sided": "", "low": 0.08,
    "high": 0.12, "n_participants": 30, "n_observations": 900,
}  # fmt: skip
RUN = {
    "study": "across", "study_version": "1.0", "seed": 1, "materials_hash": "0", "rendering": "",
    "recruiter": "prolific", "simulated": False, "launched_at": None, "code_version": "1",
}  # fmt: skip
ACCURACY = {
    "construction": "across", "items": "judged", "judge": "people", "is_model": False,
    "accuracy": 0.8, "low": 0.7, "high": 0.9,
}  # fmt: skip
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a report's results: its comparisons, each with what differs from ATTRACTION."""

    def written(
        name: str, *comparisons: dict[str, Any], simulated: bool = False, language: str = "",
        models: Mapping[str, str] = MappingProxyType({}),
    ) -> Path:  # fmt: skip
        folder = tmp_path / "reports" / name
        folder.mkdir(parents=True)
        results = {
            "provenance": {
                "simulated": simulated, "language": language or name,
                "run": RUN | {"run": f"run_{name}"},
                "participants": {"kept": 30, "excluded": {"max_errors": 2}}, "n_judgments": 900,
                "n_items": 48,
                "models": [{"model": name, "model_hash": own} for name, own in models.items()],
            },
            "accuracy": {"by_construction": [
                ACCURACY, *(ACCURACY | {"judge": name, "is_model": True} for name in models),
            ]},
            "tables": {"plan": [{"label": "seed", "deviation": "changed"},
                                {"label": "response", "deviation": "-"}]},
            "statistics": {"comparisons": [ATTRACTION | changed for changed in comparisons]},
        }  # fmt: skip
        (folder / "results.json").write_text(json.dumps(results), "utf-8")
        return folder

    return written


def estimates(write: Write, *values: float) -> list[Path]:
    return [
        write(name, {"estimate": value, "low": value - 0.02, "high": value + 0.02})
        for name, value in zip(("de", "fr", "he", "ru", "tr"), values, strict=False)
    ]


def test_the_mean_of_equally_certain_languages_is_their_estimates_mean(write: Write):
    reports = read_reports(estimates(write, 0.1, 0.3, 0.2, 0.5, -0.1))
    pooled, by_report, left_out = pool_comparisons(reports)
    [row] = pooled.to_dict("records")
    # Student's t with 4 degrees of freedom: 2.776 times .2236 / sqrt(5).
    assert (row["mean"], row["n_reports"], row["n_participants"]) == (pytest.approx(0.2), 5, 150)
    assert row["low"] == pytest.approx(0.2 - 2.7764 * 0.1, abs=1e-4)
    assert by_report["report"].tolist() == ["de", "fr", "he", "ru", "tr"]
    assert by_report["estimate"].tolist() == [0.1, 0.3, 0.2, 0.5, -0.1]
    assert not left_out
    [sentence] = summarise(pooled, by_report, noun_of(reports))
    assert sentence.startswith(
        "attraction: whether accuracy differs between sg and pl is inconclusive, as the mean of 5 "
        "languages: +20.0 percentage points (95% interval \N{MINUS SIGN}7.8 to +47.8; p = .116)."
    )
    assert sentence.endswith("above 0 in 4 and below 0 in 1 of 5 languages.")


def test_sites_of_one_language_make_one_effect_and_their_differences_are_named(write: Write):
    folders = [
        write(f"{language}_{site}", {"estimate": value}, language=language)
        for language, site, value in (
            ("de", "berlin", 0.1), ("deu", "wien", 0.14), ("fr", "lyon", 0.3), ("fr", "nice", 0.34)
        )
    ]  # fmt: skip
    reports = read_reports(folders)
    pooled, by_report, _ = pool_comparisons(reports)
    # Q is 2 x .04 squared / 2 / .01 squared = 16; .0007 more variance between sites makes it 2.
    assert by_report["report"].tolist() == ["de (2 sites)", "fr (2 sites)"]
    assert by_report["estimate"].tolist() == pytest.approx([0.12, 0.32])
    assert by_report["n_participants"].tolist() == [60, 60]
    # Student's t with 2 degrees of freedom, times the root of .0008 / 2.
    assert by_report["high"].tolist() == pytest.approx(
        [0.12 + 4.30265 * 0.02, 0.32 + 4.30265 * 0.02]
    )
    [row] = pooled.to_dict("records")
    assert (row["mean"], row["n_reports"]) == (pytest.approx(0.22), 2)
    [sentence] = describe_sites(pooled, compare_sites(reports))
    assert sentence.startswith(
        "attraction: the sites of one language differ (p < .001), by an SD of 2.6: de_berlin by "
        "\N{MINUS SIGN}4.0 from the other sites of de (95% interval \N{MINUS SIGN}6.8 to "
        "\N{MINUS SIGN}1.2)"
    )
    assert noun_of(reports) == "language" and noun_of(reports[:2]) == "site"
    assert compare_sites(reports[:2]).empty


def test_a_one_sided_comparison_has_a_bound_and_a_one_sided_p(write: Write):
    two_sided = read_reports(estimates(write, 0.1, 0.3, 0.2, 0.5, -0.1))
    for report in two_sided:
        report.comparisons["one_sided"], report.comparisons["high"] = "positive", None
    pooled, by_report, _ = pool_comparisons(two_sided)
    [row] = pooled.to_dict("records")
    # Student's t with 4 degrees of freedom, 95% of it below 2.1318; half of p = .116.
    assert row["low"] == pytest.approx(0.2 - 2.1318 * 0.1, abs=1e-4) and np.isinf(row["high"])
    assert row["p_corrected"] == pytest.approx(0.0581, abs=1e-4)
    assert np.isinf(by_report["high"]).all()
    [sentence] = summarise(pooled, by_report, "language")
    assert "(95% interval from \N{MINUS SIGN}1.3, one-sided; p = .058)" in sentence


def test_a_one_sided_interval_of_times_ends_within_its_panel(write: Write):
    reports = read_reports(estimates(write, 0.1, 0.3, 0.2, 0.5, -0.1))
    for report in reports:
        report.comparisons["measure"], report.comparisons["one_sided"] = "log_rt", "negative"
        report.comparisons["low"] = None
    pooled, by_report, _ = pool_comparisons(reports)
    figure = pooled_figure(pooled, by_report, noun="language", simulated=False)
    # -100 % is a time of 0, 10 standard deviations of .22 below the mean of .2 are -87 %.
    assert figure.axes[0].dataLim.x0 > -87


def test_one_task_of_several_languages_is_pooled_and_corrected_for_all_tasks(write: Write):
    folders = [
        write(f"{language}/ratings", {"n_in_family": 3}, language=language)
        for language in ("de", "fr")
    ]
    reports = read_reports(folders)
    assert [report.name for report in reports] == ["de", "fr"]
    pooled, _, _ = pool_comparisons(reports)
    assert pooled["n_in_family"].tolist() == [3]


def test_few_languages_and_several_comparisons_are_said(write: Write):
    both = [{"estimate": 0.1}, {"name": "other", "estimate": -0.1}]
    reports = read_reports([write("de", *both), write("fr", *both)])
    pooled, by_report, _ = pool_comparisons(reports)
    assert pooled["n_in_family"].tolist() == [2, 2]
    sentences = list(summarise(pooled, by_report, "language"))
    assert sentences[2].startswith("Fewer than 5 languages: their mean is uncertain")
    assert sentences[3].endswith("corrected for 2 comparisons (Bonferroni).")


def test_what_a_report_cannot_say_is_left_out_by_name(write: Write):
    folders = [*estimates(write, 0.1, 0.2), write("he", {"standard_error": None})]
    folders.append(write("ru", {"name": "other"}))
    pooled, by_report, left_out = pool_comparisons(read_reports(folders))
    assert pooled["n_reports"].tolist() == [2] and by_report["report"].tolist() == ["de", "fr"]
    assert left_out[:2] == [
        "attraction: he gave no estimate with an interval.",
        "attraction: ru did not answer this comparison.",
    ]


def test_each_languages_own_model_is_one_comparison(write: Write):
    def judged(judge: str) -> dict[str, Any]:
        words = {"if_positive": f"people choose it more often than {judge}"}
        return {"name": "people and models", "compared": "people - models", "judge": judge} | words

    reports = read_reports([write("de", judged("gpt_de")), write("fr", judged("gpt_fr"))])
    pooled, _, _ = pool_comparisons(reports)
    [row] = pooled.to_dict("records")
    assert row["judge"] == "the report's own model" and row["n_reports"] == 2
    assert row["if_positive"] == "people choose it more often than the report's own model"


def test_models_of_one_name_that_are_not_one_model_are_the_reports_own(write: Write):
    def judged(judge: str) -> dict[str, Any]:
        return {
            "name": "people and models", "compared": "people - models", "judge": judge,
            "if_positive": f"people choose it more often than {judge}",
        }  # fmt: skip

    of_models = judged("lstm.2") | {
        "name": "models", "compared": "lstm - lstm.2",
        "if_positive": "lstm chooses it more often than lstm.2",
    }  # fmt: skip
    comparisons = (judged("lstm"), judged("lstm-big"), of_models)
    reports = read_reports([
        write("de", *comparisons, models={"lstm": "a1", "lstm-big": "c3"}),
        write("fr", *comparisons, models={"lstm": "b2", "lstm-big": "c3"}),
        write("he", *comparisons, models={"lstm": "", "lstm-big": ""}),  # imported scores: unknown
    ])  # fmt: skip
    pooled, _, _ = pool_comparisons(reports)
    assert pooled["judge"].tolist() == ["the report's own lstm", "lstm-big", "lstm.2"]
    assert pooled["if_positive"].tolist() == [
        "people choose it more often than the report's own lstm",
        "people choose it more often than lstm-big",
        "the report's own lstm chooses it more often than lstm.2",
    ]
    accuracies = accuracy_table(reports, "language", ())
    assert accuracies and [column.title for column in accuracies.columns[1:]] == [
        "People", "the report's own lstm", "lstm-big"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"compared": "embedded: pl - sg"}, 'not the same question in de and fr: its compared is'),
        ({"scale": " on a scale from 1 to 5"}, "its scale is"),
    ],
)  # fmt: skip
def test_other_questions_of_one_name_are_refused(
    write: Write, changed: dict[str, Any], message: str
):
    with pytest.raises(AnalysisError, match=message):
        read_reports([write("de", {}), write("fr", changed)])


def test_what_is_no_report_or_one_twice_is_refused(write: Write, tmp_path: Path):
    with pytest.raises(AnalysisError, match="holds no results of a comparison"):
        read_report(tmp_path)
    german = write("de", {})
    with pytest.raises(AnalysisError, match="1 report is given"):
        read_reports([german])
    with pytest.raises(AnalysisError, match='two reports have the name "de"'):
        read_reports([german, german])
    with pytest.raises(AnalysisError, match="answers no comparison"):
        read_report(write("fr"))


def test_the_command_writes_page_figure_tables_and_numbers(write: Write, tmp_path: Path):
    folders = [*map(str, estimates(write, 0.1, 0.3, 0.2)), str(write("en", {}, simulated=True))]
    out = tmp_path / "pooled"
    done = CliRunner().invoke(command, [*folders, "--out", str(out)], catch_exceptions=False)
    assert done.output.startswith("SIMULATED PARTICIPANTS in en.\nattraction: ")
    page = (out / "pooled.html").read_text("utf-8")
    assert "<svg" in page and "SIMULATED PARTICIPANTS in en." in page
    reports = pd.read_csv(out / "reports.csv", comment="#")
    assert reports["deviations"].tolist() == ["seed"] * 4
    numbers = json.loads((out / "pooled.json").read_text("utf-8"))
    assert np.isclose(numbers["pooled"][0]["mean"], 0.175)
    assert {path.suffix for path in out.glob("effects.*")} == {".svg", ".pdf", ".png"}
