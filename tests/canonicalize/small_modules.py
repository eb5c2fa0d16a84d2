"""Tiny modules of dialect operators, built by hand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.qnn.operator import PREFIX

PULP = qnn.Requant("pulp", 8, 0, -128, 127, wide=False)


def build(inputs: dict[str, tuple[tuple[int, ...], str]], body: Callable[..., Sequence[Any]]) -> Any:
    """Module whose main takes `inputs`; `body(emit, *variables)` returns what it delivers."""
    builder = relax.BlockBuilder()
    variables = [relax.Var(name, relax.TensorType(shape, dtype)) for name, (shape, dtype) in inputs.items()]

    def emit(name: str, arguments: Sequence[Any], attributes: dict[str, Any] | None = None) -> Any:
        values = [relax.const(a) if isinstance(a, np.ndarray) else a for a in arguments]
        return builder.emit(builder.normalize(qnn.emit(name, values, attributes)))

    with builder.function("main", variables):
        with builder.dataflow():
            results = [builder.emit_output(r) for r in body(emit, *variables)]
        builder.emit_func_output(relax.Tuple(results))
    return builder.get()


def operators(module: Any) -> list[str]:
    """Names of the operators of main, in order."""
    values = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return [v.op.name.removeprefix(PREFIX) for v in values if isinstance(v, relax.Call)]


def scalar(value: int) -> np.ndarray:
    return np.array([value], np.int32)


def requantize(emit: Any, x: Any, mul: int, add: int) -> Any:
    return emit("requantize", [x, scalar(mul), scalar(add)], {**PULP.attributes(), "zero_point": 0, "axis": -1})


def matmul(emit: Any, a: Any, b: Any, mul: int, transpose_b: int = 0) -> Any:
    attributes = {**PULP.attributes(), "zero_point_a": 0, "zero_point_b": 0, "transpose_b": transpose_b}
    return emit("matmul", [a, b, scalar(mul), scalar(128)], attributes)
