"""Layers of one subtile of pixels in parts of channels: right numbers, and parts only where they save something."""

import numpy as np
import pytest

from tests.uma_backends.neureka.test_bounded_form import SIRACUSA, convolution
from tvm_pulp.entry_point import plan_for
from tvm_pulp.uma import Job
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.conformance.layer_network import layer_network, pinned, simulate, target_for
from tvm_pulp.uma.conformance.random_layer import random_input
from uma_backends.conv_array.forms.strategy import conv2d_forms
from uma_backends.neureka import NeurekaBackend

# Size, channels in and out, groups, kernel, stride, pads, zero point, type, rule; form and number of jobs.
LAYERS = [
    ((6, 160, 200, 1, 1, 1, 0, -3, "int8", "half_even"), "1x1", 4),
    ((7, 112, 112, 112, 3, 2, 1, 4, "int8", "half_even"), "3x3 depthwise at stride 1, discarding", 4),
    ((12, 72, 100, 1, 1, 2, 0, 0, "uint8", "half_up"), "1x1", 4),
    ((6, 96, 96, 1, 3, 1, 1, 0, "uint8", "half_even"), "3x3", 2),
]


def recipe_of(case, engine_options):  # type: ignore[no-untyped-def]
    layer = layer_network([convolution(np.random.default_rng(1), case)]).layers[0]
    backend = NeurekaBackend()
    context = backend.context(backend.options(engine_options), SIRACUSA, 8)
    forms = {form.name: form for form in conv2d_forms(layer, context)}
    return {name: form.recipe(Box.whole(layer.outputs[0].spec.shape)) for name, form in forms.items()}


@pytest.mark.parametrize("weight_memory", ["sram", pytest.param("none", marks=pytest.mark.slow)])
def test_results_equal_the_reference(weight_memory: str) -> None:
    source = np.random.default_rng(7)
    layers = [convolution(source, case) for case, _, _ in LAYERS]
    inputs = [random_input(source, layer.x) for layer in layers]
    network, target = layer_network(layers), target_for(SIRACUSA, NeurekaBackend(), {"weight_memory": weight_memory})
    run = simulate(target, plan_for(pinned(target, network), network), inputs)
    for layer, x, made in zip(layers, inputs, run.outputs, strict=True):
        np.testing.assert_array_equal(made, layer.reference(x), err_msg=str(layer))


@pytest.mark.parametrize(("case", "form", "jobs"), LAYERS)
def test_a_part_is_a_job_whose_results_the_cores_finish(case, form, jobs) -> None:  # type: ignore[no-untyped-def]
    steps = recipe_of(case, {})[form].steps
    made = [step for step in steps if isinstance(step, Job)]
    assert len(made) == jobs and sum(step.description.job.output_channels for step in made) == case[2]
    # No part waits for the results of another.
    assert len({step.writes for step in made}) == jobs
    first = next(at for at, step in enumerate(steps) if any(step.operands[0] is w for w in made[0].writes))
    assert steps.index(made[1]) < first


@pytest.mark.parametrize(
    ("change", "options"),
    [({0: 1}, {}), ({0: 7}, {}), ({2: 32}, {}), ({}, {"requant": "native"})],
    ids=["one pixel", "more rows than a subtile has", "channels of one subtile", "bytes from the array"],
)
def test_where_parts_save_nothing_there_is_one_job(change: dict[int, object], options: dict[str, str]) -> None:
    case = [change.get(place, value) for place, value in enumerate(LAYERS[0][0])]
    for recipe in recipe_of(tuple(case), options).values():
        assert sum(isinstance(step, Job) for step in recipe.steps) == 1
