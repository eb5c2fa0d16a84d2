"""The hand-written kernels that a family of cores has, and those that apply to a layer."""

import re
from functools import cache
from itertools import islice
from pathlib import Path

from schedules.cluster.base import SCHEDULES, KernelForm, Layer
from tvm_pulp.soc.cost_model import CostModel
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


def described(family: str) -> dict[str, list[tuple[str, str]]]:
    """By operator, the kernels of a family that may run it in the order they are asked, and which layers each takes."""
    there = available(family)
    found: dict[str, list[tuple[str, str]]] = {}
    for operator, schedules in SCHEDULES.items():
        asked = sorted((s for s in schedules if s.needs in there), key=lambda s: s.is_smaller)
        entries = [(s.needs, (s.applies.__doc__ or "").strip().split("\n")[0]) for s in asked]
        if entries:
            found[operator] = list(dict.fromkeys(entries))
    return found


def forms(layer: Layer, costs: CostModel) -> list[KernelForm]:
    """Forms of a layer, best first; none means that generated C runs it: so are scalars, which have no rows."""
    if not layer.outputs[0].spec.shape:
        return []
    there = available(costs.soc.software.kernels)
    found: list[KernelForm] = []
    for is_smaller in (False, True):
        every = (s for s in SCHEDULES.get(layer.operator, ()) if s.is_smaller == is_smaller)
        of_layout = (s for s in every if s.needs in there and layer.attributes.get("layout", "NHWC") in s.form.layouts)
        suitable = (s.form(layer, costs) for s in of_layout if s.applies(layer))
        found += islice((form for form in suitable if form.is_offered), 1)
    return found
