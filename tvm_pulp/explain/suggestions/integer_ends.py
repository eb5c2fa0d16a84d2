"""Change: take and return integers instead of floats that are converted."""

from __future__ import annotations

from dataclasses import replace

from tvm_pulp.canonicalize.integer_ends import integer_ends as with_integer_ends
from tvm_pulp.canonicalize.integer_ends import possible_type
from tvm_pulp.explain.suggest_integer_ends import converts
from tvm_pulp.explain.suggestions.base import Base, Change, planned_cycles


def integer_ends(base: Base) -> Change | None:
    dtype = possible_type(base.imported) if base.options.io is None else None
    if dtype is None:
        return None
    ends = (*base.plan.network.inputs, *base.plan.network.outputs)
    floats = {t.storage for t in ends if t.spec.dtype.startswith("float")}
    return Change(
        "integer-ends",
        f"--io {dtype}: take and return integers, whose scales stand in the header",
        base.cycles_of(lambda layer: converts(layer.layer, floats)),
        lambda options: planned_cycles(replace(options, io=dtype), with_integer_ends(base.imported, dtype)),
    )
