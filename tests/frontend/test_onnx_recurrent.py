"""LSTM, GRU and RNN nodes, written out, against onnxruntime."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.frontend.quantized_onnx import Builder, canonical, dialect_run, onnxruntime_run, operators
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import ImportOptions

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, WIDTH, HIDDEN = 5, 2, 3, 4


def _recurrent(g: Builder, x: str, op: str, direction: str, with_state: bool, **attributes: Any) -> list[str]:
    """A recurrent node with random weights; all its results."""
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[op]

    def weights(*shape: int) -> str:
        return g.constant((0.5 * g.rng.normal(size=shape)).astype(np.float32))

    operands = [x, weights(directions, gates * HIDDEN, WIDTH), weights(directions, gates * HIDDEN, HIDDEN)]
    operands.append(weights(directions, 2 * gates * HIDDEN))
    if with_state:
        operands += ["", weights(directions, BATCH, HIDDEN)]
        operands += [weights(directions, BATCH, HIDDEN)] if op == "LSTM" else []
    outputs = 3 if op == "LSTM" else 2
    return list(g.node(op, operands, outputs, direction=direction, hidden_size=HIDDEN, **attributes))


@pytest.mark.sample(3)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_quantized_around(op: str, direction: str) -> None:
    # The node keeps float arithmetic, as the model does; its neighbours are integers.
    for with_state in (False, True):
        g = Builder(np.random.default_rng([with_state, *op.encode(), *direction.encode()]))
        attributes = {"linear_before_reset": int(with_state)} if op == "GRU" else {}
        x = g.activation([STEPS, BATCH, WIDTH], "int8")
        results = _recurrent(g, x, op, direction, with_state, **attributes)
        model = g.typed_model([g.quantized(r) for r in results])
        for expected, found in zip(
            onnxruntime_run(model, g.feeds), dialect_run(canonical(model), g.feeds), strict=True
        ):
            assert found.shape == expected.shape
            difference = np.abs(found.astype(int) - expected.astype(int))
            assert difference.max() <= 1 and (difference == 0).mean() > 0.97


@pytest.mark.sample(2)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_dynamic_quantization(direction: str, per_channel: bool) -> None:
    g = Builder(np.random.default_rng([7, per_channel, *direction.encode()]))
    directions, columns = 2 if direction == "bidirectional" else 1, 4 * HIDDEN
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, BATCH, WIDTH]))
    g.feeds["x"] = g.rng.normal(size=(STEPS, BATCH, WIDTH)).astype(np.float32)
    dtype = np.int8 if per_channel else np.uint8
    info, size = np.iinfo(dtype), (directions, columns) if per_channel else (directions,)
    weights = [
        g.constant(g.rng.integers(info.min, info.max + 1, (directions, rows, columns)).astype(dtype))
        for rows in (WIDTH, HIDDEN)
    ]
    scales = [g.constant(g.rng.uniform(0.004, 0.01, size).astype(np.float32)) for _ in range(2)]
    zeros = [g.constant((np.zeros(size) if per_channel else np.full(size, 120)).astype(dtype)) for _ in range(2)]
    bias = g.constant(g.rng.normal(size=(directions, 2 * columns)).astype(np.float32) * np.float32(0.3))
    operands = ["x", *weights, bias, "", "", "", "", scales[0], zeros[0], scales[1], zeros[1]]
    attributes = {"direction": direction, "hidden_size": HIDDEN}
    results = list(g.node("DynamicQuantizeLSTM", operands, 3, "com.microsoft", **attributes))
    model = g.model(results, TensorProto.FLOAT)
    module = canonical(model)
    assert "dense" in operators(module)
    for expected, found in zip(onnxruntime_run(model, g.feeds), dialect_run(module, g.feeds), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_products_are_layers() -> None:
    # Nothing recurrent is left; every gate has a product per step.
    g = Builder(np.random.default_rng(0))
    last = _recurrent(g, g.activation([STEPS, BATCH, WIDTH]), "GRU", "forward", False)[1]
    module = canonical(g.typed_model([g.quantized(last)]))
    assert {"relax.matmul", "relax.sigmoid", "relax.tanh"} <= operators(module)


def _plain(op: str, shape: list[Any], **attributes: Any) -> Any:
    g = Builder(np.random.default_rng(0))
    g.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, shape))
    real = g.node(
        "DequantizeLinear",
        [g.node("QuantizeLinear", ["x", g.constant(np.float32(0.05))]), g.constant(np.float32(0.05))],
    )
    results = _recurrent(g, real, op, attributes.pop("direction", "forward"), False, **attributes)
    return g.model(results[:1], TensorProto.FLOAT)


def test_batch_from_the_user() -> None:
    model = _plain("LSTM", [STEPS, "batch", WIDTH])
    with pytest.raises(UserError, match="--input-shapes"):
        canonical(model)
    assert canonical(model, ImportOptions(input_shapes={"x": (STEPS, BATCH, WIDTH)})) is not None


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"clip": 3.0}, r"\(LSTM\): attribute 'clip' is not supported"),
        ({"activations": ["Softsign", "Tanh", "Tanh"]}, r"\(LSTM\): activations \['Softsign'"),
        ({"direction": "sideways"}, r"\(LSTM\): direction 'sideways' does not fit 1"),
    ],
)
def test_unsupported_forms_are_named(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        canonical(_plain("LSTM", [STEPS, BATCH, WIDTH], **attributes))


def test_a_projection_is_named() -> None:
    """Exporters leave its weights out and the cell's size in: onnxruntime refuses such a file too."""
    model = _plain("LSTM", [STEPS, BATCH, WIDTH])
    states = {"h0": np.zeros((1, BATCH, HIDDEN), np.float32), "c0": np.zeros((1, BATCH, 2 * HIDDEN), np.float32)}
    (node,) = (n for n in model.graph.node if n.op_type == "LSTM")
    del node.input[4:]
    node.input.extend(["", *states])
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in states.items())
    with pytest.raises(UserError, match=rf"'c0' of shape .* does not fit {HIDDEN} hidden .*proj_size"):
        canonical(model)
