"""The statement of spending equals the marketplace's books to the cent."""

import csv
from collections import Counter

import httpx
import pytest

from tests.patience import PATIENCE_S

pytestmark = pytest.mark.one_database


def test_rewards_bonuses_and_fees_add_up_to_the_books(
    publish_run, worker, shell, bonus_file, endpoint, tmp_path
):
    publish_run()
    for name in ("AMANN", "AMBEA", "ACECIL"):
        worker(name).take_part()
    shell("approve", "--yes")
    assert shell("bonus", "--file", bonus_file("AMANN", "0.33", "Fine"), "--yes").exit_code == 0
    said = shell("statement", "--out", str(tmp_path))
    assert said.exit_code == 0, (said.output, said.exception)
    with (tmp_path / "statement.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    stated = Counter((x["kind"], int(x["amount_minor"]), int(x["fee_minor"])) for x in lines)
    books = httpx.get(f"{endpoint}/control/payments", trust_env=False, timeout=PATIENCE_S)
    found = books.json()["payments"]
    assert stated == Counter((x["kind"], x["amount_cents"], x["fee_cents"]) for x in found)
    assert len(found) == 4
    total_cents = sum(x["amount_cents"] + x["fee_cents"] for x in found)
    assert f"${total_cents / 100:.2f} spent" in said.output
