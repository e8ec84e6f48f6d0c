"""The stand-in and the client agree only where the protocol does."""

import ast
from pathlib import Path

from lm.answering.stand_in import ServedModel, StandIn
from lm.registry import load_scorer
from tests.lm.toy_models import unigram_folder

ANSWERING = Path(__file__).parents[3] / "lm" / "answering"
SHARED = "lm.answering.answerer"


def imports(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {module for module in modules if module.startswith("lm.answering")}


def test_the_client_and_the_stand_in_import_nothing_of_each_other():
    assert imports(ANSWERING / "stand_in.py") <= {SHARED}
    others = [path for path in ANSWERING.glob("*.py") if path.name != "stand_in.py"]
    assert not [path for path in others if "lm.answering.stand_in" in imports(path)]


def test_models_of_one_name_have_fingerprints_of_their_own(tmp_path: Path):
    unigram_folder(tmp_path / "model")
    served = ServedModel(load_scorer(str(tmp_path / "model")))
    prints = set()
    for identity in ("seed 1", "seed 2"):
        with StandIn(served, "toy", identity=identity) as server:
            prints.add(server.fingerprint)
    assert len(prints) == 2
