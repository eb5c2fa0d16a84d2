"""Rounded values of a training loop are integers of the program: the same ones, and nothing else is taken for them."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tvm_pulp
from tvm_pulp.frontend.onnx_fake_quantize import with_quantize_pairs
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.weight_grid import grid_of

Nodes = list[tuple[str, str, str]]


def model_of(lines: Nodes, size: int = 64, **constants: Any) -> Any:
    """Nodes as (operator, operands, result), from 'x' to 'y'."""
    held = {n: np.asarray(v, np.float32) for n, v in constants.items()}
    kind = onnx.TensorProto.FLOAT
    nodes = [helper.make_node(op, given.split(), [made], name=made) for op, given, made in lines]
    ends = [helper.make_tensor_value_info(n, kind, [1, size]) for n in ("x", "y")]
    tensors = [numpy_helper.from_array(v, n) for n, v in held.items()]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def operators(model: Any) -> list[str]:
    return [n.op_type for n in with_quantize_pairs(from_model(model)).model.graph.node]


PAIR = ["QuantizeLinear", "DequantizeLinear"]
LIMITED = ["Clip", *PAIR]
# With the codes that come out, from an input in steps.
KNOWN: dict[str, tuple[Nodes, dict[str, float], list[str], float, Any]] = {
    "plain": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": 0.3, "l": -128, "h": 127},
        PAIR,
        0.3,
        lambda q: np.clip(q, -128, 127),
    ),
    "few bits": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Max", "b l", "c"), ("Min", "c h", "d"), ("Mul", "d s", "y")],
        {"s": 0.1, "l": -8, "h": 7},
        LIMITED,
        0.1,
        lambda q: np.clip(q, -8, 7),
    ),
    "a zero point": (
        [
            *(("Div", "x s", "a"), ("Round", "a", "b"), ("Add", "b z", "c"), ("Clip", "c l h", "d")),
            *(("Sub", "d z", "e"), ("Mul", "e s", "y")),
        ],
        {"s": 0.07, "z": 3, "l": 0, "h": 255},
        PAIR,
        0.07,
        lambda q: np.clip(q, -3, 252),
    ),
    "cut off first": (
        [("Clip", "x l h", "c"), ("Div", "c s", "a"), ("Round", "a", "b"), ("Mul", "b s", "y")],
        {"s": 0.25, "l": -32, "h": 31.75},
        PAIR,
        0.25,
        lambda q: np.clip(q, -128, 127),
    ),
    "straight through": (
        [
            *(("Relu", "x", "r"), ("Min", "r h", "c"), ("Div", "c s", "a"), ("Round", "a", "b")),
            *(("Mul", "b s", "q"), ("Sub", "q c", "e"), ("Add", "c e", "y")),
        ],
        {"s": 0.125, "h": 255 / 8},
        PAIR,
        0.125,
        lambda q: np.clip(q, 0, 255),
    ),
    "a factor": (
        [("Mul", "s x", "a"), ("Clip", "a l h", "b"), ("Round", "b", "c"), ("Div", "c s", "y")],
        {"s": 16, "l": -127, "h": 127},
        LIMITED,
        1 / 16,
        lambda q: np.clip(q, -127, 127),
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", KNOWN)
def test_groups_that_quantize(name: str) -> None:
    """With every tie and both sides of it, on the chip."""
    lines, constants, wanted, scale, codes = KNOWN[name]
    model = model_of(lines, 1200, **constants)
    assert operators(model) == wanted
    steps = np.arange(-300, 300, 0.5)
    x = (steps.astype(np.float32) * np.float32(scale))[None]
    (made,) = tvm_pulp.compile(model, "uma-neureka").run([x]).outputs.values()
    expected = codes(np.rint(x / np.float32(scale))).astype(np.float32) * np.float32(scale)
    assert np.array_equal(made, expected)


OTHERS: dict[str, tuple[Nodes, dict[str, Any]]] = {
    "no limits": ([("Div", "x s", "a"), ("Round", "a", "b"), ("Mul", "b s", "y")], {"s": 0.3}),
    "more than eight bits": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": 0.3, "l": -200, "h": 200},
    ),
    "limits between steps": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": 0.3, "l": -7.5, "h": 7},
    ),
    "a factor that is no divisor": (
        [("Mul", "x s", "a"), ("Round", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": 10, "l": -128, "h": 127},
    ),
    "a scale per element": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": np.linspace(0.1, 0.2, 64)[None], "l": -128, "h": 127},
    ),
    "half of a zero point": (
        [("Div", "x s", "a"), ("Round", "a", "b"), ("Add", "b z", "c"), ("Clip", "c l h", "d"), ("Mul", "d s", "y")],
        {"s": 0.3, "z": 4, "l": 0, "h": 255},
    ),
    "rounded down": (
        [("Div", "x s", "a"), ("Floor", "a", "b"), ("Clip", "b l h", "c"), ("Mul", "c s", "y")],
        {"s": 0.3, "l": -128, "h": 127},
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", OTHERS)
def test_groups_that_do_not(name: str) -> None:
    lines, constants = OTHERS[name]
    model = model_of(lines, **constants)
    assert not {*operators(model)} & {*PAIR}
    x = np.random.default_rng(0).normal(0, 30, (1, 64)).astype(np.float32)
    (made,) = tvm_pulp.compile(model).run([x]).outputs.values()
    assert np.allclose(made, evaluated(model, x), rtol=1e-6)


def evaluated(model: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(ReferenceEvaluator(model).run(None, {"x": x})[0])


@pytest.mark.parametrize("axis", [0, 1, 3])
def test_weights_on_a_grid(axis: int) -> None:
    """Scales of any kind, codes up to both ends, a channel of zeros: the products are the weights."""
    random = np.random.default_rng(axis)
    codes = random.integers(-128, 128, (5, 4, 3, 6)).astype(np.float32)
    scale = random.uniform(1e-4, 1, codes.shape[axis]).astype(np.float32)
    spread = [-1 if a == axis else 1 for a in range(4)]
    weight = codes * scale.reshape(spread)
    np.moveaxis(weight, axis, 0)[0] = 0
    found = grid_of(weight, axis)
    assert found is not None and found.integers.dtype == np.int8
    assert np.array_equal(found.integers.astype(np.float32) * found.scale.reshape(spread), weight)


def test_weights_on_no_grid() -> None:
    weight = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32)
    assert grid_of(weight, 0) is None
    weight[:] = np.nan
    assert grid_of(weight, 0) is None
