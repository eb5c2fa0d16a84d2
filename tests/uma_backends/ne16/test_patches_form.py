"""3x3 convolutions of stride 2 in patches: odd and even sizes, both modes, borders of any value, cut and whole."""

from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import Box
from tvm_pulp.uma.conformance.layer_network import layer_network, offered, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from uma_backends.ne16 import Ne16Backend
from uma_backends.ne16.patches_form import PatchesForm

# Height, width, channels in and out (depthwise: 0), pads (top, left, bottom, right), type.
LAYERS = (
    (16, 16, 16, 32, (0, 0, 1, 1), "uint8"),
    (9, 11, 5, 6, (1, 1, 1, 1), "int8"),
    (8, 7, 20, 34, (1, 0, 0, 1), "uint8"),
    (12, 9, 18, 0, (1, 1, 1, 1), "uint8"),
    (6, 6, 32, 0, (0, 0, 1, 1), "int8"),
)


def strided(
    source: np.random.Generator, height: int, width: int, channels: int, outputs: int, pads: tuple[int, ...], dtype: str
) -> RandomLayer:
    per_group = channels if outputs else 1
    outputs, groups = outputs or channels, 1 if outputs else channels
    weight = source.integers(-128, 128, (outputs, 3, 3, per_group)).astype(np.int8)
    scale, add = (source.integers(1, 200, outputs).astype(np.int32) for _ in range(2))
    attributes: dict[str, Any] = {
        "layout": "NHWC", "strides": [2, 2], "dilation": [1, 1], "pads": list(pads), "groups": groups,
        "zero_point": 7 if dtype == "int8" else 0, "has_bias": 0, **Requant("pulp", 14, 0, -128, 127).attributes(),
    }  # fmt: skip
    return RandomLayer("conv2d", attributes, TensorSpec((1, height, width, channels), dtype), (weight, scale, add))


class OnlyPatches(Ne16Backend):
    """NE16 without another way to run a convolution."""

    def offer(self, pattern: str, layer: Any, context: Any) -> Any:
        found = super().offer(pattern, layer, context)
        return [form for form in found if isinstance(form, PatchesForm)] if isinstance(found, list) else found


@pytest.mark.parametrize("tight", [pytest.param(False, marks=pytest.mark.slow), True])
def test_results_equal_the_reference(tight: bool) -> None:
    source = np.random.default_rng(3)
    layers = [strided(source, *case) for case in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(socs.load("pulp-open-ne16"), OnlyPatches())
    target, lowered = tight_plan(target, network) if tight else (target, plan_for(pinned(target, network), network))
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    # With little L1 some do not fit, and others are cut.
    found = [layer["tiles"] for layer in run.report["layers"] if "in patches of stride 2" in layer["form"]]
    assert len(found) == len(LAYERS) if not tight else found and max(found) > 1


def test_they_take_less_than_every_position() -> None:
    backend, network = Ne16Backend(), layer_network([strided(np.random.default_rng(0), *LAYERS[0])])
    context = backend.context(backend.options({}), socs.load("gap9"), 8)
    (forms,) = offered(backend, context, network).values()
    cycles = {form.name: form.recipe(Box.whole((1, 8, 8, 32))).engine_cycles for form in forms}
    assert cycles["3x3 in patches of stride 2"] < 0.7 * cycles["3x3 at stride 1, discarding"]
