"""Runs a module of the dialect with the numpy references: the golden model of everything emitted."""

from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.qnn.abandoned_builder import closed_on_error
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.operator import OPERATORS, Arrays, attributes, is_qnn, name_of, relax_name, spec_of

_COMPILED: dict[str, Any] = {}
_KEPT = 512


def interpret(module: Any, inputs: Arrays) -> list[np.ndarray]:
    """Outputs of `main` for the given inputs; operators outside the dialect are run by TVM."""
    return _interpret(module, inputs)[1]


def interpret_all(module: Any, inputs: Arrays) -> dict[str, np.ndarray]:
    """Inputs and all that `main` computes of them, by the names of its variables, in order."""
    values, _ = _interpret(module, inputs)
    return {variable.name: value for variable, value in values.items() if isinstance(value, np.ndarray)}


def _interpret(module: Any, inputs: Arrays) -> tuple[dict[Any, Any], list[np.ndarray]]:
    """Values of all variables, and what is returned."""
    function = module["main"]
    values: dict[Any, Any] = dict(zip(function.params, inputs, strict=True))

    def evaluate(expression: Any) -> Any:
        if isinstance(expression, relax.Var):
            return values[expression]
        if isinstance(expression, tvm.ir.GenericConst):
            return expression.value.numpy()
        if isinstance(expression, relax.Tuple):
            return [evaluate(f) for f in expression.fields]
        if is_qnn(expression):
            operator = OPERATORS[name_of(expression)]
            return operator.reference(attributes(expression), [evaluate(a) for a in expression.args])
        if relax_name(expression) == "relax.reshape":
            return evaluate(expression.args[0]).reshape(spec_of(expression).shape)
        if isinstance(expression, relax.TupleGetItem):
            return evaluate(expression.tuple_value)[expression.index]
        if isinstance(expression, relax.Call):
            return run_call(module, expression, [evaluate(t) for a in expression.args for t in tensors(a)])
        raise TypeError(f"the interpreter does not know {expression}")

    for binding in bindings_of(function):
        values[binding.var] = evaluate(binding.value)
    result = evaluate(function.body.body)
    return values, result if isinstance(result, list) else [result]


def run_call(module: Any, call: Any, values: list[np.ndarray]) -> Any:
    """Result of a call outside the dialect, by TVM's own compiler (a list for a tuple); `values` are its tensors."""
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
