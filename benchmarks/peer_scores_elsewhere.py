"""Score BLiMP-shaped pairs with lm-evaluation-harness and minicons, for ``peer_scores.py``.

It runs in the Python of an environment with both libraries and without Parallax. The folder
contains a Hugging Face model (gpt2), the pairs (blimp.jsonl) and a task over them (toy_blimp.yaml).
"""

import csv
import json
import os
import sys
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"


def main() -> None:
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    samples(folder)
    tokens(folder)


def samples(folder: Path) -> None:
    """Write the samples of the task as `lm_eval --log_samples` does."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    model = HFLM(pretrained=str(folder / "gpt2"), device="cpu", dtype="float32", batch_size=8)
    tracker = EvaluationTracker(output_path=str(folder / "written"))
    found = simple_evaluate(
        model=model, tasks=["toy_blimp"], task_manager=TaskManager(include_path=str(folder)),
        log_samples=True, evaluation_tracker=tracker, bootstrap_iters=0,
    )  # fmt: skip
    logged = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=logged)
    tracker.save_results_samples(task_name="toy_blimp", samples=logged["toy_blimp"])
    (written,) = (folder / "written").rglob("samples_toy_blimp_*.jsonl")
    written.replace(folder / "samples_toy_blimp.jsonl")


def tokens(folder: Path) -> None:
    """Write each token's score in the columns that the shell command of minicons prints."""
    from minicons.scorer import IncrementalLMScorer

    scorer = IncrementalLMScorer(str(folder / "gpt2"), "cpu")
    pairs = map(json.loads, (folder / "blimp.jsonl").read_text("utf-8").splitlines())
    texts = [pair[name] for pair in pairs for name in ("sentence_good", "sentence_bad")]
    with (folder / "minicons.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["sentence_id", "token_id", "token", "logprob"])
        for number, text in enumerate(texts, start=1):
            (scored,) = scorer.token_score([text], bos_token=True)
            # The first token is the beginning, which has no score.
            for place, (token, logprob) in enumerate(scored[1:], start=1):
                writer.writerow([number, place, token, logprob])


if __name__ == "__main__":
    main()
