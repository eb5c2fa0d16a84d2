"""Rules for every accelerator; each check raises AssertionError with the layer that breaks it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling, footprint
from tvm_pulp.qnn.network import Layer, Network
from tvm_pulp.soc import CostModel, Soc
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.conformance.layer_network import layer_network, offered, pinned, simulate, target_for, tight_plan
from tvm_pulp.uma.conformance.random_layer import (
    OPERATOR_KINDS,
    REGION_KINDS,
    REQUANTIZATIONS,
    RandomLayer,
    check_kinds,
    random_input,
    random_layer,
)
from tvm_pulp.uma.strategy import Form

# L1 sizes from "almost nothing" to "more than any layer here needs".
BUDGETS = (2048, 8192, 65536)
# Estimates of neighbouring sizes may step down a little where a larger size fills the hardware better.
_TOLERANCE = 1.05


@dataclass(frozen=True)
class Conformance:
    """The conformance kit for one backend.

    def test_it_conforms() -> None:
        Conformance(MyBackend(), soc="my_soc.yaml", kinds=("dense",)).check()
    """

    backend: UMABackend
    soc: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    kinds: Sequence[str] = OPERATOR_KINDS
    requantizations: Sequence[str] = REQUANTIZATIONS
    types: Sequence[str] = ("int8", "uint8")
    layers: int = 12
    seed: int = 0
    # Whether the backend's passes see the layers first, for patterns of what only they make.
    prepared: bool = False

    def __post_init__(self) -> None:
        check_kinds(self.kinds, self.requantizations)

    def check(self) -> None:
        """All checks."""
        self.check_limits()
        self.check_costs()
        self.check_partition()
        self.check_results()
        self.check_fallback()

    @property
    def _soc(self) -> Soc:
        return socs.load(self.soc or self.backend.default_soc)

    @property
    def _context(self) -> Any:
        description = self._soc
        return self.backend.context(self.backend.options(dict(self.options)), description, description.cluster.cores)

    def _random_layers(self) -> tuple[list[RandomLayer], list[np.ndarray]]:
        source = np.random.default_rng(self.seed)
        made = [random_layer(source, self.kinds, self.requantizations, self.types) for _ in range(self.layers)]
        return made, [random_input(source, layer.x) for layer in made]

    def _network(self, layers: Sequence[RandomLayer]) -> Network:
        return layer_network(layers, prepare=self.backend if self.prepared else None)

    def check_limits(self) -> None:
        """Tiles keep their steps and limits, cover the output once, and their buffers fit into L1."""
        found = self._offered()
        for layer, form, shown in found:
            for budget in BUDGETS:
                tiling = Cuts(form, layer, CostModel(self._soc)).within(budget)
                if isinstance(tiling, Tiling):
                    _check_tiling(form, layer, tiling, budget, shown)
        assert found, f"{self.backend.target_name} offers nothing for {self.layers} random layers of {self.kinds}"

    def check_costs(self) -> None:
        """Estimates are positive, never below the bound, and do not fall when the part to compute grows."""
        for layer, form, shown in self._offered():
            shape = layer.outputs[0].spec.shape
            whole = _allowed(form, shape)
            cost = form.recipe(whole).cycles
            assert cost > 0 and form.bound_cycles() > 0, f"{form.name} of {shown} costs {cost} cycles"
            for axis in (a for a in form.axes() if whole.size[a.axis] >= 2 * a.step):
                half = list(whole.size)
                half[axis.axis] = -(-half[axis.axis] // 2 // axis.step) * axis.step
                part = form.recipe(Box(whole.start, tuple(half))).cycles
                assert 0 < part <= cost * _TOLERANCE, f"{form.name} of {shown}: {half} costs {part}, all {cost}"

    def check_partition(self) -> None:
        """Regions of the engine become functions of their own, called after its patterns, well formed for TVM."""
        from tvm import relax

        random_layers, _ = self._random_layers()
        origin = layer_network(random_layers).origin
        assert origin is not None
        module, engine = self.backend.partition(origin.module), self.backend.target_name
        relax.analysis.well_formed(module)
        names = {f"{engine}.{pattern.name}" for pattern in self.backend.patterns}
        regions = [f.attrs for gv, f in module.functions.items() if gv.name_hint != "main"]
        assert regions, f"no pattern of {engine} matches any of {self.layers} random layers of {self.kinds}"
        for attributes in regions:
            assert attributes["Codegen"] == engine and attributes["Composite"] in names, str(attributes)

    def check_results(self) -> None:
        """Pinned to the accelerator, with little and with much L1, layers equal the numpy reference."""
        random_layers, inputs = self._random_layers()
        expected = [layer.reference(x) for layer, x in zip(random_layers, inputs, strict=True)]
        for tight in (True, False):
            network = self._network(random_layers)
            target = target_for(self._soc, self.backend, self.options)
            if tight:
                target, plan = tight_plan(target, network)
            else:
                target = pinned(target, network)
                plan = plan_for(target, network)
            assert target.pins, f"{self.backend.target_name} runs none of the random layers"
            run = simulate(target, plan, inputs)
            assert run.jobs.get(self.backend.target_name), f"no job reached the model of {self.backend.target_name}"
            compare(random_layers, network, run.outputs, expected, run.report)
            operators = {entry["op"] for entry in run.report["layers"]}
            for kind in (k for k in self.kinds if k in REGION_KINDS):
                assert kind in operators, f"{self.backend.target_name} runs no {kind} as one region"

    def check_fallback(self) -> None:
        """Without the backend the cores compute the same."""
        random_layers, inputs = self._random_layers()
        network = layer_network(random_layers)
        description = self._soc
        target = target_for(description.model_copy(update={"engines": {}}))
        run = simulate(target, plan_for(target, network), inputs)
        expected = [layer.reference(x) for layer, x in zip(random_layers, inputs, strict=True)]
        compare(random_layers, network, run.outputs, expected, run.report)
        assert {layer["engine"] for layer in run.report["layers"]} == {"cluster"}

    def _offered(self) -> list[tuple[Layer, Form, str]]:
        """Every form that is offered for a random layer, with the layer as the forms and as a reader see it."""
        random_layers, _ = self._random_layers()
        network = self._network(random_layers)
        found = offered(self.backend, self._context, network)
        shown = {t.storage: str(made) for t, made in zip(network.outputs, random_layers, strict=True)}
        return [
            (layer, form, shown.get(layer.outputs[0].storage, f"a {layer.operator} inside"))
            for layer, forms in found.items()
            for form in forms
        ]


def compare(
    layers: Sequence[RandomLayer],
    network: Network,
    outputs: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    report: dict[str, Any],
) -> None:
    """Outputs equal the reference, or stay within the deviation the report states."""
    # The plan may have changed the order of layers.
    entries = {entry["name"]: entry for entry in report["layers"]}
    named = [entries[output.storage.name] for output in network.outputs]
    for layer, output, wanted, entry in zip(layers, outputs, expected, named, strict=True):
        difference = int(np.abs(output.astype(np.int64) - wanted.astype(np.int64)).max(initial=0))
        assert output.dtype == wanted.dtype and output.shape == wanted.shape, f"{layer}: {output.dtype}{output.shape}"
        assert difference <= entry["deviation_lsb"], (
            f"{layer} on {entry['engine']} ({entry['form']}, {entry['tiles']} tiles) differs by {difference}"
        )


def _allowed(form: Any, shape: tuple[int, ...]) -> Box:
    """The largest part of the output one recipe may be asked for."""
    limits = {a.axis: a.limit for a in form.axes()}
    return Box((0,) * len(shape), tuple(min(n, limits.get(i) or n) for i, n in enumerate(shape)))


def _check_tiling(form: Any, layer: Layer, tiling: Tiling, budget: int, shown: str) -> None:
    axes = {a.axis: a for a in form.axes()}
    shape = layer.outputs[0].spec.shape
    covered = 0
    for box in tiling.tiles:
        assert footprint(form.recipe(box)) <= budget, f"{form.name} of {shown}: tile {box} exceeds {budget} bytes of L1"
        covered += box.elements
        for i, (start, size, extent) in enumerate(zip(box.start, box.size, shape, strict=True)):
            axis = axes.get(i)
            if axis is None:
                assert (start, size) == (0, extent), f"{form.name} of {shown}: axis {i} must not be cut"
            else:
                assert start % (axis.least or axis.step) == 0, (
                    f"{form.name} of {shown}: tile {box} ignores step {axis.step}"
                )
                assert size <= (axis.limit or size), f"{form.name} of {shown}: tile {box} exceeds limit {axis.limit}"
    assert covered == layer.outputs[0].spec.elements, f"{form.name} of {shown}: tiles cover {covered} elements"
