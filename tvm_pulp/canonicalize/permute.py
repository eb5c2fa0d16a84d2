"""Permuted axes: the cheapest way to write them, and the swap of heads and positions that attention is full of."""

from typing import Any

from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.qnn.operator import spec_of

# [1, heads, positions, size] as [1, positions, heads, size], and back.
SWAP = [0, 2, 1, 3]


def permuted(source: Any, axes: list[int]) -> Any:
    """A view where no two axes longer than one change places, because the bytes stay; else a transpose."""
    shape = spec_of(source).shape
    moved = [a for a in axes if shape[a] > 1]
    if moved == sorted(moved):
        return relax.op.reshape(source, tuple(shape[a] for a in axes))
    return qnn.emit("transpose", [source], {"axes": axes})


def swapped(value: Any) -> Any:
    """The same values with heads and positions swapped."""
    return qnn.emit("transpose", [value], {"axes": SWAP})


def is_swap(call: Any) -> bool:
    return qnn.is_qnn(call, "transpose") and qnn.attributes(call)["axes"] == SWAP
