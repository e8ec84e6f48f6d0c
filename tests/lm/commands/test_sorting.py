from pathlib import Path

import pytest

from lm.commands.train import avoid_slow_sorting

ZEN_4 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nflags\t\t: avx2 avx512f\n\n"
WIDE = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}


@pytest.mark.parametrize(
    ("cpuinfo", "set_"),
    [
        (ZEN_4, WIDE),
        (ZEN_4.replace("25", "26"), {}),
        (ZEN_4.replace("AuthenticAMD", "GenuineIntel"), {}),
        ("", {}),
        (None, {}),
    ],
    ids=["Zen 4", "Zen 5", "Intel", "empty", "no such file"],
)
def test_wide_sorting_is_avoided_where_it_is_slow(
    cpuinfo: str | None, set_: dict[str, str], tmp_path: Path
):
    path = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        path.write_text(cpuinfo)
    environment = dict[str, str]()
    avoid_slow_sorting(environment, path)
    assert environment == set_


def test_what_the_environment_says_of_sorting_stays(tmp_path: Path):
    path = tmp_path / "cpuinfo"
    path.write_text(ZEN_4)
    environment = {"NPY_DISABLE_CPU_FEATURES": ""}
    avoid_slow_sorting(environment, path)
    assert environment == {"NPY_DISABLE_CPU_FEATURES": ""}
