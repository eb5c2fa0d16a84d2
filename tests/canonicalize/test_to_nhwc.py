"""Channels-last: the answer stays, and transposes appear only where a value enters or leaves a region."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tvm import relax

from tvm_pulp import qnn
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.canonicalize.to_nhwc import ToNhwc
from tvm_pulp.frontend import zoo
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.operator import PREFIX

NONE = qnn.Requant().attributes()
POOL = {"layout": "NCHW", "kernel": [2, 2], "strides": [1, 1], "dilation": [1, 1], "pads": [0, 0, 0, 0]}
AXES = [list(axes) for count in (1, 2, 3, 4) for axes in combinations(range(4), count)]


def build(shape: tuple[int, ...], operators: list[tuple[str, list[Any], dict[str, Any]]]) -> Any:
    """A chain of dialect operators behind one int8 input; extra operands follow the chained value."""
    builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType(shape, "int8"))
    with builder.function("main", [x]):
        with builder.dataflow():
            value = x
            for name, extra, attributes in operators:
                value = builder.emit(builder.normalize(qnn.emit(name, [value, *extra], attributes)))
            result = builder.emit_output(value)
        builder.emit_func_output(result)
    return builder.get()


def operators(module: Any) -> list[str]:
    """Dialect operators of `main` in order."""
    bindings = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return [value.op.name.removeprefix(PREFIX) for value in bindings if qnn.is_qnn(value)]


def check(module: Any, shape: tuple[int, ...]) -> list[str]:
    """Run before and after the pass on the same input; returns the operators after."""
    changed = ToNhwc().run(module)
    x = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    for before, after in zip(interpret(module, [x]), interpret(changed, [x]), strict=True):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(after, before)
    return operators(changed)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_reduction_follows(axes: list[int], keepdims: int) -> None:
    # All axes are longer than one and differ, so that a wrong axis cannot pass unseen.
    attributes = {"kind": "mean", "axes": axes, "keepdims": keepdims}
    found = check(build((2, 3, 5, 6), [("max_pool", [], POOL), ("reduce", [], attributes)]), (2, 3, 5, 6))
    assert found[:3] == ["transpose", "max_pool", "reduce"]
    # The result has to be turned back only if channels and a spatial axis are both left.
    left = [a for a in range(4) if a not in axes]
    assert len(found) == 3 + (1 in left and (2 in left or 3 in left))


def test_global_mean_needs_no_transpose() -> None:
    for name in ("resnet8", "mobilenetv1", "dscnn"):
        module = canonicalize(import_onnx_graph(from_model(zoo.build(name)), ImportOptions()))
        found = operators(module)
        # The one transpose is that of the picture; a single channel needs none.
        assert found.count("transpose") == (0 if name == "dscnn" else 1)
        assert found.count("reduce") == 1


def test_region_has_two_borders() -> None:
    weight = relax.const(np.random.default_rng(1).integers(-8, 8, (4, 3, 3, 3)).astype(np.int8))
    conv = {**NONE, "layout": "NCHW", "strides": [1, 1], "dilation": [1, 1], "pads": [1, 1, 1, 1]}
    conv |= {"groups": 1, "zero_point": 0, "has_bias": 0}
    rule = qnn.Requant("pulp", 6, 0, -128, 127)
    mul, add = (relax.const(np.arange(4, dtype=np.int32) + k) for k in (1, 32))
    chain = [
        ("conv2d", [weight], conv),
        ("requantize", [mul, add], {**rule.attributes(), "zero_point": 0, "axis": 1}),
        ("pad", [], {"before": [0, 1, 2, 0], "after": [0, 0, 1, 1], "value": 3}),
        ("slice", [], {"begin": [0, 4, 0, 1], "stride": [1, -1, 2, 1], "size": [2, 3, 3, 4]}),
        ("max_pool", [], POOL),
    ]
    shape = (2, 3, 5, 6)
    found = check(build(shape, chain), shape)
    assert found == ["transpose", "conv2d", "requantize", "pad", "slice", "max_pool", "transpose"]
