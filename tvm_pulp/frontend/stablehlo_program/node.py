"""A StableHLO program as nodes in memory, free of the library that read it: one node per value."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(eq=False)
class StablehloNode:
    """One value: the operator that makes it, without its dialect, and what it is made of.

    An operator of several results is a node of its own, with `result` nodes behind it that say which one they are.
    """

    op: str
    operands: tuple["StablehloNode", ...]
    shape: tuple[int, ...]
    # As NumPy calls it.
    dtype: str
    attributes: dict[str, Any] = field(default_factory=dict)
    # The layer it belongs to and the operator's name in the framework, as its user wrote them.
    label: str = ""
    # Values, where they are known; broadcast axes have stride zero.
    array: np.ndarray | None = None
    # Position among the values of the main function; none for values of called functions, loops and rewrites.
    place: int | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")

    @property
    def scalar(self) -> Any:
        """The number that all elements of a constant are; None of another node."""
        if self.array is None or not self.array.size:
            return None
        held = compact(self.array)
        return held.reshape(-1)[0] if held.size == 1 else None

    def changed(self, op: str, operands: Sequence["StablehloNode"], **attributes: Any) -> "StablehloNode":
        """The same value, made in another way."""
        return replace(self, op=op, operands=tuple(operands), attributes=attributes)


def constant(array: np.ndarray, label: str = "") -> StablehloNode:
    return StablehloNode("constant", (), tuple(array.shape), str(array.dtype), label=label, array=array)


def become(node: StablehloNode, op: str, operands: Sequence[StablehloNode], **attributes: object) -> bool:
    """Make the same value in another way."""
    node.op, node.operands, node.attributes = op, tuple(operands), attributes
    return True


def compact(array: np.ndarray) -> np.ndarray:
    """A constant with broadcast axes of size one."""
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def closure(ends: Sequence[StablehloNode], stop: StablehloNode | None = None) -> list[StablehloNode]:
    """All nodes that others are made of, each after its operands; those behind `stop` left out."""
    found: dict[StablehloNode, None] = {}
    waiting: list[tuple[StablehloNode, Iterator[StablehloNode]]] = []
    for end in ends:
        if end in found:
            continue
        waiting.append((end, iter(() if end is stop else end.operands)))
        while waiting:
            node, rest = waiting[-1]
            following = next((o for o in rest if o not in found), None)
            if following is None:
                found.setdefault(node)
                waiting.pop()
            else:
                waiting.append((following, iter(() if following is stop else following.operands)))
    return list(found)
