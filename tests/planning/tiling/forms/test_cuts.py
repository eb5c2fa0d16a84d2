"""The greedy tiler: its tiles fit, cover the output once, and are as few as L1 allows."""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.planning.tiling.single_layers import NONE, layers, make_layer
from tvm_pulp.planning.tiling.forms.cluster_forms import TiledForm
from tvm_pulp.planning.tiling.forms.cuts import Cuts, MissingL1, Tiling, footprint
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load
from tvm_pulp.uma.strategy import TileAxis

LAYERS = layers()
COSTS = CostModel(load("siracusa"))


def tile(layer: Layer, budget: int) -> Tiling | int:
    return Cuts(TiledForm(layer, COSTS), layer, COSTS).within(budget)


def smallest(layer: Layer) -> int:
    answer = tile(layer, 0)
    assert isinstance(answer, int)
    return answer


@pytest.mark.parametrize("name", LAYERS)
def test_tiles_fit_and_cover(name: str) -> None:
    layer = LAYERS[name]
    least = smallest(layer)
    counts = []
    for budget in (least, least + least // 4, 2 * least, 1 << 20):
        tiling = tile(layer, budget)
        assert isinstance(tiling, Tiling), f"{least} bytes were said to be enough"
        sizes = [footprint(tiling.form.recipe(box)) for box in tiling.tiles]
        assert max(sizes) == tiling.l1_bytes <= budget
        seen = np.zeros(layer.outputs[0].spec.shape, int)
        for box in tiling.tiles:
            seen[tuple(slice(a, e) for a, e in zip(box.start, box.end, strict=True))] += 1
        assert (seen == 1).all()
        counts.append(len(tiling.tiles))
    assert counts == sorted(counts, reverse=True) and counts[-1] == 1


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", LAYERS)
def test_one_byte_less_than_the_smallest_tile_does_not_fit(name: str) -> None:
    layer = LAYERS[name]
    assert tile(layer, smallest(layer) - 1) == smallest(layer)


def test_the_largest_tile_may_lie_far_from_the_border() -> None:
    """With tiles of one row and padding of nine, the tenth tile is the first that reads ten rows."""
    window = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [9, 0, 9, 0]}
    attributes = {**NONE, **window, "groups": 1, "zero_point": 0, "has_bias": 0}
    layer = make_layer("conv2d", attributes, TensorSpec((1, 12, 64, 4), "int8"), np.ones((1, 10, 1, 4), np.int8))
    form = TiledForm(layer, COSTS)
    for budget in range(3000, 8000, 250):
        tiling = tile(layer, budget)
        if isinstance(tiling, Tiling):
            assert max(footprint(form.recipe(box)) for box in tiling.tiles) <= budget


def test_the_message_says_what_is_missing() -> None:
    layer = LAYERS["dense"]
    text = str(MissingL1(layer, 3000, 2000))
    assert text == (
        "layer 'layer' (dense) needs 3000 bytes of L1 for its smallest tile and 2000 are available (1000 missing): "
        "raise --l1 to at least 3000"
    )


def test_pieces_smaller_than_a_step_are_for_little_l1() -> None:
    layer = max(LAYERS.values(), key=lambda entry: entry.outputs[0].spec.shape[-1])
    shape = layer.outputs[0].spec.shape

    @dataclass(frozen=True)
    class Form(TiledForm):
        def axes(self) -> tuple[TileAxis, ...]:
            return (TileAxis(len(shape) - 1, shape[-1] - 1, least=1),)

    form = Form(layer, COSTS)
    least = Cuts(form, layer, COSTS).within(0)
    assert isinstance(least, int)
    tilings = [Cuts(form, layer, COSTS).within(budget) for budget in (least, 1 << 20)]
    assert [t.finer for t in tilings if isinstance(t, Tiling)] == [True, False]
