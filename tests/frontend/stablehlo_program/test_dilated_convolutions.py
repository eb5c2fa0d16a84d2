"""Convolutions of every r-th row, each in a batch of its own, are dilated ones; what only looks like it is not."""

from typing import Any

import numpy as np
import onnxruntime
import pytest

jax = pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")

from jax import lax  # noqa: E402  (needs jax)
from jax import numpy as jnp  # noqa: E402

from tvm_pulp.frontend.frameworks import as_program  # noqa: E402

pytestmark = pytest.mark.jax
RANDOM = np.random.default_rng(4)
KERNEL = RANDOM.normal(size=(3, 3, 4, 5)).astype(np.float32)
BIAS = RANDOM.normal(size=5).astype(np.float32)


def by_batches(x: Any, rates: tuple[int, int], order: tuple[int, ...] = (1, 3, 0, 2, 4)) -> Any:
    """As TensorFlow writes it: batches by place within a block, rows by block, and back; cut where it does not fit."""
    (rows, columns), (high, wide) = x.shape[1:3], rates
    down, right = (-(n + 2 * r) % r for n, r in ((rows, high), (columns, wide)))
    x = jnp.pad(x, ((0, 0), (high, high + down), (wide, wide + right), (0, 0)))
    blocks = [n // r for n, r in zip(x.shape[1:3], rates, strict=True)]
    x = x.reshape(blocks[0], high, blocks[1], wide, 4).transpose(order).reshape(high * wide, *blocks, 4)
    y = lax.conv_general_dilated(x, KERNEL, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = y.reshape(high, wide, *y.shape[1:]).transpose(2, 0, 3, 1, 4)
    y = y.reshape(1, y.shape[0] * high, y.shape[2] * wide, 5)[:, :rows, :columns]
    return jax.nn.relu(y + BIAS)


def check_values(function: Any, x: np.ndarray) -> list[Any]:
    """Values are JAX' ones; the layers with weights."""
    model = as_program(function, (x,)).onnx_model({})
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (made,) = session.run(None, {session.get_inputs()[0].name: x})
    assert np.allclose(made, jax.jit(function)(x), rtol=1e-5, atol=1e-5)
    return [n for n in model.graph.node if n.op_type not in ("Reshape", "Transpose", "Identity")]


@pytest.mark.parametrize("rates", [(1, 2), (2, 2), (3, 2), (4, 1)])
@pytest.mark.parametrize("shape", [(12, 12), (7, 9), (5, 10)])
def test_rows_in_batches_are_a_dilated_convolution(rates: tuple[int, int], shape: tuple[int, int]) -> None:
    x = RANDOM.normal(size=(1, *shape, 4)).astype(np.float32)
    layer, *rest = check_values(lambda x: by_batches(x, rates), x)
    assert layer.op_type == "Conv" and len(layer.input) == 3 and [n.op_type for n in rest] == ["Relu"]
    stated = {a.name: list(a.ints) for a in layer.attribute}
    assert stated["dilations"] == list(rates) and stated["pads"] == [*rates, *rates]


def test_one_row_is_right_at_any_rate() -> None:
    x = RANDOM.normal(size=(1, 1, 10, 4)).astype(np.float32)
    assert [n.op_type for n in check_values(lambda x: by_batches(x, (3, 2)), x)] == ["Conv", "Relu"]


def test_rows_without_padding_are_cut_behind_the_convolution() -> None:
    x = RANDOM.normal(size=(1, 12, 12, 4)).astype(np.float32)
    layers = check_values(lambda x: by_batches(x, (2, 2))[:, :5], x)
    assert [n.op_type for n in layers] == ["Conv", "Relu", "Slice"]


def test_batches_in_another_order_stay() -> None:
    x = RANDOM.normal(size=(1, 12, 12, 4)).astype(np.float32)
    layers = check_values(lambda x: by_batches(x, (2, 2), (3, 1, 0, 2, 4)), x)
    layer = next(n for n in layers if n.op_type == "Conv")
    assert list(next(a.ints for a in layer.attribute if a.name == "dilations")) == [1, 1]
