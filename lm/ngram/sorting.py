"""Avoids slow sorting in numpy on processors whose widest instructions are slow.

This module is imported before numpy, so it must not import anything that needs numpy.
"""

from collections.abc import MutableMapping
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_SETTING = "NPY_DISABLE_CPU_FEATURES"
_WIDE = "X86_V4 AVX512_ICL AVX512_SPR"
# Zen 3 has this family number, too, but not the instructions.
_ZEN_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25"}


def avoid_slow_sorting(environment: MutableMapping[str, str], cpuinfo: Path = _CPUINFO) -> None:
    """Make numpy sort without AVX-512 on AMD's Zen 4, unless the environment says otherwise.

    numpy's AVX-512 sorting uses an instruction (a compressed store to memory) that is so slow on
    these processors that sorting takes five times as long as with AVX2. numpy chooses once, at
    import: this function must be called before, and has no effect afterwards.
    """
    try:
        first, *_ = cpuinfo.read_text(encoding="utf-8").split("\n\n")
    except (OSError, UnicodeDecodeError):
        return
    lines = (line.partition(":") for line in first.splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    if _ZEN_4.items() <= facts.items():
        environment.setdefault(_SETTING, _WIDE)
