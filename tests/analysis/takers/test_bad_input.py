"""What can be wrong with a take, line by line: one paragraph each, and nothing half-stored."""

import fcntl
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest

from experiment.studies.load import find_study
from lm.answering.answerer import Tier
from lm.answering.stand_in import ServedModel, StandIn
from lm.huggingface import load
from lm.registry import load_scorer
from parallax import main
from tests.lm.toy_models import causal_folder, ngram_folder, save_hf, tiny_gpt2, word_tokenizer

LONGEST_PARAGRAPH = 700


@dataclass(frozen=True)
class Place:
    """Where a take is given: its models, the study's copy, and what it would write."""

    root: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def study(self) -> Path:
        """A copy of a study, to be changed."""
        if not (self.root / "minimal").exists():
            shutil.copytree(find_study("minimal"), self.root / "minimal")
        return self.root / "minimal"

    def take(self, *words: str, study: str = "minimal", reading: str = "forced_choice") -> int:
        given = ["take", study, "--reading", reading, "--out", str(self.out), *words]
        if "--participant" not in words:
            given += ["--sessions", "1"]
        self.monkeypatch.setattr(sys, "argv", ["parallax", *given])
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0)
        return 0

    def files(self) -> dict[str, bytes]:
        if not self.out.exists():
            return {}
        found = (path for path in sorted(self.out.rglob("*")) if path.is_file())
        return {str(path): path.read_bytes() for path in found if "replies" not in path.name}


@contextmanager
def served(place: Place, tier: Tier) -> Iterator[str]:
    ngram_folder(place.root / "ngram")
    with StandIn(ServedModel(load_scorer(place.root / "ngram")), "toy", tier) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"api:{server.url}#toy"
        server.shutdown()
        thread.join()


FREE = ("--price-in", "0", "--price-out", "0")


def beyond_the_tier(place: Place) -> int:
    with served(place, Tier.NEXT) as model:
        return place.take("--model", model, *FREE, reading="sentence")


def no_memory(place: Place) -> int:
    causal_folder(place.root / "hf")
    place.monkeypatch.setattr(load, "available_bytes", lambda: 1000)
    return place.take("--model", f"{place.root / 'hf'}")


def too_small_a_context(place: Place) -> int:
    causal_folder(place.root / "hf")
    return place.take("--model", f"{place.root / 'hf'}", "--context", "history")


def tokenizer_of_another_model(place: Place) -> int:
    tokenizer = word_tokenizer(masked=False)
    save_hf(place.root / "hf", tiny_gpt2(len(tokenizer) // 2), tokenizer)
    return place.take("--model", f"{place.root / 'hf'}")


def cap_below_the_estimate(place: Place) -> int:
    with served(place, Tier.NEXT) as model:
        terms = ("--price-in", "1", "--price-out", "1", "--cap", "0.0006")
        return place.take("--model", model, *terms)


def unknown_price(place: Place) -> int:
    with served(place, Tier.NEXT) as model:
        return place.take("--model", model)


def started_twice(place: Place) -> int:
    ngram_folder(place.root / "ngram")
    place.out.mkdir()
    with (place.out / "take.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return place.take("--model", f"{place.root / 'ngram'}")


def other_materials(place: Place) -> int:
    ngram_folder(place.root / "ngram")
    words = ("--model", f"{place.root / 'ngram'}")
    assert place.take(*words, study=str(place.study), reading="sentence") == 0
    before = place.files()
    grammar = place.study / "grammar.toml"
    grammar.write_text(grammar.read_text().replace("child", "banker"))
    code = place.take(*words, study=str(place.study), reading="sentence")
    assert place.files() == before
    return code


def unreadable_beginning(place: Place) -> int:
    ngram_folder(place.root / "ngram")
    place.out.mkdir()
    (place.out / "take.json").write_text("{")
    return place.take("--model", f"{place.root / 'ngram'}")


def nobody_to_be_yoked_to(place: Place) -> int:
    ngram_folder(place.root / "ngram")
    return place.take("--model", f"{place.root / 'ngram'}", "--context", "yoked")


def an_effort_that_nobody_makes(place: Place) -> int:
    ngram_folder(place.root / "ngram")
    return place.take("--model", f"{place.root / 'ngram'}", "--reasoning-effort", "low")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (beyond_the_tier, "need log-probabilities of a given text"),
        (no_memory, "Nothing was loaded"),
        (too_small_a_context, "reads 32 tokens at most"),
        (tokenizer_of_another_model, "tokenizer"),
        (cap_below_the_estimate, "all calls together can cost up to"),
        (unknown_price, "could cost any amount"),
        (started_twice, "another `parallax take` is writing this folder"),
        (other_materials, "differ from these in: the materials"),
        (unreadable_beginning, "take.json: the unfinished sessions in this folder cannot be read"),
        (nobody_to_be_yoked_to, "Name people (--participant); docs/takers.md has the table"),
        (an_effort_that_nobody_makes, "reasoning effort"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_it_is_one_paragraph_and_nothing_is_half_stored(
    wrong, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    place = Place(tmp_path, monkeypatch)
    assert wrong(place) == 2
    # Libraries show their progress in lines of their own.
    [paragraph] = [line for line in capsys.readouterr().err.splitlines() if "Error: " in line]
    assert paragraph.endswith(".")
    assert said in paragraph and len(paragraph) < LONGEST_PARAGRAPH
    if wrong is not other_materials:
        assert {Path(path).name for path in place.files()} <= {"take.lock", "take.json"}


def test_answers_that_the_limit_of_tokens_cuts_off_are_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = Place(tmp_path, monkeypatch)
    monkeypatch.setattr(ServedModel, "sample", lambda *_: "Well, it depends")
    with served(place, Tier.SAMPLES) as model:
        words = ("--samples", "1", "--max-tokens", "1", "--labels", "numbers", *FREE)
        assert place.take("--model", model, *words) == 0
    read = (place.out / "forced_choice" / "readings.csv").read_text().splitlines()[1:]
    assert len(read) == 16 and all(",cut," in row for row in read)
    answered = (place.out / "forced_choice" / "responses.csv").read_text().splitlines()[1:]
    assert answered == []
