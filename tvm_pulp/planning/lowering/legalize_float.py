"""Operators the dialect does not know stay ordinary Relax; TVM lowers them to loops here.

Large temporaries of such kernels become parameters: they are planned in the arena, never on a stack.
"""

from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm import relax, s_tir, tirx

from tvm_pulp.canonicalize.qdq_operands import RESHAPES
from tvm_pulp.canonicalize.rewriter import integers
from tvm_pulp.frontend.library_errors import last_words, refuse_library_errors
from tvm_pulp.planning.lowering.float_layers import FloatLayers
from tvm_pulp.planning.lowering.float_operators import LOWERINGS
from tvm_pulp.planning.lowering.join_quantize import JoinQuantize
from tvm_pulp.planning.lowering.join_takes import JoinTakes
from tvm_pulp.planning.lowering.merge_products import MergeProducts
from tvm_pulp.planning.lowering.share_loops import share_loops
from tvm_pulp.qnn.operator import OPERATORS, PREFIX
from tvm_pulp.qnn.tensor_spec import TensorSpec

# Temporaries up to this size stay local variables of the kernel.
_LOCAL_BYTES = 64


@dataclass(frozen=True)
class LoweredFunction:
    """A lowered function and the workspaces it takes after its operands."""

    function: Any
    workspaces: tuple[TensorSpec, ...]
    # Cores share its outermost loops.
    parallel: bool


def legalize_float(module: Any) -> Any:
    """Everything outside the dialect as its float layers, and what they do not know as `call_tir`."""
    for step in (FloatLayers(), MergeProducts(), JoinQuantize(), JoinTakes()):
        module = step.run(module)
    skip = [*(PREFIX + name for name in OPERATORS), *RESHAPES]
    # TVM's lowering rules assert on what they do not support, in many classes.
    refused = "an operator outside the integer dialect has no C form"
    with refuse_library_errors(refused, ": replace it", last_words), tvm.target.Target("c"):
        module = relax.transform.LegalizeOps(LOWERINGS, skip_ops=skip)(module)
    return relax.transform.DeadCodeElimination()(module)


class LoweredKernels:
    """Lowered forms of PrimFuncs, each made once; a module that was changed has most of them from before."""

    def __init__(self) -> None:
        self._known: dict[Any, LoweredFunction] = {}

    def of(self, module: Any) -> dict[str, LoweredFunction]:
        """Lowered form of every PrimFunc of a module, by name."""
        functions = {gv: f for gv, f in module.functions.items() if isinstance(f, tirx.PrimFunc)}
        new = {gv: f for gv, f in functions.items() if f not in self._known}
        made: dict[str, LoweredFunction] = {}
        for narrow in (True, False):
            alike = {gv: f for gv, f in new.items() if _holds_wide_integers(f) != narrow}
            made |= _lowered(alike, narrow_index=narrow)
        self._known |= {f: made[gv.name_hint] for gv, f in new.items()}
        return {gv.name_hint: self._known[f] for gv, f in functions.items()}


def _holds_wide_integers(function: Any) -> bool:
    """Tell whether a kernel's data are 64-bit integers (token numbers, positions): its indices must stay wide too."""
    found = [str(getattr(p, "dtype", "")) in ("int64", "uint64") for p in function.params]

    def on_store(store: Any) -> None:
        found.append(str(store.buffer.dtype) in ("int64", "uint64"))

    tvm_ffi.structural_walk(function.body, (tirx.BufferStore, on_store))
    return any(found)


def _lowered(functions: dict[Any, Any], *, narrow_index: bool) -> dict[str, LoweredFunction]:
    if not functions:
        return {}
    s, x = s_tir.transform, tirx.transform
    lowered = tvm.transform.Sequential(
        [
            x.BindTarget(tvm.target.Target("c").with_host("c")),
            s.CanonicalizeLoop(),
            s.LowerInitBlock(),
            s.PlanAndUpdateBufferAllocationLocation(),
            s.ConvertBlocksToOpaque(),
            s.CompactBufferAllocation(),
            s.LowerMatchBuffer(),
            s.StmtSimplify(),
            s.LowerOpaqueBlock(),
            x.FlattenBuffer(),
            *([x.ForceNarrowIndexToInt32()] if narrow_index else []),
            s.LoopPartition(),
            x.VectorizeLoop(False),
            x.StorageRewrite(),
            x.UnrollLoop(),
            s.RenormalizeSplitPattern(),
            x.StmtSimplify(),
            x.RemoveNoOp(),
            s.RewriteUnsafeSelect(),
        ]
    )(tvm.IRModule(functions))
    return {gv.name_hint: _plan_out(f) for gv, f in lowered.functions.items()}


def _plan_out(function: Any) -> LoweredFunction:
    """Turn large allocations into parameters."""
    spaces: list[TensorSpec] = []
    parameters = list(function.params)

    def on_allocation(node: Any) -> Any:
        spec = TensorSpec(tuple(integers(node.buffer.shape)), str(node.buffer.dtype))
        if spec.bytes <= _LOCAL_BYTES:
            return node
        spaces.append(spec)
        parameters.append(node.buffer)
        return tirx.Evaluate(tirx.const(0, "int32"))

    body = tvm_ffi.structural_map(function.body, [(tirx.AllocBuffer, on_allocation)])
    planned = tirx.PrimFunc(parameters, body, attrs=function.attrs)
    shared = share_loops(planned)
    return LoweredFunction(planned if shared is None else shared, tuple(spaces), shared is not None)
