"""Bytes of tensors that tiles read and write outside themselves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tvm_pulp.uma.recipe import Load, Local, Recipe, Store, operands_of

_WHOLE = 1 << 40


class TensorRange(NamedTuple):
    """Bytes of a tensor."""

    tensor: Any
    first: int
    end: int


class TouchedRanges(NamedTuple):
    """The reads and writes of a tile outside itself."""

    reads: tuple[TensorRange, ...]
    writes: tuple[TensorRange, ...]


def touched_ranges(recipe: Recipe) -> TouchedRanges:
    """Of activations; constants never change."""
    reads: list[TensorRange] = []
    writes: list[TensorRange] = []
    for step in recipe.steps:
        if isinstance(step, Load | Store):
            if step.tensor.storage.kind != "constant":
                (reads if isinstance(step, Load) else writes).append(range_of(step))
        else:
            # What a step works on where it lies.
            outside = [o.storage for o in operands_of(step) if not isinstance(o, Local)]
            whole = [whole_of(t) for t in outside if t.kind != "constant"]
            reads += whole
            writes += whole
    return TouchedRanges(tuple(reads), tuple(writes))


def range_of(step: Load | Store) -> TensorRange:
    """The bytes of its tensor that a tile moves: all of them where they are not one run."""
    if step.offset is None:
        return whole_of(step.tensor.storage)
    # Without what engines touch behind it: those bytes do not matter to them.
    return TensorRange(step.tensor.storage, step.offset, step.offset + step.local.spec.bytes)


def whole_of(tensor: Any) -> TensorRange:
    """All bytes of a tensor."""
    return TensorRange(tensor, 0, _WHOLE)


def meet(some: Sequence[TensorRange], others: Sequence[TensorRange]) -> bool:
    """Tell if ranges have bytes in common."""
    for tensor, first, end in some:
        for other, start, over in others:
            if tensor is other and first < over and start < end:
                return True
    return False
