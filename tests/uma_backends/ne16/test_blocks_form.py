"""Depthwise convolutions over blocks of pixels on NE16, whose weights all lie in L1."""

import numpy as np
import pytest

from tests.uma_backends.neureka.test_blocks_form import LAYERS, convolution
from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for
from tvm_pulp.uma.conformance.random_layer import random_input
from uma_backends.ne16 import Ne16Backend


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["half_even", "pulp"])
@pytest.mark.parametrize("soc", ["pulp-open-ne16", "gap9"])
def test_results_equal_the_reference(soc: str, kind: str) -> None:
    source = np.random.default_rng(7)
    layers = [convolution(source, kind, *case) for case in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(socs.load(soc), Ne16Backend(), {})
    run = simulate(target, plan_for(pinned(target, network), network), inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    forms = [layer["form"] for layer in run.report["layers"]]
    assert sum(form.startswith("3x3 over blocks of") for form in forms) >= len(LAYERS) - 1, forms
