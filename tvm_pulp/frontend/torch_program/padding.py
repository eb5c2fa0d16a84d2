"""Padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvm_pulp.frontend.torch_program.elementwise import Operators
from tvm_pulp.frontend.torch_program.graph_builder import GraphBuilder, Value

_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(g: GraphBuilder, x: Value, amounts: Sequence[int], mode: str, value: Any = None) -> str:
    """PyTorch counts axes from the last one, before and after each; negative amounts cut off."""
    unpadded = [0] * (x.rank - len(amounts) // 2)
    before, after = ([*unpadded, *amounts[side::2][::-1]] for side in (0, 1))
    source = x.name
    cut = [a for a in range(x.rank) if before[a] < 0 or after[a] < 0]
    if cut:
        begins = [max(0, -before[a]) for a in cut]
        ends = [x.shape[a] - max(0, -after[a]) for a in cut]
        source = g.emit("Slice", x, g.integers(*begins), g.integers(*ends), g.integers(*cut))
    pads = [max(0, p) for p in (*before, *after)]
    if not any(pads):
        return source
    fill = [np.asarray(value or 0, x.dtype)] if mode == "constant" else []
    return g.emit("Pad", source, g.integers(*pads), *fill, mode=_MODES[mode])


OPERATORS: Operators = {
    "aten.pad": pad,
    "aten.constant_pad_nd": lambda g, x, amounts, value: pad(g, x, amounts, "constant", value),
    **{f"aten.reflection_pad{n}d": lambda g, x, amounts: pad(g, x, amounts, "reflect") for n in (1, 2, 3)},
    **{f"aten.replication_pad{n}d": lambda g, x, amounts: pad(g, x, amounts, "replicate") for n in (1, 2, 3)},
}
