"""Change: take and return integers instead of floats that are converted; what converting them costs."""

from dataclasses import replace
from typing import TextIO

from tvm_pulp.canonicalize.integer_ends import integer_ends as with_integer_ends
from tvm_pulp.canonicalize.integer_ends import possible_type
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of, plan_of
from tvm_pulp.qnn.network import Layer, Tensor

# Less of a network's cycles is not worth a sentence.
_WORTH = 0.02


def print_integer_ends(base: Compilation, stream: TextIO) -> None:
    """One line where the network could take and return integers and that pays."""
    (dtype, cycles), total = _conversion(base), plan_of(base).estimated_cycles
    if cycles > _WORTH * total:
        what = f"float inputs and outputs take about {cycles:,} cycles ({100 * cycles / total:.0f} %) to convert"
        print(f"{what}: --io {dtype} takes and returns integers instead", file=stream)


def _conversion(base: Compilation) -> tuple[str | None, int]:
    """The type that the network could take and return in place of floats, and the cycles of converting them."""
    dtype = possible_type(base.imported) if base.options.io is None else None
    ends = (*plan_of(base).network.inputs, *plan_of(base).network.outputs)
    floats = {t.storage for t in ends if t.spec.dtype.startswith("float")}
    return dtype, cycles_of(base, lambda layer: converts(layer.layer, floats)) if dtype is not None else 0


def converts(layer: Layer, ends: set[Tensor]) -> bool:
    """Tell if a layer does nothing but convert between floats of the caller and integers."""
    data = [t for t in layer.inputs if t.kind != "constant"]
    if len(data) != 1 or len(layer.outputs) != 1 or layer.macs or layer.parts:
        return False
    source, result = data[0], layer.outputs[0]
    floats = [tensor for tensor in (source, result) if tensor.spec.dtype.startswith("float")]
    return len(floats) == 1 and floats[0].storage in ends


def integer_ends(base: Compilation) -> Change | None:
    dtype, cycles = _conversion(base)
    if dtype is None:
        return None
    return Change(
        "integer-ends",
        f"--io {dtype}: take and return integers, whose scales stand in the header",
        cycles,
        lambda found: found.varied(
            options=replace(found.options, io=dtype), imported=with_integer_ends(found.imported, dtype)
        ),
    )
