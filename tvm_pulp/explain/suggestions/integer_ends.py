"""Change: take and return integers instead of floats that are converted."""

from dataclasses import replace

from tvm_pulp.canonicalize.integer_ends import integer_ends as with_integer_ends
from tvm_pulp.canonicalize.integer_ends import possible_type
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggest_integer_ends import converts
from tvm_pulp.explain.suggestions.base import Change, cycles_of


def integer_ends(base: Compilation) -> Change | None:
    dtype = possible_type(base.imported) if base.options.io is None else None
    if dtype is None:
        return None
    ends = (*base.plan.network.inputs, *base.plan.network.outputs)
    floats = {t.storage for t in ends if t.spec.dtype.startswith("float")}
    return Change(
        "integer-ends",
        f"--io {dtype}: take and return integers, whose scales stand in the header",
        cycles_of(base, lambda layer: converts(layer.layer, floats)),
        lambda found: found.varied(
            options=replace(found.options, io=dtype), imported=with_integer_ends(found.imported, dtype)
        ),
    )
