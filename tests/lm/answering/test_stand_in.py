"""The stand-in and the client agree only where the protocol does."""

import ast
from pathlib import Path

LM = Path(__file__).parents[3] / "lm"


def imports(folder: str) -> set[str]:
    trees = [ast.parse(path.read_text("utf-8")) for path in (LM / folder).glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_the_client_and_the_stand_in_import_nothing_of_each_other():
    assert not {name for name in imports("servers") if name.startswith("lm.serving")}
    assert not {name for name in imports("serving") if name.startswith("lm.servers")}
