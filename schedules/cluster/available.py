"""Which kernels a family has as hand-written ones."""

import re
from functools import cache
from pathlib import Path

from tvm_pulp.soc.kernel_sources import added_kernels, kernel_texts

_FORWARDS = re.compile(r"TVM_PULP_KERNEL\(\w+\) \{ tvm_pulp_plain_")


def available(family: str) -> frozenset[str]:
    """Kernels that are worth calling: those that only forward to plain C lose to generated C, which knows its sizes."""
    return _available(family, added_kernels()) if family else frozenset()


@cache
def _available(family: str, _folders: tuple[Path, ...]) -> frozenset[str]:
    sources = {path: text for path, text in kernel_texts(family).items() if path.startswith(f"kernels/{family}/")}
    names = [path.rpartition("/")[2] for path, text in sources.items() if not _FORWARDS.search(text)]
    return frozenset(name.removesuffix(".c") for name in names if name.endswith(".c"))
