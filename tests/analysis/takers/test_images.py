"""A study whose instructions show an image: sent to a server that takes it, or refused."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from analysis.takers.plan import Factors
from analysis.takers.run import Request, run_take
from experiment.studies.load import find_study
from experiment.takers.prompt import Context
from lm.answering.answerer import Tier
from lm.answering.messages import PIXEL, build_content, count_tokens_at_most
from lm.errors import LmError
from tests.analysis.takers.test_server import NOW, OWN, model, rows, serving

__all__ = ["model"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    copytree(find_study("minimal"), tmp_path / "minimal")
    text = tmp_path / "minimal" / "texts" / "en" / "instructions.md"
    text.write_text(f"Look at this:\n\n{PIXEL}\n\n{text.read_text('utf-8')}", encoding="utf-8")
    return tmp_path / "minimal"


def asked(study: Path, model: str, out: Path, reading: str = "forced_choice") -> Request:
    factors = Factors((Context.INSTRUCTIONS,), ("numbers",), (False,))
    terms = replace(OWN, samples=1)
    return Request(
        str(study), model, (reading,), factors, 1, 1, False, "cpu", out, terms=terms
    )  # fmt: skip


def test_a_server_that_takes_images_is_sent_them_where_people_see_them(
    model: Path, study: Path, tmp_path: Path
):
    with serving(model, Tier.SAMPLES) as server:
        server.takes_images = True
        request = replace(asked(study, f"api:{server.url}#toy", tmp_path / "out"), chat=True)
        list(run_take(request, NOW))
        messages = [json.loads(body)["messages"][-1]["content"] for body in server.billed]
    [first, *_] = [parts for parts in messages if len(parts) == 3]
    assert [part["type"] for part in first] == ["text", "image_url", "text"]
    assert first[0]["text"].startswith("Look at this:")
    assert first[1]["image_url"]["url"] in PIXEL
    # The prompt is kept as it is, image and all.
    prompts = rows(tmp_path / "out" / "forced_choice", "prompts")
    assert all(PIXEL in row["prompt"] for row in prompts)


def test_a_server_that_reads_no_images_is_refused_before_anything_is_written(
    model: Path, study: Path, tmp_path: Path
):
    with serving(model, Tier.SAMPLES) as server:
        request = replace(asked(study, f"api:{server.url}#toy", tmp_path / "out"), chat=True)
        with pytest.raises(LmError, match="was given an image and gave no answer"):
            list(run_take(request, NOW))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("reading", ["forced_choice", "after_instructions"])
def test_a_model_that_is_asked_by_text_is_refused(
    model: Path, study: Path, tmp_path: Path, reading: str
):
    with pytest.raises(LmError, match=r"show an image, and .* reads text alone"):
        list(run_take(asked(study, str(model), tmp_path / "out", reading), NOW))
    assert not (tmp_path / "out").exists()


def test_an_image_that_lies_elsewhere_is_named(model: Path, study: Path, tmp_path: Path):
    text = study / "texts" / "en" / "instructions.md"
    text.write_text("![](https://example.org/a.png)\n", encoding="utf-8")
    with pytest.raises(LmError, match=r"the image \"https://example.org/a.png\", which is stored"):
        list(run_take(asked(study, str(model), tmp_path / "out"), NOW))


def test_prompts_without_images_are_sent_as_they_were():
    assert build_content("1. a [b](c)\n2. d!") == "1. a [b](c)\n2. d!"
    assert count_tokens_at_most("ab") == 2 and count_tokens_at_most(PIXEL) > 50_000
