"""Change: 3x3 kernels in place of wider ones, which engines of arrays do not have."""

from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, constant
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of_operators, plan_of
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.window_attributes import windows
from tvm_pulp.window import halves

_WIDTH = 3
# Layers that are named; more are counted.
_NAMED = 3


def smaller_kernels(base: Compilation) -> Change | None:
    """A change of the model, which has to be trained again; of all layers whose results keep their size."""
    wide = [
        part
        for layer in plan_of(base).layers
        for part in layer.layer.parts or (layer.layer,)
        if _narrowed(part) is not None
    ]
    if not wide:
        return None
    sizes = sorted({"x".join(map(str, part.inputs[1].spec.shape[1:3])) for part in wide})
    names = ", ".join(f"'{part.name}'" for part in wide[:_NAMED])
    more = f" and {len(wide) - _NAMED} more" if len(wide) > _NAMED else ""
    return Change(
        "smaller-kernels",
        f"kernels of at most {_WIDTH}x{_WIDTH} in place of {', '.join(sizes)} in {names}{more}, trained again",
        cycles_of_operators(base, lambda part: _narrowed(part) is not None),
        lambda found: found.varied(rewrite=_Narrowed().run),
    )


def _narrowed(layer: Layer) -> tuple[list[slice], list[int]] | None:
    if layer.operator != "conv2d" or layer.inputs[1].kind != "constant":
        return None
    return _middle(layer.inputs[1].spec.shape[1:3], layer.attributes)


def _middle(kernel: tuple[int, ...], attributes: Any) -> tuple[list[slice], list[int]] | None:
    """Taps that stay, and pads; None where nothing is wide or where there is no padding to give up."""
    taps, sides = [], []
    for window in windows(attributes, kernel):
        first, last = halves(max(0, window.kernel - _WIDTH))
        taps.append(slice(first, window.kernel - last))
        sides.append((window.before - first * window.dilation, window.after - last * window.dilation))
    pads = [side[end] for end in (0, 1) for side in sides]
    return (taps, pads) if max(kernel) > _WIDTH and min(pads) >= 0 else None


class _Narrowed(Rewriter):
    def visit(self, variable: Any, value: Any) -> Any:
        weight = constant(value.args[1]) if qnn.is_qnn(value, "conv2d") else None
        found = None if weight is None else _middle(weight.shape[1:3], qnn.attributes(value))
        if weight is None or found is None:
            return value
        (rows, columns), pads = found
        kept = relax.const(np.ascontiguousarray(weight[:, rows, columns]))
        operands = [value.args[0], kept, *value.args[2:]]
        return qnn.emit("conv2d", operands, {**qnn.attributes(value), "pads": pads})
