"""How numpy sorts on processors whose widest instructions are slow.

This file is read before numpy is, so it imports nothing that needs numpy.
"""

from collections.abc import MutableMapping
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_SETTING = "NPY_DISABLE_CPU_FEATURES"
_WIDE = "X86_V4 AVX512_ICL AVX512_SPR"
# Zen 3 has the number too, and none of the instructions.
_ZEN_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25"}


def avoid_slow_sorting(environment: MutableMapping[str, str], cpuinfo: Path = _CPUINFO) -> None:
    """On AMD's Zen 4, have numpy sort without AVX-512, unless the environment says otherwise.

    An instruction that numpy's sorting leans on (a compressed store to memory) is so slow on these
    processors that sorting takes five times as long as with AVX2. numpy chooses once, while it is
    imported: this must be called before, and does nothing afterwards.
    """
    try:
        first, *_ = cpuinfo.read_text(encoding="utf-8").split("\n\n")
    except (OSError, UnicodeDecodeError):
        return
    lines = (line.partition(":") for line in first.splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    if _ZEN_4.items() <= facts.items():
        environment.setdefault(_SETTING, _WIDE)
