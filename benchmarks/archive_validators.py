"""Give an archive to the validators of its formats, and to the programs that its tasks are for.

python -m benchmarks.archive_validators ARCHIVE --python VENV/bin/python [--psych-ds COMMAND]
    [--psychling FOLDER] [--ro-crate-context FILE]

VENV holds mlcroissant, roc-validator, frictionless[parquet], inspect-ai, openai, lm-eval and torch.
COMMAND starts the validator of Psych-DS, such as "deno run -A psychds-validator/src/
psychds-validator.ts". FOLDER is a copy of the repository PsychLing-101. What is not named is not
run, and that is printed. FILE is docs/_specification/1.2/context.jsonld of the repository of
RO-Crate: where there is no network it is put into roc-validator's own cache, which fetches it
otherwise. Inspect asks a server that always answers A: its accuracy must be the
share of items whose expected option is A. lm-evaluation-harness and Parallax score every item by
the same small GPT-2 with random weights: they must agree on each.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import click

sys.path.append(str(Path(__file__).parents[1]))
from analysis.archive.ro_crate import CONTEXT
from experiment.tables.files import read_table
from experiment.tables.schemas import SCORES
from experiment.version import code_version

# One row of the printed table: the program, whether the archive passed, and what it said.
Verdict = tuple[str, bool | None, str]
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotInstalledError(Exception):
    """A program that is needed is not there."""


def ran(command: Sequence[object], folder: Path | None = None) -> tuple[int, str]:
    """Run a program; return its status and what it printed, without colours.

    Raises:
        NotInstalledError: It is not there.
    """
    words = [str(one) for one in command]
    if shutil.which(words[0]) is None:
        raise NotInstalledError(f"{words[0]} is not installed")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, _ANSI.sub("", done.stdout + done.stderr)


def croissant(archive: Path, python: Path) -> Verdict:
    """Validate croissant.json."""
    program = python.parent / "mlcroissant"
    status, text = ran([program, "validate", "--jsonld", archive / "data" / "croissant.json"])
    warnings = len(re.findall(r"\bWARNING\b|Found the following \d+ warning", text))
    return "mlcroissant", status == 0, f"{warnings} warnings"


# What stands in the validator's cache is what its own requests would have brought there.
_CACHED = """
import sys, requests
from rocrate_validator.utils.http import HttpRequester
text, url, cache = open(sys.argv[1], "rb").read(), sys.argv[2], sys.argv[3]
session = HttpRequester.initialize_cache(cache_path=cache).session
answer = requests.Response()
answer.status_code, answer.url, answer._content = 200, url, text
answer.headers["Content-Type"] = "application/ld+json"
answer.raw = __import__("urllib3").HTTPResponse(body=text, status=200, headers=answer.headers)
for accepted in ("application/ld+json, application/json, */*;q=0.1", "*/*"):
    asked = requests.Request("GET", url, headers={"Accept": accepted})
    answer.request = session.prepare_request(asked)
    session.cache.save_response(answer)
