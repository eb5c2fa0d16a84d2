"""Operators that exporters and onnxruntime's optimizers write beside the common ones, against onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.frontend import quantized_onnx
from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network

pytest.importorskip("onnxruntime")


def _x(g: Builder, *shape: int) -> str:
    return g.activation(list(shape), "int8")


def _vector(g: Builder, size: int, centre: float = 0.0) -> str:
    return g.constant((centre + 0.2 * g.rng.normal(size=size)).astype(np.float32))


def _node(op: str, shape: tuple[int, ...], *operands: Any, **attributes: Any) -> Callable[[Builder], Any]:
    """A node of one activation and constants."""
    return lambda g: g.node(op, [_x(g, *shape), *(g.constant(np.asarray(o)) for o in operands)], **attributes)


def _attention(g: Builder, **attributes: Any) -> Any:
    return g.node("Attention", [_x(g, 1, 4, 5, 8), _x(g, 1, 2, 6, 8), _x(g, 1, 2, 6, 8)], **attributes)


def _skip(op: str, bias: bool) -> Callable[[Builder], Any]:
    def build(g: Builder) -> Any:
        operands = [_x(g, 1, 3, 8), _x(g, 1, 3, 8), _vector(g, 8, 1.0)]
        operands += [_vector(g, 8)] if op == "SkipLayerNormalization" else []
        operands += [_vector(g, 8)] if bias else []
        results = g.node(op, operands, outputs=4, domain="com.microsoft", epsilon=1e-5)
        # Mean and deviation are names that nothing reads.
        g.nodes[-1].output[1:3] = ["", ""]
        return [results[0], results[3]]

    return build


CASES: dict[str, tuple[int, Callable[[Builder], Any]]] = {
    "split_by_count": (20, lambda g: g.node("Split", [_x(g, 1, 5, 4)], outputs=2, axis=1, num_outputs=2)),
    "split_by_sizes": (17, lambda g: g.node("Split", [_x(g, 1, 5, 4), g.constant(np.array([1, 4]))], 2, axis=1)),
    "expand": (17, _node("Expand", (1, 4, 1), np.array([2, 4, 3]))),
    "tile": (17, _node("Tile", (1, 4, 2), np.array([1, 2, 3]))),
    "pad_value": (17, _node("Pad", (1, 2, 4, 4), np.array([0, 0, 1, 1, 0, 0, 1, 2]), np.float32(-1.5))),
    "gather_nd": (17, _node("GatherND", (3, 4, 2), np.array([[0, 1], [2, 3]]))),
    "gather_nd_from_the_end": (17, _node("GatherND", (3, 4, 2), np.array([[-1, -2]]))),
    "gather_nd_batch": (17, _node("GatherND", (2, 4, 3), np.array([[[1], [2]], [[0], [3]]]), batch_dims=1)),
    "gather_elements": (17, _node("GatherElements", (3, 4), np.array([[0, -1, 2, 0], [1, 1, 0, 2]]), axis=0)),
    "cumulative_sum": (17, _node("CumSum", (2, 5, 3), np.array(1))),
    "cumulative_sum_from_behind": (17, _node("CumSum", (2, 5), np.array(1), exclusive=1, reverse=1)),
    "attention": (23, _attention),
    "attention_causal": (23, lambda g: _attention(g, is_causal=1, scale=0.2)),
    "rms_norm": (23, lambda g: g.node("RMSNormalization", [_x(g, 1, 4, 8), _vector(g, 8, 1.0)])),
    "rms_norm_of_microsoft": (17, lambda g: g.node("SimplifiedLayerNormalization", [_x(g, 1, 4, 8), _vector(g, 8)])),
    "skip_layer_norm": (17, _skip("SkipLayerNormalization", False)),
    "skip_layer_norm_bias": (17, _skip("SkipLayerNormalization", True)),
    "skip_rms_norm": (20, _skip("SkipSimplifiedLayerNormalization", False)),
    "quick_gelu": (17, lambda g: g.node("QuickGelu", [_x(g, 2, 6)], domain="com.microsoft")),
    "celu": (17, _node("Celu", (2, 6), alpha=0.7)),
    "lp_norm": (17, _node("LpNormalization", (2, 6), axis=1)),
    "lp_norm_1": (17, _node("LpNormalization", (2, 6), axis=1, p=1)),
    "shrink": (17, _node("Shrink", (2, 6), lambd=0.3)),
}


@pytest.mark.sample(7)
@pytest.mark.parametrize("case", CASES)
def test_against_onnxruntime(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opset, build = CASES[case]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    monkeypatch.setattr(quantized_onnx, "OPSETS", opsets)
    g = Builder(np.random.default_rng(0))
    made = build(g)
    results = made if isinstance(made, list) else [made]
    model = g.model(results, TensorProto.FLOAT)
    wanted, module = onnxruntime_run(model, g.feeds), canonical(model)
    for found, expected in zip(dialect_run(module, g.feeds), wanted, strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    # Everything has a kernel.
    build_network(module, Imported(module, tuple(g.feeds), tuple(results), "qdq"), "default")


@pytest.mark.parametrize("op", ["GatherND", "GatherElements"])
def test_runtime_indices(op: str) -> None:
    g = Builder(np.random.default_rng(0))
    x = _x(g, 4, 3)
    g.inputs.append(helper.make_tensor_value_info("places", TensorProto.INT64, [2, 2]))
    g.feeds["places"] = np.array([[0, -1], [3, 2]]) if op == "GatherND" else np.array([[0, 1], [-1, 2]])
    model = g.model([g.node(op, [x, "places"])], TensorProto.FLOAT)
    (wanted,), (found,) = onnxruntime_run(model, g.feeds), dialect_run(canonical(model), g.feeds)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("op", ["GatherND", "GatherElements"])
def test_index_outside(op: str) -> None:
    g = Builder(np.random.default_rng(0))
    model = g.model([g.node(op, [_x(g, 2, 3), g.constant(np.array([[0, 7]]))])], TensorProto.FLOAT)
    with pytest.raises(UserError, match=rf"\({op}\): an index lies outside axes of"):
        canonical(model)
