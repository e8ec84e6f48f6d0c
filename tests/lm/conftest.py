"""Small sets are packed in tests, although packing them saves nothing."""

import pytest

from lm.scoring.tree_packing import CheckedPacking


@pytest.fixture(autouse=True)
def _packing_pays(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "chooses_the_cheaper_way" not in request.node.name:
        monkeypatch.setattr(CheckedPacking, "pays", lambda *_: True)
