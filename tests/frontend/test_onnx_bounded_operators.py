"""Operators whose size constants decide, against onnxruntime: floats, and integers of a quantized graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators
from tvm_pulp import compile
from tvm_pulp.errors import UserError

pytest.importorskip("onnxruntime")
Source = Callable[..., str]
EQUATIONS = ("bhid,bhjd->bhij", "...ij->...ji", "bij,bjk->bik", "iji->j", "ij,kj,k->i", "ij,ij->", "bi,bi->bi", "ab,cd")
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]


def _updates(g: Builder, *shape: int) -> str:
    return g.constant(g.rng.integers(-3, 4, shape).astype(np.float32))


def _results(g: Builder, source: Source) -> list[str]:
    """One branch per operator; `source` gives an activation of a shape."""

    def i64(*values: int) -> str:
        return g.constant(np.array(values, np.int64))

    x = source(3, 4, 7)
    found = [
        *g.node("TopK", [x, i64(3)], 2),
        *g.node("TopK", [x, i64(4)], 2, axis=1, largest=0),
        g.node("ArgMax", [x], axis=1),
        g.node("ArgMin", [x], axis=2, keepdims=0, select_last_index=1),
        g.node("CumSum", [x, g.constant(np.array(1))], reverse=1),
        g.node("CumSum", [x, g.constant(np.array(-1))], exclusive=1),
        g.node("ScatterND", [x, g.constant(np.array([[0, 1], [-1, 3], [0, 1]])), _updates(g, 3, 7)]),
        g.node("ScatterND", [x, g.constant(np.array([[2], [2]])), _updates(g, 2, 4, 7)], reduction="add"),
        g.node("ScatterElements", [x, g.constant(np.array([[[1, -2, 3]]])), _updates(g, 1, 1, 3)], axis=2),
        g.node("Compress", [x, g.constant(np.array([True, False, True, True]))], axis=1),
        g.node("OneHot", [g.node("ArgMax", [x], axis=2, keepdims=0), i64(5), _updates(g, 2)], axis=1),
        g.node("NonMaxSuppression", [source(1, 12, 4), source(1, 2, 12), i64(3), g.constant(np.float32(0.4))]),
    ]
    # Which entries are largest is known when they run; where a constant is not zero is known before.
    mask = g.node("NonZero", [g.constant(np.array([[0, 1, 0, 1, 1, 0, 1]]))])
    return [*found, g.node("Gather", [x, g.node("Gather", [mask, i64(1)], axis=0)], axis=2)]


def _model(g: Builder, results: list[str]) -> Any:
    graph = helper.make_graph(
        g.nodes, "g", g.inputs, [helper.make_empty_tensor_value_info(r) for r in results], g.initializers
    )
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=OPSETS, ir_version=9))
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model


def _float_source(g: Builder) -> Source:
    def make(*shape: int) -> str:
        name = g.name("x")
        g.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        # Quarters: many are equal, and every sum is exact.
        g.feeds[name] = (g.rng.integers(-9, 10, shape) / 4).astype(np.float32)
        return name

    return make


def _source(g: Builder, kind: str) -> Source:
    return _float_source(g) if kind == "float" else lambda *shape: g.activation(list(shape), kind)


def _branches(kind: str) -> tuple[Any, Builder]:
    g = Builder(np.random.default_rng(5))
    return _model(g, _results(g, _source(g, kind))), g


def _compare(found: np.ndarray, wanted: np.ndarray, name: str) -> None:
    if found.shape != wanted.shape:
        # Boxes that were not chosen.
        assert found.shape[1:] == wanted.shape[1:] == (3,) and (found[len(wanted) :] == -1).all(), name
        found = found[: len(wanted)]
    np.testing.assert_array_equal(found, wanted, err_msg=name)


@pytest.mark.parametrize("kind", ["float", "int8", "uint8"])
def test_reference(kind: str) -> None:
    model, g = _branches(kind)
    module = canonical(model)
    names = [o.name for o in model.graph.output]
    for name, found, wanted in zip(names, dialect_run(module, g.feeds), onnxruntime_run(model, g.feeds), strict=True):
        _compare(found, wanted, name)
    assert {"top_k", "take_along", "cumulative_sum", "scatter", "non_max_suppression"} <= operators(module)


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [{}, {"soc": "siracusa"}], ids=["host", "cluster"])
@pytest.mark.parametrize("kind", ["float", "int8"])
def test_compiled(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    model, g = _branches(kind)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    outputs = compile(path, **options).run(g.feeds).outputs
    for info, wanted in zip(model.graph.output, onnxruntime_run(model, g.feeds), strict=True):
        _compare(outputs[info.name], wanted, info.name)


def test_integers_are_ordered_as_integers() -> None:
    g = Builder(np.random.default_rng(0))
    values, places = g.node("TopK", [g.activation([4, 9], "int8"), g.constant(np.array([2]))], 2)
    module = canonical(_model(g, [places, values]))
    (top,) = [b.value for b in module["main"].body.blocks[0].bindings if "top_k" in str(getattr(b.value, "op", ""))]
    assert str(top.args[0].ty.dtype) == "int8"


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation: str) -> None:
    sizes = dict(zip("abcdhijk", (2, 3, 2, 4, 2, 3, 5, 3), strict=True))
    for kind in ("float", "int8"):
        g = Builder(np.random.default_rng(1))
        source = _source(g, kind)
        parts = [p.replace("...", "ab") for p in equation.partition("->")[0].split(",")]
        result = g.node("Einsum", [source(*(sizes[n] for n in p)) for p in parts], equation=equation)
        model = g.model([result], TensorProto.FLOAT) if kind == "float" else g.typed_model([g.quantized(result)])
        (wanted,), module = onnxruntime_run(model, g.feeds), canonical(model)
        (found,) = dialect_run(module, g.feeds)
        assert found.shape == wanted.shape
        if kind == "float":
            np.testing.assert_array_equal(found, wanted)
        else:
            assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1
        assert equation != EQUATIONS[0] or "matmul" in {n.removeprefix("relax.") for n in operators(module)}


@pytest.mark.parametrize(
    ("op", "operands", "message"),
    [
        ("NonZero", 1, r"node 'it': NonZero has no fixed size: cut the graph before it, at 'x"),
        ("Unique", 1, r"node 'it': Unique has no fixed size: cut the graph before it"),
        ("TopK", 2, r"node 'it': TopK has no fixed size, 'n' decides it at run time: make it a constant, or cut"),
        ("Compress", 2, r"node 'it': Compress has no fixed size, 'n' decides it"),
    ],
)
def test_what_has_no_size_is_refused(op: str, operands: int, message: str) -> None:
    g = Builder(np.random.default_rng(0))
    x, kind = _float_source(g)(6), TensorProto.BOOL if op == "Compress" else TensorProto.INT64
    if operands == 2:
        g.inputs.append(helper.make_tensor_value_info("n", kind, [6 if op == "Compress" else 1]))
    result = g.node(op, [x, "n"][:operands], 2 if op == "TopK" else 1)
    g.nodes[-1].name = "it"
    with pytest.raises(UserError, match=message):
        canonical(g.model([result[0] if op == "TopK" else result], TensorProto.FLOAT))


@pytest.mark.parametrize(
    ("op", "operands", "message"),
    [
        ("TopK", [np.array([9])], r"\(TopK\): k is 9 for an axis of 6 elements"),
        ("ScatterND", [np.array([[1]]), np.zeros((2, 6), np.float32)], r"updates of shape \[2, 6\]"),
        ("ScatterElements", [np.array([[7]]), np.zeros((1, 1), np.float32)], "an index lies outside axes of"),
        ("Compress", [np.array([False])], "its condition picks nothing"),
    ],
)
def test_operands_that_do_not_fit(op: str, operands: list[np.ndarray], message: str) -> None:
    g = Builder(np.random.default_rng(0))
    result = g.node(op, [_float_source(g)(4, 6), *map(g.constant, operands)], 2 if op == "TopK" else 1)
    with pytest.raises(UserError, match=message):
        canonical(g.model([result[0] if op == "TopK" else result], TensorProto.FLOAT))
