"""Every benchmark runs from a development install: here on a tiny input, for no numbers."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prerequisites import without_window

ROOT = Path(__file__).parents[2]
SAMPLE = "experiment/studies/gulordava_2018_italian/treebank.conllu"
FOR_NOTHING = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
# Each of a server's processes reads the application anew.
ONE_PROCESS = {"PARALLAX_WORKERS": "1"}
# What each needs besides its name; {folder} is a folder of the test's own.
RUNS = {
    "achieved_power": ["--designs", "1", "--studies", "2"],
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
    "arrivals": ["--crowd", "2", "--rate", "60", "--minutes", "0.05", "--study", "minimal"],
    "request_cost": ["--people", "1", "--turns", "1", "--study", "minimal"],
    "crowds": ["--short"],
    "first_screen_nulls": ["--designs", "1", "--studies", "2"],
    "headline": ["--studies", "1", "--only", "worse"],
    "main_job": [*("--study", "minimal", "--participants", "2", "--port", "0", "--quick")],
    "mixed_model": ["recovery", "--simulations", "2"],
    "masked_words": ["--kinds", "1"],
    "people_published": ["--times", "{folder}/times", "--paths", "{folder}/paths.csv"],
    "integrity_weights": ["{folder}/sessions.json"],
    "scoring": ["--words", "500", "--sizes", "10", "--shapes", "gpt2", "lstm"],
    "page_faults": ["--chromium", "{chromium}", "--most", "1", "--sequences", "1"],
    "people_flagged": ["--people", "5"],
    "reaction_times": [
        *("--chromium", "{chromium}", "--study", "minimal", "--trials", "2", "--busy", "15")
    ],
    "screenshots": [
        *("--chromium", "{chromium}", "--out", "{folder}", "--study", "minimal", "--trial", "3")
    ],
    "replayed": ["--people", "10", "--run", "10"],
    "link_functions": ["--studies", "2"],
    "memorised": ["--studies", "1", "--without", "1", "--lstm", "0", "--copies", "0"],
    "models_over_time": ["--curves", "4"],
    "pooling": ["--studies", "2"],
    "separating": ["--studies", "20", "--searched", "2", "--compared", "10"],
    "strange_servers": ["--replies", "20"],
    "stopping": ["--studies", "40", "--blocks", "8"],
    "takers": ["--comparisons", "6"],
    "treebanks": ["{folder}/treebanks", "--each", "2"],
    "types_flagged": ["--people", "1"],
}
TESTED_ELSEWHERE = {
    "blinding",
    "coverage_grid",
    "erasures",
    "every_death",
    "faults_restored",
    "figures",
    "kill_test",
    "load",
    "point_in_time",
    "public_files",
    "published_cloze",
    "published_times",
    "scale",
    "static_study",
    "uptime",
}
# Run by other scripts, in the Python of an environment that has others' programs.
RUN_ELSEWHERE = {"scoring_peers"}


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark with some arguments."""
    environment = {**os.environ, **FOR_NOTHING, **ONE_PROCESS}
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *arguments],
        cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip


def test_every_benchmark_has_a_short_run():
    texts = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    scripts = {name for name, text in texts.items() if "__main__" in text}
    assert scripts == {*RUNS, *TESTED_ELSEWHERE, *RUN_ELSEWHERE}


@pytest.fixture
def folder(name: str, tmp_path: Path) -> Path:
    """A folder with what the benchmark is given: an export and its items' scores, or a model."""
    given = " ".join(RUNS[name])
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
    if "{folder}/treebanks" in given:
        (tmp_path / "treebanks" / "Italian").mkdir(parents=True)
        file = tmp_path / "treebanks" / "Italian" / "it_own-ud-test.conllu"
        file.write_bytes((ROOT / SAMPLE).read_bytes())
    return tmp_path


@pytest.mark.parametrize("name", RUNS)
def test_it_runs_on_a_tiny_input_and_prints_a_number(folder: Path, name: str):
    chromium = without_window() if "{chromium}" in RUNS[name] else None
    arguments = [each.format(folder=folder, chromium=chromium) for each in RUNS[name]]
    done = run(name, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert any(character.isdigit() for character in done.stdout)


@pytest.mark.parametrize("what", ["constructions", "equal"])
def test_each_measurement_of_the_mixed_model_runs(what: str):
    done = run("mixed_model", what, "--simulations", "2")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_peer_that_cannot_be_installed_is_named_in_one_line_and_left_out(tmp_path: Path):
    options = ["--words", "500", "--sizes", "10", "--shapes", "gpt2"]
    done = run("scoring", *options, "--peers", str(tmp_path / "peers"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("minicons is left out: ") == 1
    assert done.stdout.count("| GPT-2 shape") == 3
