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
