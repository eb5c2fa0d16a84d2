"""Rules for two accelerators on one SoC: each reads what the other made, and only when it is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.target import Target
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.conformance.checks import compare
from tvm_pulp.uma.conformance.layer_network import chain_network, layer_network, offered, simulate, tight_plan
from tvm_pulp.uma.conformance.random_layer import RandomLayer, random_input, random_layer, random_layer_on

# Results of eight bits, so that another layer can read them.
_BYTES = ("pulp", "pulp_negative", "tflite", "half_even")
_TRIES = 200

Chain = Sequence[RandomLayer]


@dataclass(frozen=True)
class EnginePair:
    """The conformance kit for two backends.

    def test_it_works_beside_another() -> None:
        EnginePair(MyBackend(), registry.backend("other")).check()
    """

    first: UMABackend
    second: UMABackend
    soc: str = ""  # the first one's default unless named
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by engine
    chains: int = 4
    seed: int = 0

    def check(self) -> None:
        """Both directions."""
        self.check_direction(self.first, self.second)
        self.check_direction(self.second, self.first)

    def check_direction(self, maker: UMABackend, reader: UMABackend) -> None:
        """Maker, reader, maker in a row, several rows at once, in little and in much L1: all inferences equal numpy."""
        source = np.random.default_rng(self.seed)
        turns = (maker, reader, maker)
        chains = [self._chain(source, turns) for _ in range(self.chains)]
        inputs = [random_input(source, chain[0].x) for chain in chains]
        expected = [_reference(chain, x) for chain, x in zip(chains, inputs, strict=True)]
        for tight in (True, False):
            network = chain_network(chains)
            names = [turn.target_name for _ in chains for turn in turns]
            pins = {layer.name: name for layer, name in zip(network.layers, names, strict=True)}
            target = replace(self._target, pins=pins)
            target, plan = tight_plan(target, network) if tight else (target, plan_for(target, network))
            run = simulate(target, plan, inputs)
            for engine in (maker, reader):
                assert run.jobs.get(engine.target_name), f"no job reached the model of {engine.target_name}"
            last = [chain[-1] for chain in chains]
            compare(last, network, run.outputs, expected, run.report)

    @property
    def _target(self) -> Target:
        soc = socs.load(self.soc or self.first.default_soc)
        engines = tuple((b, b.options(dict(self.options.get(b.target_name, {})))) for b in (self.first, self.second))
        return Target(soc, engines, soc.cluster.cores)

    def _chain(self, source: np.random.Generator, turns: Sequence[UMABackend]) -> Chain:
        """Layers of which each engine takes its own, each on the result of the one before."""
        made: list[RandomLayer] = []
        for turn in turns:
            for _ in range(_TRIES):
                layer = (
                    random_layer_on(source, made[-1].output, _BYTES)
                    if made
                    else random_layer(source, ("dense",), _BYTES)
                )
                if self._takes(turn, layer):
                    made.append(layer)
                    break
            else:
                raise AssertionError(f"{turn.target_name} takes none of {_TRIES} random layers")
        return made

    def _takes(self, backend: UMABackend, layer: RandomLayer) -> bool:
        target = self._target
        context = backend.context(dict(target.engines)[backend], target.soc, target.cores)
        return bool(offered(backend, context, layer_network([layer])))


def _reference(chain: Chain, x: np.ndarray) -> np.ndarray:
    for layer in chain:
        x = layer.reference(x)
    return x
