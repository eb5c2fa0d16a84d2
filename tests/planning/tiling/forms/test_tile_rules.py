"""Cut into tiles of any size and computed one by one, a layer equals the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planning.tiling.single_layers import float_layers, layers
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes, tile_part
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.uma.box import Box, tiles
from tvm_pulp.uma.windows import input_span

LAYERS = {**layers(), **float_layers()}


def crop(array: np.ndarray, box: Box) -> np.ndarray:
    assert all(a >= 0 and n >= 1 and a + n <= d for a, n, d in zip(box.start, box.size, array.shape, strict=True)), box
    return array[tuple(slice(a, e) for a, e in zip(box.start, box.end, strict=True))]


def operands(layer: Layer) -> list[np.ndarray]:
    source = np.random.default_rng(9)
    made = []
    for tensor in layer.inputs:
        if tensor.spec.dtype == "float32":
            made.append(tensor.data if tensor.data is not None else source.normal(size=tensor.spec.shape).astype("f4"))
            continue
        low, high = (-(1 << 20), 1 << 20) if tensor.spec.dtype == "int32" else tensor.spec.range
        random = source.integers(low, high, tensor.spec.shape, endpoint=True).astype(tensor.spec.dtype)
        made.append(tensor.data if tensor.data is not None else random)
    return made


@pytest.mark.sample(11)
@pytest.mark.parametrize("name", LAYERS)
@settings(max_examples=25)
@given(data=st.data())
def test_tiles_together_equal_the_layer(name: str, data: st.DataObject) -> None:
    layer = LAYERS[name]
    operator = OPERATORS[layer.operator]
    shape = layer.outputs[0].spec.shape
    size = list(shape)
    for axis in tile_axes(layer):
        pieces = data.draw(st.integers(1, -(-shape[axis.axis] // axis.step)), label=f"pieces of axis {axis.axis}")
        size[axis.axis] = min(shape[axis.axis], pieces * axis.step)
    arrays = operands(layer)
    whole = operator.reference(layer.attributes, arrays)
    result = np.full_like(whole, 77)
    for box in tiles(shape, size):
        part = tile_part(layer, box)
        assert len(part.inputs) == len(arrays)
        made = operator.reference(part.attributes, [crop(a, b) for a, b in zip(arrays, part.inputs, strict=True)])
        assert made.shape == box.size
        result[tuple(slice(a, e) for a, e in zip(box.start, box.end, strict=True))] = made
    if whole.dtype == np.float32:  # numpy adds in an order that depends on the size
        np.testing.assert_allclose(result, whole, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(result, whole)


def test_every_rule_has_a_layer() -> None:
    assert {layer.operator for layer in LAYERS.values()} == {
        name for name, operator in OPERATORS.items() if operator.tile
    }


@given(
    extent=st.integers(1, 12),
    kernel=st.integers(1, 5),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 3),
    pad=st.integers(0, 4),
    data=st.data(),
)
def test_input_span_reaches_what_the_window_reads(
    extent: int, kernel: int, stride: int, dilation: int, pad: int, data: st.DataObject
) -> None:
    """Positions inside the input are loaded, those outside are padding, and nothing needless is loaded."""
    reach = dilation * (kernel - 1) + 1
    pad = min(pad, reach - 1)
    after = data.draw(st.integers(0, reach - 1))
    if extent + pad + after < reach:
        return
    outputs = (extent + pad + after - reach) // stride + 1
    start = data.draw(st.integers(0, outputs - 1))
    size = data.draw(st.integers(1, outputs - start))
    span = input_span(start, size, extent, kernel, stride, dilation, pad)
    first = start * stride - pad
    last = (start + size - 1) * stride - pad + reach - 1
    wanted = [p for p in range(first, last + 1) if 0 <= p < extent]
    assert (span.start, span.start + span.size - 1) == (wanted[0], wanted[-1])
    assert (span.before, span.after) == (wanted[0] - first, last - wanted[-1])
