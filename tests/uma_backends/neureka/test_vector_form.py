"""A row times a matrix as a 3x3 convolution: the right numbers, with few bits in less time, and only where it pays."""

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.conformance.layer_network import layer_network, offered, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input
from tvm_pulp.uma.recipe import Job
from tvm_pulp.uma.strategy import Form
from uma_backends.neureka import NeurekaBackend

SIRACUSA = socs.load("siracusa")
WHOLE, PARTLY = "3x3 over parts of a row", "3x3 over parts of a row, rest in the bias"
ROWS = "1x1 over rows"
# Depth, outputs, type, bits of the weights, largest multiplier (none: sums go out), form that is chosen.
PRODUCTS = (
    (256, 64, "int8", 8, 1 << 9, ROWS),
    (256, 96, "int8", 4, 1 << 9, PARTLY),
    (256, 40, "uint8", 4, 255, WHOLE),
    (512, 97, "int8", 7, 0, PARTLY),
    (344, 33, "int8", 4, 255, WHOLE),
    (30, 32, "int8", 8, 255, ROWS),
)


def product(source: np.random.Generator, depth: int, outputs: int, dtype: str, bits: int, largest: int) -> RandomLayer:
    weight = source.integers(-(1 << bits - 1), 1 << bits - 1, (outputs, depth)).astype(np.int8)
    attributes = {"zero_point": int(source.integers(-3, 4)) if dtype == "int8" else 0, "has_bias": 1}
    bias = source.integers(-1000, 1000, outputs).astype(np.int32)
    if not largest:
        return RandomLayer("dense", attributes | {"requant": "none"}, TensorSpec((1, depth), dtype), (weight, bias))
    rule = Requant("pulp", 14, 0, -128, 127)
    scale = source.integers(1, largest + 1, outputs).astype(np.int32)
    add = source.integers(0, 1 << 14, outputs).astype(np.int32)
    return RandomLayer(
        "dense", attributes | rule.attributes(), TensorSpec((1, depth), dtype), (weight, bias, scale, add)
    )


@pytest.mark.parametrize("tight", [False, True])
def test_results_equal_the_reference(tight: bool) -> None:
    source = np.random.default_rng(5)
    layers = [product(source, *case[:-1]) for case in PRODUCTS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": "sram"})
    if tight:
        target, lowered = tight_plan(target, network)
    else:
        target = pinned(target, network)
        lowered = plan_for(target, network)
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    if not tight:
        assert [layer["form"] for layer in run.report["layers"]] == [case[-1] for case in PRODUCTS]


def forms_of(layer: RandomLayer, **options: str) -> dict[str, Form]:
    backend = NeurekaBackend()
    context = backend.context(backend.options(options), SIRACUSA, 8)
    (found,) = offered(backend, context, layer_network([layer])).values()
    return {form.name: form for form in found}


def cycles(form: Form, outputs: int) -> int:
    return form.recipe(Box.whole((1, outputs))).engine_cycles


def test_fewer_bits_take_less_time() -> None:
    source = np.random.default_rng(0)
    eight, four = (forms_of(product(source, 256, 256, "int8", bits, 255)) for bits in (8, 4))
    assert cycles(eight[ROWS], 256) == cycles(four[ROWS], 256)
    # 29 + bits * outputs for a step of 252 inputs and 32 outputs, and what follows it.
    assert cycles(eight[PARTLY], 256) - cycles(four[PARTLY], 256) == 8 * 32 * 4
    assert cycles(four[PARTLY], 256) < 0.4 * cycles(four[ROWS], 256)


def test_several_rows_are_a_picture() -> None:
    layer = product(np.random.default_rng(0), 256, 32, "int8", 4, 255)
    several = RandomLayer(layer.operator, layer.attributes, TensorSpec((2, 256), "int8"), layer.constants)
    assert list(forms_of(several)) == [ROWS]


def test_weights_that_come_to_l1_are_waited_for_anyway() -> None:
    layer = product(np.random.default_rng(0), 256, 256, "int8", 4, 255)
    assert PARTLY in forms_of(layer) and list(forms_of(layer, weight_memory="none")) == [ROWS]


def test_a_part_of_the_outputs_has_weights_of_its_own() -> None:
    """Others may take the rest of them: its weights are not stored twice."""
    form = forms_of(product(np.random.default_rng(3), 256, 96, "int8", 4, 1 << 9), weight_memory="sram")[PARTLY]
    sizes = {}
    for outputs in (96, 64):
        (job,) = [s for s in form.recipe(Box((0, 0), (1, outputs))).steps if isinstance(s, Job)]
        assert isinstance(job.weights, Tensor) and job.weights.level == "weight_sram"
        sizes[outputs] = job.weights.spec.bytes
    assert sizes == {96: 96 * 4 * 32, 64: 64 * 4 * 32}
