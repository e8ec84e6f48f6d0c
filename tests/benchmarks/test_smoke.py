"""Every benchmark runs from a development install: here on a tiny input, for no numbers."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lm.commands.train import train
from tests.analysis import small_run
from tests.prerequisites import without_window
from tests.programs import start

ROOT = Path(__file__).parents[2]
SAMPLE = "experiment/studies/gulordava_2018_italian/treebank.conllu"
FOR_NOTHING = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
# Each of a server's processes reads the application anew.
ONE_PROCESS = {"PARALLAX_WORKERS": "1"}
# It looks through all that its process holds, before each of its forks: a copy of the warm process
# holds every library.
SMALL_PROCESS = {"mutation"}
# What each needs besides its name; {folder} is a folder of the test's own.
RUNS = {
    "agents": [
        "--chromium",
        "{chromium}",
        "--study",
        "minimal",
        "--each",
        "1",
        # Two scripts, and two that use a browser.
        "--kinds",
        "that",
        "--people",
        "5",
        "--pace",
        "0.1",
        "--sentences",
        "200",
        "--keep",
        "{folder}/programs.json",
    ],
    "arrivals": ["--places", "20"],
    "request_cost": ["--people", "1", "--turns", "1", "--study", "minimal"],
    "forged_links": ["--forged", "3", "--people", "2"],
    "corpus": [SAMPLE, "--tokens", "5000"],
    "crowds": ["--short"],
    "counting": ["--answers", "4", "--rounds", "1"],
    "coverage": ["--simulations", "2", "--settings", "1"],
    "few_items": ["--studies", "1", "--items", "2"],
    "headline": ["--studies", "1", "--only", "worse"],
    "held_out": [
        *("--chromium", "{chromium}", "--study", "minimal", "--each", "1", "--people", "5"),
        *("--pace", "1", "--kinds", "first", "--figure", "{folder}/roc.png"),
    ],
    "humanness_pictures": ["--folder", "{folder}"],
    "image": ["--list"],
    "log_and_metrics": ["--requests", "5", "--rounds", "1"],
    "main_job": [*("--study", "minimal", "--participants", "2", "--port", "0", "--quick")],
    "many_sentences": ["{folder}/model", "--sentences", "20"],
    "mixed_model": ["recovery", "--simulations", "2"],
    "masked_words": ["--kinds", "1"],
    "measure_statistics": [
        *("large", "--study", "minimal"),
        *("--participants", "40", "--models", "1", "--resamples", "10"),
    ],
    "model_types": ["--type", "gpt2", "--sentences", "4"],
    "mutation": ["money", "--sample", "2"],
    "mouse_rest": ["{folder}/paths.csv"],
    "people_published": ["--times", "{folder}/times", "--paths", "{folder}/paths.csv"],
    "integrity_weights": ["{folder}/sessions.json"],
    "ngram": [SAMPLE, "--tokens", "5000"],
    "peer_scores": [],
    "positions": ["minimal", "--seeds", "5"],
    "published_judgments": ["{folder}/raw.csv", "{folder}/summary.csv"],
    "report": ["--run", "{folder}/run", "--scores", "{folder}/scores.parquet", "--repeat", "1"],
    # The transformer is run below, without the environment of others' programs.
    "scoring": [
        *("--study", "minimal", "--busy", "--words", "1000", "--profile"),
        *("--products", "1", "--unrelated", "40"),
        *("--part", "lstm", "--part", "ngram", "--part", "unrelated"),
    ],
    "scoring_command": [
        *("--study", "minimal", "--words", "1000", "--threads", "1", "--products", "1")
    ],
    "page_faults": ["--chromium", "{chromium}", "--most", "1", "--sequences", "1"],
    "people_flagged": ["--people", "5"],
    "people_not_fitted": ["--data", "{folder}/times"],
    "planted": ["{folder}/instance", "--others", "1", "--study", "minimal"],
    "reaction_times": [
        *("--chromium", "{chromium}", "--study", "minimal", "--trials", "2", "--busy", "15")
    ],
    "screenshots": [
        *("--chromium", "{chromium}", "--out", "{folder}", "--study", "minimal", "--trial", "3")
    ],
    "human_baseline": ["{folder}/run"],
    "import_large": ["--rows", "2000"],
    "reading_storage": ["--trials", "200"],
    "room": ["--people", "60", "--block", "0", "--times", "1", "--study", "minimal"],
    "takers": ["--comparisons", "6"],
    "takers_speed": ["--study", "minimal"],
    "third_level": ["--studies", "1"],
    "turns": [*("--processes", "2", "--threads", "1", "--seconds", "0.2")],
    "training": ["--steps", "2", "--words", "200", "--hidden", "8", "--batch", "2"],
    "treebank": [SAMPLE, "--repeat", "1"],
}
TESTED_ELSEWHERE = {
    *("every_death", "faults", "faults_prolific", "figures", "fuzz", "kill_test", "load"),
    *("blinding", "crowding", "erasures", "faults_restored", "groups", "panel_faults"),
    *("panel_restored", "point_in_time", "three_sessions"),
    *("hostile_checkpoints", "hostile_fields", "hostile_headers", "hostile_uploads"),
    *("installation_faults", "models_against_models", "reading_types"),
    *("import_mutations", "published_imports", "same_study", "scale", "uptime"),
    *(
        "capsules",
        "coverage_again",
        "coverage_elsewhere",
        "coverage_grid",
        "lint",
        "planted_scores",
        "score_mutations",
        "static_study",
    ),
    *("lint_outside", "own_studies"),
    *("substitutions", "takers_campaign", "takers_http", "takers_memory"),
}
# They need what the tests install nowhere: raw data of others, another browser, packages of npm, or
# the network for a quarter of an hour; or minutes by the clock, some for pictures to look at; or
# they write a page of the documentation anew.
NOT_RUN = {
    *("crowding_phone", "eight_commands", "firefox", "maze_published", "reading_pictures"),
    *(
        "reading_published",
        "reading_timing",
        "rolling_upgrade",
        "researcher_pictures",
        "static_faults",
    ),
    *("crowding_hour", "example_reports", "off_site", "store_clients"),
}
# Run by other scripts, in the Python of an environment that has others' programs.
RUN_ELSEWHERE = {
    *("archive_validators", "peer_scores_elsewhere", "scoring_original", "scoring_peers"),
}


def write_batch(path: Path) -> None:
    """Write a batch of MTurk as BLiMP's: five numbered pairs, an apostrophe cuts a choice."""
    head, row = "anonCode,AssignmentStatus", "1,Approved"
    for n in range(1, 6):
        head += f",Input.item_{n}_condition,Input.field_{n}_1,Input.field_{n}_2,Answer.Choice{n}"
        row += f",islandans{1 + n // 5},Who isn't {n}?,Whose {n} are?,1. Who isn"
    rejected = row.replace("1,Approved", "2,Rejected")
    path.write_text(f"{head}\n{row}\n{rejected}\n", encoding="utf-8")


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with some arguments."""
    environment = {**os.environ, **FOR_NOTHING, **ONE_PROCESS}
    if name in SMALL_PROCESS:
        environment.pop(start.ADDRESS, None)
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *arguments],
        cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip


def test_every_benchmark_has_a_short_run():
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    scripts = {name for name, text in texts.items() if "__main__" in text}
    assert scripts == {*RUNS, *TESTED_ELSEWHERE, *NOT_RUN, *RUN_ELSEWHERE}


@pytest.fixture
def folder(name: str, tmp_path: Path) -> Path:
    """A folder with what the benchmark is given: an export and its items' scores, or a model."""
    given = " ".join(RUNS[name])
    if "{folder}/run" in given:
        small_run.write_export(tmp_path / "run")
        small_run.write_scores(tmp_path / "scores.parquet")
    if "{folder}/raw.csv" in given:
        write_batch(tmp_path / "raw.csv")
        (tmp_path / "summary.csv").write_text("Condition,total_mean,count\nisland,0.8,5\n")
    if "{folder}/paths.csv" in given:
        head = ",".join(f"{name}_get_response" for name in ("timestamps", "xpos", "ypos"))
        head += ",count_trial,Exemplar,Condition,response,CategoryLeft"
        rows = (
            f'{n},900,"[0,300,600,900]","[0,9,{n},{n}]","[0,0,0,0]",{n},Aal,Typical,Fisch,Fisch'
            for n in (1, 1, 2)
        )
        table = "\n".join((f"subject_nr,response_time,{head}", *rows))
        (tmp_path / "paths.csv").write_text(table, encoding="utf-8")
    if "{folder}/times" in given:
        of_study = "Complete_02-16-2019/Individual_Measures"
        (tmp_path / "times" / of_study).mkdir(parents=True)
        trials = "".join(f"w,stim,test,900,{2000 * n}\n" for n in range(1, 10))
        for name in ("bickel_titrator", "kirby", "choice_reaction_time", f"{of_study}/stroop"):
            with gzip.open(tmp_path / "times" / f"{name}.csv.gz", "wt") as file:
                file.write(f"worker_id,trial_id,exp_stage,rt,time_elapsed\n{trials}")
    if "{folder}/sessions.json" in given:
        answers = [{"position": n, "arrived_ms": 2000.0 * n, "rt_ms": 900.0} for n in range(1, 10)]
        session = {"answers": answers, "after_pauses": []}
        (tmp_path / "sessions.json").write_text(json.dumps({"a script": [session]}))
    if "{folder}/model" in given:
        (tmp_path / "text.txt").write_text("the author laughs\nthe authors laugh\n" * 20)
        files = ["--text", str(tmp_path / "text.txt"), "--out", str(tmp_path / "model")]
        CliRunner().invoke(train, ["--type", "unigram", *files], catch_exceptions=False)
    return tmp_path


@pytest.mark.parametrize("name", RUNS)
def test_it_runs_on_a_tiny_input_and_prints_a_number(folder: Path, name: str):
    chromium = without_window() if "{chromium}" in RUNS[name] else None
    arguments = [each.format(folder=folder, chromium=chromium) for each in RUNS[name]]
    done = run(name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert any(character.isdigit() for character in done.stdout)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("measure_statistics", "intervals"),
        ("measure_statistics", "bootstrap"),
        ("mixed_model", "constructions"),
        ("mixed_model", "equal"),
    ],
)
def test_each_measurement_of_the_statistics_runs(name: str, what: str):
    done = run(name, what, "--simulations", "2")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_peer_that_cannot_be_installed_is_named_in_one_line_and_left_out(tmp_path: Path):
    options = ["--study", "minimal", "--words", "1000", "--part", "gpt2", "--products", "1"]
    done = run("scoring", *options, "--peers", str(tmp_path / "peers"))
    assert done.returncode == 0, done.stdout + done.stderr
    # Once with sentences that share much, once with sentences that share nothing.
    assert done.stdout.count("minicons is left out: ") == 2
    assert "largest difference of a token's score" in done.stdout
