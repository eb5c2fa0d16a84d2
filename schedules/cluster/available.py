"""Which kernels a family has as hand-written ones."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources


@cache
def available(family: str) -> frozenset[str]:
    """Kernels that are worth calling: those that only forward to plain C lose to generated C, which knows its sizes."""
    if not family:
        return frozenset()
    folder = resources.files("c_runtime").joinpath("kernels", family)
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".c")]
    forwards = re.compile(r"TVM_PULP_KERNEL\(\w+\) \{ tvm_pulp_plain_")
    return frozenset(f.name.removesuffix(".c") for f in files if not forwards.search(f.read_text()))
