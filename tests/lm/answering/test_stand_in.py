"""The stand-in and the client agree only where the protocol does."""

import ast
from pathlib import Path

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
