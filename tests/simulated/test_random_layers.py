"""Random layers through the compiler on the simulator equal numpy, on the cores and on NEUREKA, in many tiles.

A seed is a network of independent layers; the slow set continues the seeds of the default run.
"""

from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc
from tvm_pulp.uma.conformance import Conformance
from tvm_pulp.uma.conformance.checks import compare
from tvm_pulp.uma.conformance.layer_network import layer_network, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import random_input, random_layer
from tvm_pulp.uma.registry import backend

FEW, LAYERS = 5, 16
ENGINE_OPTIONS: list[dict[str, str]] = [
    {"weight_memory": "sram"},
    {"weight_memory": "none"},
    {"weight_memory": "mram"},
    {"weight_memory": "sram", "requant": "native"},
    {"weight_memory": "none", "requant": "native"},
]


def seeds(default: tuple[int, ...], total: int) -> list[Any]:
    """Seeds and how many layers they have: few in the default run, and none of them in hundreds of tiles."""
    few = [pytest.param(seed, FEW) for seed in default]
    return few + [pytest.param(seed, LAYERS, marks=pytest.mark.slow) for seed in range(total)]


@pytest.mark.parametrize(("seed", "count"), seeds((0, 1), 50))
def test_layers_on_neureka(seed: int, count: int) -> None:
    options = ENGINE_OPTIONS[seed % len(ENGINE_OPTIONS)]
    Conformance(backend("neureka"), options=options, layers=count, seed=seed).check_results()


@pytest.mark.parametrize(("seed", "count"), seeds((3, 5), 30))
def test_layers_on_the_cores(seed: int, count: int) -> None:
    source = np.random.default_rng(1000 + seed)
    layers = [random_layer(source) for _ in range(count)]
    inputs = [random_input(source, layer.x) for layer in layers]
    network = layer_network(layers)
    target, plan = tight_plan(target_for(soc.load("siracusa")), network)
    run = simulate(target, plan, inputs)
    assert sum(entry["tiles"] for entry in run.report["layers"]) > count
    expected = [layer.reference(x) for layer, x in zip(layers, inputs, strict=True)]
    compare(layers, network, run.outputs, expected, run.report)


def test_a_wrong_result_is_noticed() -> None:
    source = np.random.default_rng(1)
    layer = random_layer(source, ("dense",), ("pulp",))
    x = random_input(source, layer.x)
    wanted = layer.reference(x)
    network = layer_network([layer])
    entry = {"name": network.layers[0].name, "deviation_lsb": 0, "engine": "neureka", "form": "1x1", "tiles": 1}
    report = {"layers": [entry]}
    compare([layer], network, [wanted], [wanted], report)
    wrong = wanted.copy()
    wrong.flat[-1] ^= 1
    with pytest.raises(AssertionError, match=r"dense .* on neureka \(1x1, 1 tiles\) differs by 1"):
        compare([layer], network, [wrong], [wanted], report)
