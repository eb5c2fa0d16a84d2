"""The weight memory of several programs: what more than one of them reads lies there once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tvm_pulp.planning.tir import LoweredPlan
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Network, Tensor

# Of constants outside L2.
_ALIGNMENT = 32

Content = tuple[str, bytes]


def content_of(tensor: Tensor) -> Content:
    """Constants with the same content are one."""
    assert tensor.data is not None
    return str(tensor.data.dtype), tensor.data.tobytes()


def packed_bytes(network: Network) -> int:
    """Matrices of a network at as many bits as their values need."""
    constants = {t.storage: t.data for layer in network.layers for t in layer.inputs if t.data is not None}
    return sum(
        data.size * _bits(data) // 8 for data in constants.values() if data.ndim >= 2 and data.dtype.kind in "iu"
    )


def _bits(data: np.ndarray) -> int:
    return max(int(data.max()), -1 - int(data.min()), 0).bit_length() + 1


def spread_programs(programs: Sequence[LoweredPlan], soc: Any) -> list[LoweredPlan] | None:
    """The programs, their weights in the parts of the weight memory that have room; None where there is too little."""
    free = dict(soc.software.weight_parts)
    for bundle in (b for program in programs for b in program.plan.schedule.bundles if b.level in free):
        free[bundle.level] -= bundle.bytes
    known: dict[Content, str] = {}
    made = []
    for program in programs:
        moved = {}
        for tensor, level in program.plan.constants().items():
            if level not in free:
                continue
            content, size = content_of(tensor), -(-tensor.spec.bytes // _ALIGNMENT) * _ALIGNMENT
            if content not in known:
                place = next((part for part in (level, *free) if free[part] >= size), None)
                if place is None:
                    return None
                free[place] -= size
                known[content] = place
            moved[tensor] = known[content]
        made.append(replace(program, tables=Tables(program.plan.with_levels(moved))))
    return made if min(free.values(), default=0) >= 0 else None
