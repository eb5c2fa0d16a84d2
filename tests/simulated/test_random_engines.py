"""Random networks on two accelerators of different speed and the cores: first and second inference equal numpy."""

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from tests.simulated.random_graph import RandomGraph, random_graph
from tests.simulated.two_engines import BOTH, target_with_both
from tvm_pulp.entry_point import plan_for
from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Network
from tvm_pulp.target import Target
from tvm_pulp.uma.conformance.layer_network import simulate
from tvm_pulp.uma.conformance.random_layer import random_input

DEFAULT, MANY = range(6), range(6, 206)


@dataclass(frozen=True)
class Case:
    """A network, its inputs, the machine, and the plan that was made for it."""

    graph: RandomGraph
    inputs: list[np.ndarray]
    target: Target
    network: Network
    plan: Plan


def planned(target: Target, graph: RandomGraph) -> tuple[Target, Network, Plan]:
    """Pins that an engine refuses are dropped, and L1 that is too small is raised to what the message says."""
    while True:
        network = graph.network()
        try:
            return target, network, plan_for(target, network)
        except UserError as error:
            pin = re.match(r"--pin (\S+)=\w+: \w+ cannot run this", str(error))
            room = re.search(r"needs (\d+) bytes of L1 .* \(\d+ missing\): raise", str(error))
            assert pin or room, str(error)
            if pin:
                target = replace(target, pins={name: e for name, e in target.pins.items() if name != pin[1]})
            else:
                assert room is not None
                target = replace(target, l1_limit=int(room[1]))


@cache
def case(seed: int) -> Case:
    source = np.random.default_rng(seed)
    graph = random_graph(source)
    inputs = [random_input(source, spec) for spec in graph.inputs]
    target = target_with_both(
        macs_per_cycle=int(source.choice([1, 4, 16, 64, 256])),
        weight_memory=str(source.choice(["none", "sram"])),
        cores=int(source.choice([1, 3, 8, 8])),
        l1=int(source.choice([4096, 16384, 65536])) if source.random() < 0.5 else None,
        double_buffer=bool(source.random() < 0.8),
    )
    # Left alone, a planner would give almost everything to the faster one.
    engines = [*BOTH, *BOTH, "cluster"]
    layers = [layer.name for layer in graph.network().layers if layer.operator in ("dense", "conv2d")]
    pins = {name: str(source.choice(engines)) for name in layers if source.random() < 0.8}
    return Case(graph, inputs, *planned(replace(target, pins=pins), graph))


def handed_over(made: Case) -> list[tuple[str, str]]:
    """Pairs of accelerators of which the second reads a result of the first."""
    engines = {layer.layer.name: layer.engine for layer in made.plan.plan.layers}
    makers = {tensor.storage: layer.name for layer in made.network.layers for tensor in layer.outputs}
    pairs = []
    for layer in made.network.layers:
        for tensor in layer.inputs:
            if tensor.storage in makers:
                pair = (engines[makers[tensor.storage]], engines[layer.name])
                pairs += [pair] if set(pair) == set(BOTH) else []
    return pairs


def check(seed: int) -> None:
    made = case(seed)
    run = simulate(made.target, made.plan, made.inputs)
    for output, wanted in zip(run.outputs, made.graph.references(made.inputs), strict=True):
        np.testing.assert_array_equal(output, wanted, err_msg=f"{made.graph} {made.target.pins}")


def test_the_default_cases_hand_over_in_both_directions() -> None:
    pairs = {pair for seed in DEFAULT for pair in handed_over(case(seed))}
    assert pairs == {BOTH, BOTH[::-1]}


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", DEFAULT)
def test_random_networks(seed: int) -> None:
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_many_random_networks(seed: int) -> None:
    check(seed)
