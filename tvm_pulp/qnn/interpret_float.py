"""Runs the operators the dialect does not know, one by one, with TVM's own compiler."""

from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.qnn.abandoned_builder import closed_on_error

_COMPILED: dict[str, Any] = {}
_KEPT = 512


def run_call(module: Any, call: Any, values: list[np.ndarray]) -> Any:
    """Result of one Relax call (a list for a tuple); `values` are its tensors in the order they appear."""
    parameters: list[Any] = []

    def parameter(expression: Any) -> Any:
        if isinstance(expression, relax.Tuple):
            return relax.Tuple([parameter(f) for f in expression.fields])
        if isinstance(expression, relax.Var | tvm.ir.GenericConst) and isinstance(expression.ty, relax.TensorType):
            parameters.append(relax.Var(f"p{len(parameters)}", expression.ty))
            return parameters[-1]
        return expression

    arguments = [parameter(a) for a in call.args]
    builder = relax.BlockBuilder()
    with closed_on_error(builder), builder.function("main", parameters):
        with builder.dataflow():
            result = builder.emit_output(relax.Call(call.op, arguments, call.attrs, call.ty_args))
        builder.emit_func_output(result)
    single = builder.get()
    for name, function in module.functions.items():
        if name.name_hint != "main":
            single[name] = function
    outcome = _machine(single)["main"](*(tvm.runtime.tensor(np.array(v, order="C")) for v in values))
    return outcome.numpy() if hasattr(outcome, "numpy") else [o.numpy() for o in outcome]


def _machine(module: Any) -> Any:
    """The compiled module; networks repeat their layers, so equal ones are compiled once."""
    text = module.script(show_meta=True)
    if text not in _COMPILED:
        if len(_COMPILED) >= _KEPT:
            _COMPILED.clear()
        _COMPILED[text] = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    return _COMPILED[text]


def tensors(expression: Any) -> list[Any]:
    """The tensor operands of a call, in the order they appear."""
    if isinstance(expression, relax.Tuple):
        return [t for f in expression.fields for t in tensors(f)]
    is_tensor = isinstance(expression, relax.Var | tvm.ir.GenericConst)
    return [expression] if is_tensor and isinstance(expression.ty, relax.TensorType) else []
