"""Which hand-written kernels apply to a layer."""

from itertools import islice

from schedules.cluster.available import available
from schedules.cluster.base import SCHEDULES, KernelForm, Layer
from tvm_pulp.soc.cost_model import CostModel


def described(family: str) -> dict[str, list[tuple[str, str]]]:
    """By operator, the kernels of a family that may run it in the order they are asked, and which layers each takes."""
    there = available(family)
    found: dict[str, list[tuple[str, str]]] = {}
    for operator, schedules in SCHEDULES.items():
        asked = sorted((s for s in schedules if s.kernel in there), key=lambda s: s.is_smaller)
        entries = [(s.kernel, (s.applies.__doc__ or "").strip().split("\n")[0]) for s in asked]
        if entries:
            found[operator] = list(dict.fromkeys(entries))
    return found


def forms(layer: Layer, costs: CostModel) -> list[KernelForm]:
    """Forms of a layer, best first; none means that generated C runs it."""
    there = available(costs.soc.software.kernels)
    found: list[KernelForm] = []
    for is_smaller in (False, True):
        every = (s for s in SCHEDULES.get(layer.operator, ()) if s.is_smaller == is_smaller)
        suitable = (s.form for s in every if s.kernel in there and s.applies(layer))
        found += [form(layer, costs) for form in islice(suitable, 1)]
    return found
