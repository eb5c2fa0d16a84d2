"""Padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(g: GraphBuilder, x: Value, amounts: Sequence[int], mode: str = "constant", value: Any = None) -> str:
    """PyTorch counts axes from the last one, before and after each; negative amounts cut off."""
    before, after = [0] * x.rank, [0] * x.rank
    for place in range(len(amounts) // 2):
        before[x.rank - 1 - place], after[x.rank - 1 - place] = amounts[2 * place], amounts[2 * place + 1]
    source: Any = x
    cut = [a for a in range(x.rank) if before[a] < 0 or after[a] < 0]
    if cut:
        begins = [max(0, -before[a]) for a in cut]
        ends = [x.shape[a] - max(0, -after[a]) for a in cut]
        source = g.emit("Slice", x, g.integers(*begins), g.integers(*ends), g.integers(*cut))
    pads = [max(0, p) for p in (*before, *after)]
    if not any(pads):
        return source.name if isinstance(source, Value) else str(source)
    fill = [np.asarray(value or 0, x.dtype)] if mode == "constant" else []
    return g.emit("Pad", source, g.integers(*pads), *fill, mode=_MODES[mode])


def _mode(name: str) -> Callable[..., str]:
    def write(g: GraphBuilder, x: Value, amounts: Sequence[int]) -> str:
        return pad(g, x, amounts, name)

    return write


def constant_pad(g: GraphBuilder, x: Value, amounts: Sequence[int], value: Any = 0) -> str:
    return pad(g, x, amounts, "constant", value)


OPERATORS: Operators = {
    "aten.pad": pad,
    "aten.constant_pad_nd": constant_pad,
    **{f"aten.reflection_pad{n}d": _mode("reflect") for n in (1, 2, 3)},
    **{f"aten.replication_pad{n}d": _mode("replicate") for n in (1, 2, 3)},
}
