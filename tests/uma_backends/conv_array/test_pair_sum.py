"""Sums that the array computes alone, with the convolutions before them: random blocks equal numpy, twice."""

from typing import Any

import numpy as np
import pytest

from tests.simulated.random_chain import SUM
from tests.simulated.random_graph import RandomGraph
from tests.simulated.simulated_run import check_report
from tvm_pulp import soc
from tvm_pulp.entry_point import plan_for
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.target import Target
from tvm_pulp.uma.conformance.layer_network import simulate
from tvm_pulp.uma.conformance.random_layer import random_input
from tvm_pulp.uma.registry import backend

SIRACUSA = soc.load("siracusa")
_SHIFT = 14


def convolution(source: np.random.Generator, graph: RandomGraph, x: int, kernel: int) -> int:
    depth = graph.specs[x].shape[-1]
    weight = source.integers(-128, 127, (depth, kernel, kernel, depth), endpoint=True).astype(np.int8)
    attributes = {"layout": "NHWC", "groups": 1, "strides": [1, 1], "dilation": [1, 1], "zero_point": 0, "has_bias": 0}
    rule = Requant("pulp", _SHIFT, 0, -128, 127)
    mul = np.maximum(1, np.round(source.uniform(0.5, 2.0, depth) * 2**_SHIFT / (75 * np.sqrt(weight[0].size))))
    add = source.integers(-1 << _SHIFT, 1 << _SHIFT, depth)
    constants = (s.astype(np.int32) for s in (mul, add))
    return graph.add("conv2d", {**attributes, "pads": [kernel // 2] * 4, **rule.attributes()}, x, weight, *constants)


def scalars(source: np.random.Generator, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """A factor from a half to two, and a summand."""
    mul, add = source.uniform(0.5, 2.0) * 2**shift, source.integers(0, 2 << shift)
    return tuple(np.array([round(v)], np.int32) for v in (mul, add))  # type: ignore[return-value]


def block(source: np.random.Generator) -> RandomGraph:
    """A convolution plus what it read, rounded or not, or plus another convolution; a convolution behind."""
    shape = (1, int(source.integers(3, 20)), int(source.integers(3, 20)), int(source.choice([4, 16, 20, 40])))
    graph = RandomGraph(inputs=[TensorSpec(shape, "int8")], specs=[TensorSpec(shape, "int8")])
    first = convolution(source, graph, 0, 3)
    operands = [convolution(source, graph, first, int(source.choice([1, 3])))]
    kind, constants = str(source.choice(["as it is", "rounded", "convolution"])), []
    attributes: dict[str, Any] = {
        **SUM,
        **Requant("pulp", 12, 0, *((0, 255) if source.random() < 0.5 else (-128, 127))).attributes(),
    }
    operands.append(convolution(source, graph, first, 1) if kind == "convolution" else first)
    turned = source.random() < 0.5
    if kind == "rounded":
        attributes |= Requant("pulp", 10, 0, -128, 127).attributes("requant_a" if turned else "requant_b")
        constants += scalars(source, 10)
    made = graph.add("add", attributes, *(operands[::-1] if turned else operands), *constants, *scalars(source, 12))
    convolution(source, graph, made, 1)
    return graph


def forms(seed: int) -> list[str]:
    """Names of the forms that were taken; outputs equal numpy's in both inferences, without a race."""
    source, neureka = np.random.default_rng(seed), backend("neureka")
    graph = block(source)
    inputs = [random_input(source, spec) for spec in graph.inputs]
    options = neureka.options({"weight_memory": str(source.choice(["none", "sram"]))})
    l1_bytes = int(source.choice([24, 40, 200])) * 1000
    target = Target(SIRACUSA, ((neureka, options),), int(source.choice([1, 8])), l1_limit=l1_bytes)
    lowered = plan_for(target, graph.network())
    run = simulate(target, lowered, inputs)
    check_report(run.report)
    for output, wanted in zip(run.outputs, graph.references(inputs), strict=True):
        np.testing.assert_array_equal(output, wanted, err_msg=str(graph))
    return [choice.tiling.form.name for choice in lowered.plan.decisions.choices]


def has_sum(names: list[str]) -> bool:
    return any(name.endswith("summed by 1x1") for name in names)


def test_a_sum_as_a_job() -> None:
    assert has_sum(forms(0))


@pytest.mark.slow
def test_random_blocks() -> None:
    """Most of them are taken: otherwise they say little."""
    assert sum(has_sum(forms(seed)) for seed in range(1, 41)) >= 20
