"""Loops of kernels that TVM generated, as loops that the cores share, where their iterations are independent.

All outermost loops of a function must have the same number of iterations, and iteration i of each of them may touch of
every buffer that the function writes only the i-th of as many equal slices: then every core can go through all loops
with the same share of iterations, and no core waits for another.
"""

from collections.abc import Iterator
from typing import Any

import tvm
import tvm_ffi
from tvm import sym, tirx

from tvm_pulp.canonicalize.match import or_none, require


@or_none
def share_loops(function: Any) -> Any:
    """The function with parallel outermost loops, or None where its iterations may depend on each other."""
    statements = _statements(function.body)
    loops = [s for s in statements if isinstance(s, tirx.For)]
    # Every core has local buffers of its own. A view is another name of a parameter.
    known = (tirx.For, tirx.AllocBuffer, tirx.DeclBuffer)
    require(all(isinstance(s, known) or _is_nothing(s) for s in statements))
    extents = {_whole(loop.extent) for loop in loops}
    require(len(extents) == 1 and extents.pop() >= 2 and all(_whole(loop.min) == 0 for loop in loops))
    written: set[Any] = set()
    tvm_ffi.structural_walk(function.body, (tirx.BufferStore, lambda s: written.add(s.buffer)))
    sources = [s.data.args[0] for s in statements if isinstance(s, tirx.DeclBuffer)]
    require(not any(b.same_as(other) for n, b in enumerate(sources) for other in (*sources[:n], *written)))
    slices: dict[Any, int] = {}
    for loop in loops:
        for buffer, size in _slices(loop, written):
            require(slices.setdefault(buffer, size) == size)
    parallel = [
        tirx.For(s.loop_var, s.min, s.extent, tirx.ForKind.PARALLEL, s.body) if isinstance(s, tirx.For) else s
        for s in statements
    ]
    body = parallel[0] if len(parallel) == 1 else tirx.SeqStmt(parallel)
    return tirx.PrimFunc(list(function.params), body, attrs=function.attrs)


def _statements(body: Any) -> list[Any]:
    """Statements of a function in order, without what only wraps them."""
    if isinstance(body, tirx.SeqStmt):
        return [inner for s in body.seq for inner in _statements(s)]
    return _statements(body.body) if isinstance(body, tirx.AttrStmt) else [body]


def _is_nothing(s: Any) -> bool:
    return isinstance(s, tirx.Evaluate) and type(s.value).__name__ == "IntImm"


def _whole(e: Any) -> int:
    require(type(e).__name__ == "IntImm")
    return int(e)


def _slices(loop: Any, written: set[Any]) -> Iterator[tuple[Any, int]]:
    """Written buffers that are not local, with the sizes of their slices, which no iteration may leave."""
    kinds = (tirx.For, tirx.AllocBuffer, tirx.DeclBuffer, tvm.ir.Call, tirx.BufferStore, tvm.ir.TensorLoad)
    found: dict[Any, list[Any]] = {kind: [] for kind in kinds}
    tvm_ffi.structural_walk(loop, [(kind, nodes.append) for kind, nodes in found.items()])
    # Functions that take addresses may touch anything.
    called = {str(getattr(call.op, "name", "")).rpartition(".")[2] for call in found[tvm.ir.Call]}
    require(not found[tirx.DeclBuffer] and not called & {"address_of", "tvm_access_ptr"})
    extents = {s.loop_var: _whole(s.extent) for s in found[tirx.For]}
    require(all(_whole(s.min) == 0 for s in found[tirx.For]))
    local = {s.buffer for s in found[tirx.AllocBuffer]}
    places = [(s.buffer, s.indices) for s in found[tirx.BufferStore]]
    places += [(e.source, e.indices) for e in found[tvm.ir.TensorLoad] if e.source in written]
    for buffer, indices in places:
        if buffer in local:
            continue
        place: Any = tirx.const(0, "int32")
        for size, index in zip(buffer.shape, indices, strict=True):
            place = place * int(size) + index
        *factors, first = map(_whole, sym.detect_linear_equation(place, list(extents)) or [None])
        steps = dict(zip(extents, factors, strict=True))
        step = steps.pop(loop.loop_var)
        reaches = [factor * (extents[variable] - 1) for variable, factor in steps.items()]
        low, high = (first + sum(limit(0, reach) for reach in reaches) for limit in (min, max))
        require(step > 0 and low >= 0 and high < step)
        yield buffer, step
