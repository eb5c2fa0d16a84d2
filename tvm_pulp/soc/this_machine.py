"""Instructions of this machine, as its system lists them."""

import re
from functools import cache
from pathlib import Path

from tvm_pulp.soc.cpu import Cpu

_LIST = Path("/proc/cpuinfo")


@cache
def _listed() -> frozenset[str]:
    try:
        return frozenset(re.findall(r"\w+", _LIST.read_text(encoding="utf-8")))
    except OSError:
        return frozenset()


def missing_instructions(cpu: Cpu) -> list[str]:
    """Names of instructions that programs for a CPU need and this machine does not have, or not list."""
    return [name for name in cpu.needs if name not in _listed()]
