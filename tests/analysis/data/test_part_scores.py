"""Scores of the parts of a study: each goes to the items whose words were scored."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from analysis.compare import command
from analysis.data.join import decisions, join, judgments
from analysis.data.load import load_all_scores
from analysis.data.longitudinal import join_parts
from analysis.data.own_columns import make_items
from analysis.data.part_scores import write_part_scores
from analysis.errors import AnalysisError
from analysis.scores.metrics import apply_metric
from experiment.materials.read import materials_hash
from experiment.tables.files import write_table
from experiment.tables.schemas import SCORES
from tests.analysis import small_run
from tests.analysis.chosen_findings import compare_by
from tests.analysis.data.test_longitudinal import codes, sessions  # noqa: F401 (a fixture)
from tests.analysis.small_run import score_facts


@pytest.fixture
def parts(sessions):  # noqa: F811
    """Two parts whose items have the same ids and other words, but for two that are the same."""
    first, second, codes = sessions
    words = (
        second.items["good"]
        .astype(str)
        .where(second.items.index < 2, "Later " + second.items["good"].astype(str))
    )
    study = second.facts.model_copy(update={"study": "later", "materials_hash": "ef" * 32})
    second = replace(second, items=second.items.assign(good=words), facts=study)
    return first, second, join_parts([first, second], codes)


def scored(path, part, good_minus_bad, **changed):
    rows = [
        {
            "item_id": item, "construction": construction, "condition": condition,
            "contrast": "bad", "variant": variant, "logprob_nats": value, "n_tokens": 2,
            "n_unknown": 0, "token_logprobs_nats": [-1.0, value + 1.0],
        }
        for item, construction, condition in part.items[
            ["item_id", "construction", "condition"]
        ].itertuples(index=False, name=None)
        for variant, value in (("good", -9.0 + good_minus_bad), ("bad", -9.0))
    ]  # fmt: skip
    about = {"study": part.facts.study, "study_version": part.facts.study_version}
    facts = score_facts(materials_hash=part.facts.materials_hash, **about) | changed
    write_table(SCORES, rows, path, facts)
    return path


def test_each_part_has_the_scores_of_its_own_words(parts, tmp_path):
    first, second, run = parts
    # Scored as the export has them, which is no file of the study: the items' own hash.
    own = materials_hash(make_items(second.items))
    files = [
        scored(tmp_path / "later.parquet", second, -1.0, materials_hash=own),
        scored(tmp_path / "first.parquet", first, 1.0),
    ]
    [scores] = load_all_scores(write_part_scores(run, files, tmp_path))
    chosen = decisions(scores).set_index("item_id")["correct"]
    assert set(chosen.index) == set(run.items["item_id"])
    assert len(chosen) == 2 * len(first.items) - 2
    again = chosen.index.str.endswith("@2")
    assert chosen[~again].sum() == len(first.items) - 2 and not chosen[again].any()
    joined = join(run, [scores])
    assert set(joined.decisions["5-gram"]["item_id"]) >= set(judgments(run)["item_id"])
    assert apply_metric(scores, "mean").frame["logprob_nats"].tolist() == pytest.approx(
        (scores.frame["logprob_nats"] / 2).tolist()
    )
    found = compare_by(("differences",), run, [scores])
    people = found.statistics["people_minus_models"]
    assert (people["model"] < 1).any() and (people["n_items"] > 0).all()


def test_parts_of_the_same_words_need_their_scores_once(sessions, tmp_path):  # noqa: F811
    first, second, codes = sessions
    study = second.facts.model_copy(update={"study": "later", "materials_hash": "ef" * 32})
    second = replace(second, items=first.items, facts=study)
    run = join_parts([first, second], codes)
    files = [
        scored(tmp_path / "first.parquet", first, 1.0),
        scored(tmp_path / "later.parquet", second, -1.0),
    ]
    [scores] = load_all_scores(write_part_scores(run, files, tmp_path))
    assert len(decisions(scores)) == len(first.items)


def test_scores_that_do_not_cover_the_parts_are_refused(parts, tmp_path):
    first, second, run = parts
    one = scored(tmp_path / "first.parquet", first, 1.0)
    with pytest.raises(AnalysisError, match=r"judged item\(s\) have no scores.*each part"):
        join(run, load_all_scores(write_part_scores(run, [one], tmp_path)))
    strange = scored(tmp_path / "other.parquet", second, 1.0, study="another")
    with pytest.raises(AnalysisError, match="which no part has"):
        write_part_scores(run, [one, strange], tmp_path)
    twice = scored(tmp_path / "again.parquet", first, -1.0)
    with pytest.raises(AnalysisError, match=r"two score files of the model .* the run AAAA"):
        write_part_scores(run, [one, twice], tmp_path)
    other = scored(tmp_path / "retrained.parquet", second, 1.0, model_hash="12" * 32)
    with pytest.raises(AnalysisError, match=r"two score files of the model .* in model_hash"):
        write_part_scores(run, [one, other], tmp_path)


def test_files_of_an_earlier_version_lack_what_may_be_missing(parts, tmp_path):
    first, second, run = parts
    files = [
        scored(tmp_path / "first.parquet", first, 1.0),
        scored(tmp_path / "later.parquet", second, -1.0),
    ]
    pq.write_table(
        pq.read_table(files[1]).drop_columns(["token_unknown", "difference_at"]), files[1]
    )
    [scores] = load_all_scores(write_part_scores(run, files, tmp_path))
    whole = decisions(scores).set_index("item_id")["correct"]
    assert set(whole.index) == set(run.items["item_id"])
    again = whole.index.str.endswith("@2")
    assert not whole[again].any() and whole[~again].all()


def test_a_unigram_model_of_two_parts_has_a_file_for_each(tmp_path):
    command_line = ["--metric", "slor", "--no-figures", "--resamples", "100"]
    people = list(small_run.CHOICES)
    command_line += ["--parts", str(codes(tmp_path / "c.csv", [(one, one, one) for one in people]))]
    for session, run in enumerate(("AAAA", "BBBB"), start=1):
        rows = small_run.tables()
        for row in rows["items"]:
            row["good"] += " indeed" * (session - 1)
        facts = {"study_version": f"{session}.0", "materials_hash": f"{session}" * 64}
        described = small_run.facts() | facts | {"run": run, "session": session}
        command_line += ["--run", str(small_run.write_export(tmp_path / run, rows, described))]
        for option, model in (("--scores", "LSTM"), ("--unigram", "unigram")):
            file = tmp_path / f"{model}{session}.parquet"
            command_line += [option, str(small_run.write_scores(file, model=model, **facts))]
    made = CliRunner().invoke(command, [*command_line, "--out", str(tmp_path / "out")])
    assert made.exception is None, made.output
    assert "unigram, a text" in (tmp_path / "out" / "report.html").read_text("utf-8")
    stranger = small_run.write_scores(tmp_path / "s.parquet", model="another", **facts)
    refused = CliRunner().invoke(
        command, [*command_line, "--unigram", str(stranger), "--out", str(tmp_path / "no")]
    )
    assert "--unigram takes one model" in refused.output and not (tmp_path / "no").exists()
