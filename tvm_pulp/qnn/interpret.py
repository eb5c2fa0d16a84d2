"""Runs a module of the dialect with the numpy references: the golden model of everything emitted."""

from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvm_pulp.qnn.interpret_float import run_call, tensors
from tvm_pulp.qnn.operator import OPERATORS, PREFIX, Arrays, attributes, is_qnn, spec_of


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
            operator = OPERATORS[expression.op.name.removeprefix(PREFIX)]
            return operator.reference(attributes(expression), [evaluate(a) for a in expression.args])
        if isinstance(expression, relax.Call) and expression.op.name == "relax.reshape":
            return evaluate(expression.args[0]).reshape(spec_of(expression).shape)
        if isinstance(expression, relax.TupleGetItem):
            return evaluate(expression.tuple_value)[expression.index]
        if isinstance(expression, relax.Call):
            operands = [t for a in expression.args for t in tensors(a)]
            return run_call(module, expression, [evaluate(t) for t in operands])
        raise TypeError(f"the interpreter does not know {expression}")

    for block in function.body.blocks:
        for binding in block.bindings:
            values[binding.var] = evaluate(binding.value)
    result = evaluate(function.body.body)
    return values, result if isinstance(result, list) else [result]