"""


def ro_crate(archive: Path, python: Path, context: Path | None) -> Verdict:
    """Validate ro-crate-metadata.json, required checks."""
    program = python.parent / "rocrate-validator"
    options: list[object] = ["-p", "ro-crate-1.2", "-l", "required", "--no-paging"]
    with TemporaryDirectory() as cache:
        if context:
            status, text = ran([python, "-c", _CACHED, context, CONTEXT, cache])
            if status:
                return "roc-validator", False, text.strip().splitlines()[-1]
            options += ["--offline", "--cache-path", cache]
        status, text = ran([program, "-y", "--disable-color", "validate", *options, archive])
    if "urlopen error" in text:
        return "roc-validator", None, "its context could not be fetched from the network"
    lines = [one.strip(" \u2502\u256d\u2570\u2500\u256e\u256f") for one in text.splitlines()]
    found = [one for one in lines if "valid" in one]
    return "roc-validator", status == 0, found[-1] if found else ""


def frictionless(archive: Path, python: Path) -> Verdict:
    """Validate datapackage.json: every table by its schema, every file by its size and SHA-256."""
    program = python.parent / "frictionless"
    _, text = ran([program, "validate", "--json", archive / "data" / "datapackage.json"])
    found = json.loads(text[text.index("{") :])
    valid = {kind: [one["valid"] for one in found["tasks"] if one["type"] == kind]
             for kind in ("table", "file")}  # fmt: skip
    errors = sorted({error["type"] for one in found["tasks"] for error in one["errors"]})
    said = " and ".join(f"{sum(own)} of {len(own)} {kind}s" for kind, own in valid.items())
    return (
        "frictionless",
        bool(found["valid"]),
        f"{said} valid{': ' * bool(errors)}{', '.join(errors)}",
    )


def psych_ds(archive: Path, command: str) -> Verdict:
    """Validate psych-ds/, and see that the validator refuses it without its description."""
    status, text = ran([*shlex.split(command), "-w", archive / "psych-ds"])
    passed = status == 0 and "appears to be psych-DS compatible" in text
    codes = sorted(set(re.findall(r"\(([A-Z_]{8,})\)", text)))
    with TemporaryDirectory() as name:
        broken = shutil.copytree(archive / "psych-ds", Path(name) / "broken")
        (broken / "dataset_description.json").unlink()
        refused = "appears to be psych-DS compatible" not in ran([*shlex.split(command), broken])[1]
    return (
        "psychds-validator",
        passed and refused,
        f"warnings: {', '.join(codes).lower() or 'none'}",
    )


def psychling(archive: Path, repository: Path, python: Path) -> Verdict:
    """Validate psychling-101/ as a folder of that repository, and make its data again."""
    with TemporaryDirectory() as name:
        whole = shutil.copytree(repository, Path(name) / "repository")
        folder = shutil.copytree(archive / "psychling-101", whole / "example2026_study")
        made = {path: path.read_bytes() for path in (folder / "processed_data").iterdir()}
        shutil.rmtree(folder / "processed_data")
        for script in ("preprocess_data.py", "generate_prompts.py"):
            ran([python, script], folder)
        again = all(path.is_file() and path.read_bytes() == one for path, one in made.items())
        validator = whole / "scripts" / "validate_submission.py"
        status, text = ran([python, validator, folder.name], whole)
    counts = re.findall(r"(\d+) (error|warning)", text.lower())
    said = ", ".join(f"{number} {word}s" for number, word in counts[-2:])
    return "PsychLing-101", status == 0 and again, f"{said}; data made again: {again}"


class _AlwaysA(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "ANSWER: A"}
        content = json.dumps(
            {
                "id": "1", "object": "chat.completion", "created": 0, "model": "a",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def inspect(archive: Path, python: Path) -> Verdict:
    """Run the task of Inspect against a server that always answers A."""
    items = (archive / "inspect" / "items.jsonl").read_text("utf-8").splitlines()
    expected = sum(json.loads(one)["target"] == "A" for one in items) / len(items)
    [task] = (archive / "inspect").glob("*.py")
    with ThreadingHTTPServer(("127.0.0.1", 0), _AlwaysA) as server, TemporaryDirectory() as logs:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        status, text = ran(
            [
                "env", f"OWN_BASE_URL={address}", "OWN_API_KEY=none", python.parent / "inspect",
                "eval", task.name, "--model", "openai-api/own/a", "--display", "plain",
                "--log-dir", logs,
            ],
            task.parent,
        )  # fmt: skip
        server.shutdown()
    found = re.findall(r"accuracy\s+([\d.]+)", text)
    right = status == 0 and bool(found) and abs(float(found[-1]) - expected) < 0.0006
    said = f"{len(items)} samples, accuracy {found[-1] if found else '?'}; A is right in "
    return "Inspect", right, f"{said}{expected:.3f}"


def lm_eval(archive: Path, python: Path) -> Verdict:
    """Run the task of lm-evaluation-harness and `parallax lm score` on one small model."""
    if ran([python, "-c", "import lm_eval"])[0]:
        raise NotInstalledError(f"{python} has no lm_eval")
    # PyTorch takes seconds to load, and no other validator needs it.
    from transformers import GPT2Config, GPT2LMHeadModel

    from tests.lm.huggingface.test_scorer import byte_pairs

    [task] = (archive / "lm_eval").glob("*.yaml")
    with TemporaryDirectory() as name:
        model, out = Path(name) / "gpt2", Path(name) / "out"
        tokenizer = byte_pairs(eos_token="<|endoftext|>")
        sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 512}
        ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
        shape = GPT2Config(vocab_size=len(tokenizer), initializer_range=0.3, **sizes, **ends)
        GPT2LMHeadModel(shape).eval().save_pretrained(model)
        tokenizer.save_pretrained(model)
        status, _ = ran(
            [
                "env", "HF_HUB_OFFLINE=1", python, "-m", "lm_eval", "--model", "hf",
                "--model_args", f"pretrained={model},add_bos_token=True", "--tasks", task.stem,
                "--include_path", ".", "--device", "cpu", "--batch_size", "16", "--log_samples",
                "--output_path", out,
            ],
            task.parent,
        )  # fmt: skip
        scores = Path(name) / "scores.parquet"
        score = [sys.executable, "-m", "parallax", "lm", "score", f"hf:{model}", task]
        scored, _ = ran([*score, "--out", scores])
        if status or scored:
            return "lm-evaluation-harness", False, f"it ended with {status}, Parallax {scored}"
        theirs = _harness(out)
        ours: dict[int, dict[str, float]] = {}
        for row in read_table(SCORES, scores):
            # A task's documents are numbered from 1, in its own order.
            number = int(str(row["item_id"]).rpartition("-")[2]) - 1
            ours.setdefault(number, {})[str(row["variant"])] = float(str(row["logprob_nats"]))
    same = sum((one["good"] > one["bad"]) == theirs[number] for number, one in ours.items())
    return (
        "lm-evaluation-harness",
        same == len(theirs),
        f"the same on {same} of {len(theirs)} items",
    )


def _harness(out: Path) -> dict[int, bool]:
    [samples] = out.rglob("samples_*.jsonl")
    rows = map(json.loads, samples.read_text("utf-8").splitlines())
    return {int(row["doc_id"]): bool(row["acc"]) for row in rows}


@click.command(help=__doc__)
@click.argument("archive", type=click.Path(exists=True, path_type=Path))
@click.option("--python", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--psych-ds", "psych_ds_command", default="")
@click.option("--psychling", "repository", type=click.Path(exists=True, path_type=Path))
@click.option("--ro-crate-context", "context", type=click.Path(exists=True, path_type=Path))
def main(
    archive: Path,
    python: Path,
    psych_ds_command: str,
    repository: Path | None,
    context: Path | None,
) -> None:
    """Run every validator and print a table."""
    archive, python = archive.resolve(), python.absolute()
    # What is run, and where it is from.
    steps: list[tuple[str, str, Callable[[], Verdict] | None]] = [
        ("frictionless", "pip install frictionless", lambda: frictionless(archive, python)),
        ("mlcroissant", "pip install mlcroissant", lambda: croissant(archive, python)),
        (
            "roc-validator",
            "pip install roc-validator",
            lambda: ro_crate(archive, python, context),
        ),
        (
            "psychds-validator",
            "github.com/psych-ds/psychds-validator, with --psych-ds",
            (lambda: psych_ds(archive, psych_ds_command)) if psych_ds_command else None,
        ),
        (
            "PsychLing-101",
            "github.com/Data-X01/PsychLing-101, with --psychling",
            (lambda: psychling(archive, repository, python)) if repository else None,
        ),
        ("lm-evaluation-harness", "pip install lm-eval", lambda: lm_eval(archive, python)),
        ("Inspect", "pip install inspect-ai openai", lambda: inspect(archive, python)),
    ]
    click.echo(f"Parallax {code_version()}")
    words = {None: "not run", True: "passed", False: "FAILED"}
    failed = False
    for name, origin, step in steps:
        passed, said = verdict(origin, step)
        click.echo(f"{name:<22} {words[passed]:<8} {said}")
        failed |= passed is False
    sys.exit(failed)


def verdict(origin: str, step: Callable[[], Verdict] | None) -> tuple[bool | None, str]:
    """Return whether a validator passed, and what it said; or where it can be had."""
    if step is None:
        return None, f"not named ({origin})"
    try:
        _, passed, said = step()
    except NotInstalledError as error:
        return None, f"{error} ({origin})"
    return passed, said


if __name__ == "__main__":
    main()
