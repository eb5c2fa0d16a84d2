"""`tvmc explain`: what float inputs and outputs cost, and that `--io` saves it."""

from typing import TextIO

from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Layer, Tensor

# Less of a network's cycles is not worth a sentence.
_WORTH = 0.02


def suggest_integer_ends(plan: Plan, dtype: str | None, stream: TextIO) -> None:
    """One line where the network could take and return `dtype` and that pays."""
    if dtype is None:
        return
    ends = {t.storage for t in (*plan.network.inputs, *plan.network.outputs) if t.spec.dtype.startswith("float")}
    cycles = sum(layer.added_cycles for layer in plan.layers if converts(layer.layer, ends))
    if cycles > _WORTH * plan.estimated_cycles:
        share = 100 * cycles / plan.estimated_cycles
        what = f"float inputs and outputs take about {cycles:,} cycles ({share:.0f} %) to convert"
        print(f"{what}: --io {dtype} takes and returns integers instead", file=stream)


def converts(layer: Layer, ends: set[Tensor]) -> bool:
    """Tell if a layer does nothing but convert between floats of the caller and integers."""
    data = [t for t in layer.inputs if t.kind != "constant"]
    if len(data) != 1 or len(layer.outputs) != 1 or layer.macs or layer.parts:
        return False
    source, result = data[0], layer.outputs[0]
    kinds = [tensor.spec.dtype.startswith("float") for tensor in (source, result)]
    if kinds == [True, False]:
        return source.storage in ends
    return kinds == [False, True] and result.storage in ends
