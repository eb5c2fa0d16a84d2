"""Annotation: every engine's patterns, with their checks, give the regions it could run. Nothing is chosen yet.

Regions of one engine or of several may overlap; planning takes the cheapest cover of the network. A region hands on
one value: what its other operators compute is read inside only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import tvm_ffi
from tvm.relax.dpl import CallPattern

from tvm_pulp.qnn.lineage import bindings_of, variables_of
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.uma.pattern import Pattern
from tvm_pulp.uma.region import Region, join
from tvm_pulp.uma.strategy import Refusal


class Patterned(Protocol):
    """A backend as annotation sees it."""

    @property
    def target_name(self) -> str: ...

    @property
    def patterns(self) -> tuple[Pattern, ...]: ...


@dataclass(frozen=True)
class Match:
    """A match as a check sees it: upstream's `PatternCheckContext`, the region as a layer, the compilation."""

    matched_expr: Any
    annotated_expr: Mapping[str, Any]
    matched_bindings: Mapping[Any, Any]
    var_usages: Mapping[Any, Sequence[Any]]
    value_to_bound_var: Mapping[Any, Any]
    layer: Layer
    # What `UMABackend.context` made of options and SoC; strategies are told the same.
    context: Any


@dataclass(frozen=True)
class Annotated:
    """Regions of all engines, those of engines named first in front; and what engines refused, by layer."""

    network: Network
    regions: tuple[Region, ...]
    refusals: Mapping[Layer, tuple[Refusal, ...]] = field(default_factory=dict)

    @cached_property
    def several(self) -> list[Layer]:
        """Regions of several operators, each once, in the order of their results."""
        order = {layer.variables[-1]: index for index, layer in enumerate(self.network.layers) if layer.variables}
        found = dict.fromkeys(region.layer for region in self.regions if region.layer.parts)
        return sorted(found, key=lambda layer: (order[layer.variables[-1]], len(layer.parts)))


def annotate(network: Network, engines: Sequence[tuple[Patterned, Any]]) -> Annotated:
    """Regions that the engines, with their contexts and by priority, could run in a network."""
    if not engines:
        return Annotated(network, ())
    return _Annotator(network).annotate(engines)


class _Annotator:
    def __init__(self, network: Network) -> None:
        assert network.origin is not None
        self._network = network
        main = network.origin.module["main"]
        bindings = bindings_of(main)
        self._values = {b.var: b.value for b in bindings}
        self._values_for_tvm = tvm_ffi.convert(self._values)  # once: it is asked for every pattern and layer
        self._bound = {b.value: b.var for b in bindings}
        self._order = {b.var: position for position, b in enumerate(bindings)}
        self._layers = {layer.variables[-1]: layer for layer in network.layers if layer.variables}
        self._users: dict[Any, list[Any]] = {variable: [] for variable in self._values}
        for binding in bindings:
            for variable in variables_of(binding.value):
                self._users.setdefault(variable, []).append(binding.var)
        # What `main` returns is read outside of every region.
        for variable in variables_of(main.body.body):
            self._users.setdefault(variable, []).append(None)
        self._joined: dict[tuple[Any, ...], Layer] = {}

    def annotate(self, engines: Sequence[tuple[Patterned, Any]]) -> Annotated:
        regions: list[Region] = []
        refusals: dict[Layer, list[Refusal]] = {}
        for backend, context in engines:
            for layer in self._network.layers:
                refused: list[Refusal] = []
                alone = False
                for pattern in backend.patterns:
                    found = self._match(backend, pattern, layer, context)
                    if isinstance(found, Region):
                        regions.append(found)
                    elif found is not None:
                        refused.append(found[1])
                    alone |= found is not None and not (found.layer if isinstance(found, Region) else found[0]).parts
                if not alone:
                    refused.insert(0, Refusal(backend.target_name, f"it has no {layer.operator}"))
                if refused:
                    refusals.setdefault(layer, []).extend(refused)
        return Annotated(self._network, tuple(regions), {layer: tuple(why) for layer, why in refusals.items()})

    def _match(
        self, backend: Patterned, pattern: Pattern, last: Layer, context: Any
    ) -> Region | tuple[Layer, Refusal] | None:
        """The region of a pattern that ends in a layer, or why it is none; None where the pattern does not match."""
        if not last.variables:
            return None
        root = self._values[last.variables[-1]]
        matched = pattern.expression.extract_matched_expr(root, self._values_for_tvm)
        if matched is None:
            return None
        calls = [self._bound[e] for p, e in matched.items() if isinstance(p, CallPattern)]
        variables = tuple(sorted(dict.fromkeys(calls), key=lambda v: self._order[v]))
        layer = self._layer(variables)
        engine = backend.target_name
        for variable in variables[:-1]:
            if any(user not in variables for user in self._users[variable]):
                return layer, Refusal(engine, f"{layer.operator}: '{variable.name}' inside is read elsewhere too")
        bindings = {v: self._values[v] for v in variables}
        told = Match(root, {"root": root}, bindings, self._users, self._bound, layer, context)
        answer = pattern.check(told)
        if answer is True:
            return Region(layer, engine, pattern.name)
        refusal = answer if isinstance(answer, Refusal) else Refusal(engine, answer or f"its {pattern.name} says no")
        return layer, replace(refusal, reason=f"{layer.operator}: {refusal.reason}") if layer.parts else refusal

    def _layer(self, variables: tuple[Any, ...]) -> Layer:
        """The layer that computes the variables; the same one for every engine."""
        if variables not in self._joined:
            parts = [self._layers[v] for v in variables if v in self._layers]
            self._joined[variables] = join(parts, variables)
        return self._joined[variables]
