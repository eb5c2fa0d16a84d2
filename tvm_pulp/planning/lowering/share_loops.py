"""Loops of kernels that TVM generated, as loops that the cores share, where their iterations are independent.

All outermost loops of a function must have the same number of iterations, and iteration i of each of them may touch of
every buffer that the function writes only the i-th of as many equal slices: then every core can go through all loops
with the same share of iterations, and no core waits for another.
"""

from dataclasses import dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx

Linear = dict[Any, int]  # coefficient of each variable; of None: the constant


def share_loops(function: Any) -> Any | None:
    """The function with parallel outermost loops, or None where its iterations may depend on each other."""
    statements = _statements(function.body)
    loops = [s for s in statements if type(s).__name__ == "For"]
    # Every core has local buffers of its own. A view is another name of a parameter.
    known = ("For", "AllocBuffer", "DeclBuffer")
    others = [s for s in statements if type(s).__name__ not in known and not _is_nothing(s)]
    extents = {_whole(loop.extent) for loop in loops}
    if others or len(extents) != 1 or (extents.pop() or 0) < 2 or any(_whole(loop.min) != 0 for loop in loops):
        return None
    written = _written(function.body)
    views = [s for s in statements if type(s).__name__ == "DeclBuffer"]
    sources = [v.data.args[0] for v in views]
    if any(b.same_as(other) for n, b in enumerate(sources) for other in (*sources[:n], *written)):
        return None
    slices: dict[Any, set[int]] = {}
    for loop in loops:
        own = _slices(loop, written)
        if own is None:
            return None
        for buffer, size in own:
            slices.setdefault(buffer, set()).add(size)
    if any(len(sizes) != 1 for sizes in slices.values()):
        return None
    parallel = [
        tirx.For(s.loop_var, s.min, s.extent, tirx.ForKind.PARALLEL, s.body) if type(s).__name__ == "For" else s
        for s in statements
    ]
    body = parallel[0] if len(parallel) == 1 else tirx.SeqStmt(parallel)
    return tirx.PrimFunc(list(function.params), body, attrs=function.attrs)


def _statements(body: Any) -> list[Any]:
    """Statements of a function in order, without what only wraps them."""
    kind = type(body).__name__
    if kind == "SeqStmt":
        return [inner for s in body.seq for inner in _statements(s)]
    return _statements(body.body) if kind == "AttrStmt" else [body]


def _is_nothing(s: Any) -> bool:
    return type(s).__name__ == "Evaluate" and type(s.value).__name__ == "IntImm"


def _whole(e: Any) -> int | None:
    return int(e) if type(e).__name__ == "IntImm" else None


def _written(body: Any) -> set[Any]:
    """Buffers that are stored to."""
    found: set[Any] = set()
    tvm_ffi.structural_walk(body, (tirx.BufferStore, lambda s: found.add(s.buffer)))
    return found


@dataclass
class _Access:
    """Accesses of written buffers in one loop, and the ranges of the loops inside it."""

    extents: dict[Any, int] = field(default_factory=dict)
    local: set[Any] = field(default_factory=set)
    places: list[tuple[Any, Linear | None]] = field(default_factory=list)
    is_plain: bool = True


def _gather(loop: Any, written: set[Any]) -> _Access:
    found = _Access()

    def on_for(s: Any) -> None:
        extent = _whole(s.extent)
        if extent is None or _whole(s.min) != 0:
            found.is_plain = False
        else:
            found.extents[s.loop_var] = extent

    def on_view(_: Any) -> None:
        found.is_plain = False

    def on_call(call: Any) -> None:
        # Functions that take addresses may touch anything.
        if str(getattr(call.op, "name", "")).rpartition(".")[2] in ("address_of", "tvm_access_ptr"):
            found.is_plain = False

    def on_store(s: Any) -> None:
        found.places.append((s.buffer, _linear_index(s.buffer, s.indices)))

    def on_load(e: Any) -> None:
        if e.source in written:
            found.places.append((e.source, _linear_index(e.source, e.indices)))

    tvm_ffi.structural_walk(loop, (tirx.For, on_for))
    tvm_ffi.structural_walk(loop, (tirx.AllocBuffer, lambda s: found.local.add(s.buffer)))
    tvm_ffi.structural_walk(loop, (tirx.DeclBuffer, on_view))
    tvm_ffi.structural_walk(loop, (tvm.ir.Call, on_call))
    tvm_ffi.structural_walk(loop, (tirx.BufferStore, on_store))
    tvm_ffi.structural_walk(loop, (tvm.ir.TensorLoad, on_load))
    return found


def _slices(loop: Any, written: set[Any]) -> list[tuple[Any, int]] | None:
    """Written buffers that are not local, with the sizes of their slices; None where an iteration leaves its own."""
    access = _gather(loop, written)
    if not access.is_plain:
        return None
    found = []
    for buffer, place in access.places:
        if buffer in access.local:
            continue
        if place is None:
            return None
        step = place.get(loop.loop_var, 0)
        low = high = place.get(None, 0)
        for variable, factor in place.items():
            if variable is None or variable.same_as(loop.loop_var):
                continue
            if variable not in access.extents:
                return None
            reach = factor * (access.extents[variable] - 1)
            low, high = low + min(0, reach), high + max(0, reach)
        if step <= 0 or low < 0 or high >= step:
            return None
        found.append((buffer, step))
    return found


def _linear_index(buffer: Any, indices: Any) -> Linear | None:
    """The flat row-major index as a sum of products of variables and constants."""
    total: Linear = {}
    for size, index in zip(buffer.shape, indices, strict=True):
        part = _linear(index)
        if part is None:
            return None
        total = {v: f * int(size) for v, f in total.items()}
        for variable, factor in part.items():
            total[variable] = total.get(variable, 0) + factor
    return total


def _linear(e: Any) -> Linear | None:
    kind = type(e).__name__
    if kind == "IntImm":
        return {None: int(e)}
    if kind == "Var":
        return {e: 1}
    if kind == "Cast":
        return _linear(e.value)
    if kind not in ("Add", "Sub", "Mul"):
        return None
    a, b = _linear(e.a), _linear(e.b)
    if a is None or b is None:
        return None
    if kind == "Mul":
        if set(a) <= {None}:
            a, b = b, a
        if not set(b) <= {None}:
            return None
        return {v: f * b.get(None, 0) for v, f in a.items()}
    sign = 1 if kind == "Add" else -1
    total = dict(a)
    for variable, factor in b.items():
        total[variable] = total.get(variable, 0) + sign * factor
    return total
