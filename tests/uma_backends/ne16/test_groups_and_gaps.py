"""Convolutions in groups, some of them in one job, and with gaps between taps, a job for every phase, on NE16."""

import numpy as np
import pytest

from tests.uma_backends.neureka.test_groups_and_gaps import LAYERS, convolution
from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import random_input
from uma_backends.ne16 import Ne16Backend


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("soc", ["pulp-open-ne16", "gap9"])
def test_results_equal_the_reference(soc: str, tight: bool) -> None:
    source = np.random.default_rng(4)
    layers = [convolution(source, *case[:-1]) for case in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(socs.load(soc), Ne16Backend(), {})
    target, lowered = tight_plan(target, network) if tight else (target, plan_for(pinned(target, network), network))
    run = simulate(target, lowered, inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))
    forms = [layer["form"] for layer in run.report["layers"]]
    assert sum("groups at a time" in form for form in forms) == 5 and sum("by phases" in form for form in forms) == 3
