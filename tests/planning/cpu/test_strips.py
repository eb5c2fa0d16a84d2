"""Layers in strips of rows: every strip gives the rows of the whole, and forms are offered the cheapest first."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.schedules.cpu.random_layers import random_rule
from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.evaluator import CpuEvaluator
from tvm_pulp.planning.cpu.kernel_offers import LOOPS
from tvm_pulp.planning.cpu.plan import CpuPlan, CpuRequest
from tvm_pulp.planning.cpu.strip_choices import strip_choices
from tvm_pulp.planning.cpu.strips import stages
from tvm_pulp.planning.tiling.place.in_place import overwritten
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec


def layer_of(operator: str, attributes: dict[str, Any], inputs: list[Tensor], arrays: list[np.ndarray]) -> Layer:
    """A layer of tensors and constants; its result is named after it."""
    name = f"{operator}_{id(attributes)}"
    constants = [
        Tensor(f"{name}_{i}", TensorSpec(tuple(a.shape), str(a.dtype)), "constant", data=a)
        for i, a in enumerate(arrays)
    ]
    specs = [t.spec for t in (*inputs, *constants)]
    spec = OPERATORS[operator].infer(OPERATORS[operator].stated(attributes), specs)
    macs = OPERATORS[operator].macs(OPERATORS[operator].stated(attributes), specs, spec)
    return Layer(name, operator, attributes, [*inputs, *constants], [Tensor(name, spec, "activation")], macs=macs)


def convolution(rng: np.random.Generator, x: Tensor, depthwise: bool, same: bool = False) -> Layer:
    kernel, stride, dilation = ([3, 3], [1, 1], [1, 1]) if same else (rng.integers(1, 4, 2).tolist() for _ in range(3))
    dilation = [1 if k == 1 else d for k, d in zip(kernel, dilation, strict=True)]
    pads = [1, 1, 1, 1] if same else [int(rng.integers(0, k)) for k in (*kernel, *kernel)]
    channels = x.spec.shape[3] if depthwise or same else int(rng.integers(1, 9))
    weight = rng.integers(-128, 128, (channels, *kernel, 1 if depthwise else x.spec.shape[3])).astype(np.int8)
    stated, rule = random_rule(rng, channels, weight[0].size)
    stated |= {"requant_low": -128, "requant_high": 127, "requant_dtype": "int8"}
    attributes = {
        "layout": "NHWC", "pads": pads, "strides": stride, "dilation": dilation, "has_bias": 1, "zero_point": 3,
        "groups": channels if depthwise else 1, **stated,
    }  # fmt: skip
    return layer_of("conv2d", attributes, [x], [weight, rng.integers(-99, 99, channels).astype(np.int32), *rule])


def random_network(rng: np.random.Generator) -> Network:
    """Convolutions, one of them beside a sum, and a largest value of windows."""
    x = Tensor("x", TensorSpec((1, int(rng.integers(14, 30)), int(rng.integers(9, 20)), 4), "int8"), "input")
    layers = [convolution(rng, x, depthwise=False)]
    layers.append(convolution(rng, layers[-1].outputs[0], depthwise=True, same=True))
    summed = [layers[0].outputs[0], layers[1].outputs[0]]
    requant = Requant("half_even", 0, 0, -128, 127, True, "int8")
    attributes = {
        "zero_point_a": 1, "zero_point_b": -2, "subtract": 0, "form": "half_even", "multipliers": [1 << 19, 1 << 18],
        "exponents": [0, 0], "shift": 20, "left_shift": 20, **requant.attributes(), "requant_a": "none",
        "requant_b": "none",
    }  # fmt: skip
    layers.append(layer_of("add", attributes, summed, []))
    pool = {"layout": "NHWC", "kernel": [2, 2], "strides": [2, 2], "dilation": [1, 1], "pads": [0, 0, 0, 0]}
    layers.append(layer_of("max_pool", pool, [layers[-1].outputs[0]], []))
    layers[-1].outputs[0].kind = "output"
    return Network("strips", layers, [x], [layers[-1].outputs[0]])


def computed(network: Network, values: np.ndarray) -> np.ndarray:
    """The result by numpy, every tensor in memory of its own and views as parts of them."""
    memory = {network.inputs[0]: values.reshape(-1).copy()}

    def part(tensor: Tensor) -> np.ndarray:
        held = memory.setdefault(tensor.storage, np.full(tensor.storage.spec.elements, 77, np.int8))
        return held[tensor.first : tensor.first + tensor.spec.elements].reshape(tensor.spec.shape)

    for layer in network.layers:
        arrays = [t.values if t.kind == "constant" else part(t) for t in layer.inputs]
        part(layer.outputs[0])[...] = OPERATORS[layer.operator].reference(layer.attributes, arrays)
    return part(network.outputs[0])


def in_strips(network: Network, room: int) -> list[CpuPlan]:
    """Plans of all choices of strips."""
    evaluator = CpuEvaluator(network, CpuRequest("host"))
    plan = evaluator.plan(CpuDecisions({layer.name: LOOPS for layer in network.layers}))
    return [evaluator.plan(replace(plan.decisions, strips=strips)) for strips in strip_choices(plan, room)]


@pytest.mark.parametrize("seed", range(12))
def test_strips_give_the_rows_of_the_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    values = rng.integers(-128, 128, network.inputs[0].spec.shape).astype(np.int8)
    wanted, found = computed(network, values), list(stages(network))
    assert found[-1].last == len(network.layers) - 1
    for stage in found:
        for count in {2, 3, stage.rows} - {1}:
            if count <= stage.rows:
                made, _ = stage.in_strips(count)
                assert len(made.layers) == len(network.layers) + (count - 1) * len(stage.layers)
                np.testing.assert_array_equal(computed(made, values), wanted, err_msg=f"{stage.last} {count}")


def test_windows_in_the_padding_are_left_to_strips_that_hold_more() -> None:
    """The last row of the result is made of padding alone: by itself it has no rows of the operand."""
    rng = np.random.default_rng(5)
    x = Tensor("x", TensorSpec((1, 8, 9, 4), "int8"), "input")
    first = convolution(rng, x, depthwise=True, same=True)
    second = convolution(rng, first.outputs[0], depthwise=False, same=True)
    taken = {"kernel": [1, 1], "strides": [2, 2], "pads": [0, 0, 3, 0], "dilation": [1, 1], "layout": "NHWC"}
    pool = layer_of("max_pool", taken, [second.outputs[0]], [])
    pool.outputs[0].kind = "output"
    network = Network("strips", [first, second, pool], [x], [pool.outputs[0]])
    stage = list(stages(network))[-1]
    assert stage.rows == 6 and stage.fits(1) and not stage.fits(6)
    values = rng.integers(-128, 128, x.spec.shape).astype(np.int8)
    choices = in_strips(network, 1)
    assert choices
    for made in choices:
        np.testing.assert_array_equal(computed(made.stated, values), computed(network, values))


def test_a_tensor_that_is_used_behind_a_stage_ends_none() -> None:
    network = random_network(np.random.default_rng(1))
    # The first convolution is used by the sum: no stage ends between them.
    assert [stage.last for stage in stages(network)] == [2, 3]


def test_cheap_forms_come_first_and_small_ones_where_none_fits() -> None:
    network = random_network(np.random.default_rng(2))
    macs = [made.stated.macs for made in in_strips(network, 1 << 20)]
    assert macs == sorted(macs)
    assert macs[0] >= network.macs
    assert in_strips(network, 1)


def test_a_result_takes_the_place_of_what_is_not_needed_any_more() -> None:
    network = random_network(np.random.default_rng(3))
    first, second, summed, _ = network.layers
    places = overwritten(network, {second: (0,), summed: (0, 1)})
    # The sum still reads what the second layer reads; its own operands end with it.
    assert places == {summed.outputs[0]: first.outputs[0]}
