"""The fast mode is measured where it runs, and told by the name of the kernel that ran."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lm.errors import LmError
from lm.registry import load_scorer
from lm.scorer import FastKernel
from lm.scoring.kernels import measure_kernel
from tests.lm.toy_models import TOY_MODELS

ROOT = Path(__file__).parents[3]
MEASURE = """
import json, torch
from dataclasses import asdict
from lm.scoring.kernels import measure_kernel
kernel = measure_kernel(torch.randn(800, 64, generator=torch.Generator().manual_seed(1)))
print(json.dumps(asdict(kernel) | {"faster": kernel.is_faster, "refusal": kernel.refusal}))
"""


def test_a_processor_without_bfloat16_is_recognised_whatever_the_clock_says():
    # oneDNN can be told to do without a processor's newer instructions.
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert not found["rounds"]
    assert not found["faster"]
    assert "avx2" in found["name"] or "gemm" in found["name"]
    assert "multiplies no bfloat16 numbers by itself" in found["refusal"]


def test_what_is_measured_names_a_kernel_and_prints_nothing(capfd: pytest.CaptureFixture[str]):
    kernel = measure_kernel(torch.randn(300, 32))
    assert kernel.speedup > 0
    assert kernel.explicit_speedup > 0
    assert kernel.name
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("kernel", "faster"),
    [
        (FastKernel("k", rounds=True, speedup=1.5, explicit_speedup=1.5), True),
        (FastKernel("k", rounds=True, speedup=1.05, explicit_speedup=3.0), False),
        (FastKernel("k", rounds=False, speedup=1.5, explicit_speedup=1.5), False),
    ],
)
def test_a_kernel_is_used_if_it_rounds_and_is_faster(kernel: FastKernel, faster: bool):
    assert kernel.is_faster is faster


def test_an_adaptive_softmax_has_no_fast_mode(tmp_path: Path):
    TOY_MODELS["lstm, adaptive softmax"][1](tmp_path / "model")
    with pytest.raises(LmError, match="adaptive softmax, which has no fast mode"):
        load_scorer(tmp_path / "model").fast_kernel()
