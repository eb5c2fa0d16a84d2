"""Batch norms that are written as arithmetic become part of the layer before them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tvm_pulp.frontend.onnx_folded_factors import with_folded_factors
from tvm_pulp.frontend.quantize.float_model import folded

RANDOM = np.random.default_rng(3)
AFFINE = ("Sub", "Mul", "Add", "Div")


WEIGHTS = {"Conv": (5, 8, 3, 3), "ConvTranspose": (8, 5, 3, 3), "MatMul": (8, 5)}


def model(kind: str, shape: tuple[int, ...], read_twice: bool = False, behind: Sequence[str] = AFFINE) -> Any:
    """A layer, a change of layout behind a convolution, and numbers of this shape behind it."""
    held = {"w": RANDOM.normal(size=WEIGHTS[kind])}
    held |= {op: RANDOM.uniform(0.5, 2, shape) for op in behind}
    given = (4, 8) if kind == "MatMul" else (1, 8, 6, 6)
    nodes = [helper.make_node(kind, ["x", "w"], ["layer"], name="layer")]
    if kind != "MatMul":
        nodes.append(helper.make_node("Transpose", ["layer"], ["turned"], perm=[0, 2, 3, 1]))
    last = nodes[-1].output[0]
    for op in behind:
        nodes.append(helper.make_node(op, [last, op] if op != "Mul" else [op, last], [f"after_{op}"]))
        last = f"after_{op}"
    nodes.append(helper.make_node("Relu", [last], ["y"]))
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("y", *["after_Mul"] * read_twice)]
    constants = [numpy_helper.from_array(a.astype(np.float32), n) for n, a in held.items()]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, given)], outputs, constants
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("behind", [AFFINE, ("Sub",), ("Add",)])
@pytest.mark.parametrize("shape", [(5,), (1,), ()])
def test_the_same_values_in_fewer_nodes(kind: str, behind: Sequence[str], shape: tuple[int, ...]) -> None:
    source = model(kind, shape, behind=behind)
    untouched, made = source.SerializeToString(), with_folded_factors(source)
    operators = [n.op_type for n in made.graph.node]
    assert operators == (["MatMul", "Add", "Relu"] if kind == "MatMul" else [kind, "Transpose", "Relu"])
    # The last value is the same one, so it is called the same.
    assert made.graph.node[-1].input[0] == f"after_{behind[-1]}"
    x = RANDOM.normal(size=(4, 8) if kind == "MatMul" else (1, 8, 6, 6)).astype(np.float32)
    wanted, found = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (source, made))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5) and source.SerializeToString() == untouched


@pytest.mark.parametrize("kind", WEIGHTS)
def test_changes_of_type_that_change_nothing(kind: str) -> None:
    """As Keras' layers on PyTorch write them before and behind every node."""
    source = model(kind, (5,))
    for place in range(len(source.graph.node) - 1, 0, -1):
        node = source.graph.node[place]
        value = next(i for i in node.input if i not in AFFINE)
        node.input[list(node.input).index(value)] = f"{value}.cast"
        source.graph.node.insert(place, helper.make_node("Cast", [value], [f"{value}.cast"], to=TensorProto.FLOAT))
    made = with_folded_factors(source)
    assert not {n.op_type for n in made.graph.node} & {"Sub", "Mul", "Div"}
    x = RANDOM.normal(size=(4, 8) if kind == "MatMul" else (1, 8, 6, 6)).astype(np.float32)
    wanted, found = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (source, made))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_bias_whose_shape_is_computed() -> None:
    """As PyTorch writes that of Keras' layers: the size of the result's last axis is asked for at run time."""
    pytest.importorskip("onnxruntime", reason="quantize: onnxruntime")
    source = model("Conv", (5,), behind=("Add", "Sub", "Mul"))
    added = next(n for n in source.graph.node if n.op_type == "Add")
    added.input[1] = "shaped"
    further = [
        helper.make_node("Shape", ["turned"], ["sizes"]),
        helper.make_node("Gather", ["sizes", "last"], ["size"], axis=0),
        helper.make_node("Concat", ["ones", "size"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["Add", "wanted"], ["shaped"]),
    ]
    for number, node in enumerate(further):
        source.graph.node.insert(2 + number, node)
    numbers = {"last": [3], "ones": [1, 1, 1]}
    source.graph.initializer.extend(numpy_helper.from_array(np.array(v, np.int64), n) for n, v in numbers.items())
    made = folded(source)
    assert [n.op_type for n in made.graph.node] == ["Conv", "Transpose", "Relu"]
    x = RANDOM.normal(size=(1, 8, 6, 6)).astype(np.float32)
    wanted, found = (ReferenceEvaluator(m).run(None, {"x": x})[0] for m in (source, made))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_what_is_read_elsewhere_stays() -> None:
    made = with_folded_factors(model("Conv", (5,), read_twice=True))
    assert [n.op_type for n in made.graph.node] == ["Conv", "Transpose", "Add", "Div", "Relu"]
    assert "after_Mul" in made.graph.node[1].output


def test_numbers_along_another_axis_stay() -> None:
    made = with_folded_factors(model("Conv", (4, 1)))
    assert [n.op_type for n in made.graph.node][2:] == [*AFFINE, "Relu"]
