from pathlib import Path

import pytest

from lm.errors import LmError
from lm.registry import TYPES, load_scorer
from tests.lm.toy_models import recurrent

PAGE = Path(__file__).parents[2] / "docs" / "language_models.md"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (None, "holds no trained model"),
        ("{", "is not JSON .*Correct it or train the model again"),
        ("[]", 'not a JSON object. Expected one with "type" and "name"'),
        ('{"type": "ngrm"}', 'no model type "ngrm".*Did you mean "ngram"'),
        ('{"type": "json:dumps"}', '"json:dumps" is not a model type. Expected a class with .load'),
        ('{"model_type": "gpt2"}', "looks like a Hugging Face model: write hf:"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, config: str | None, said: str):
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(LmError, match=said):
        load_scorer(tmp_path)


def test_files_of_a_recurrent_model_that_are_gone_or_damaged_are_named(tmp_path: Path):
    recurrent(n_tags=2)(tmp_path / "model")
    (tmp_path / "model" / "tags.txt").unlink()
    with pytest.raises(LmError, match=r"cannot read the supertags .*No such file.*Put the model's"):
        load_scorer(tmp_path / "model")
    weights = tmp_path / "model" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(
        LmError, match=rf"cannot read the weights {weights} \(.*\). Train the model"
    ):
        load_scorer(tmp_path / "model")
    weights.unlink()
    with pytest.raises(LmError, match=rf"the weights {weights} \(it is not there\). Train the"):
        load_scorer(tmp_path / "model")


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_is_documented(type_: str):
    assert f'"type": "{type_}"' in PAGE.read_text(encoding="utf-8")
