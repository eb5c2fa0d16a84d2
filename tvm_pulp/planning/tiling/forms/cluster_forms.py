"""The cores as an engine: every layer has a form here, so every network runs."""

from dataclasses import dataclass, replace
from functools import cached_property

from tvm_pulp.planning.tiling.cost.loop_cost import OperationCount, count_layer_operations
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes, tile_part
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.record import Attributes
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import CoreCost, Kernel, Load, Local, Recipe, Store
from tvm_pulp.uma.registry import core_schedules
from tvm_pulp.uma.strategy import EXACT, Form, TileAxis

CLUSTER = "cluster"
_Operands = tuple[Local | Tensor, ...]


@dataclass(frozen=True)
class CoreForm:
    """A layer on the cores, which is cut along its rule's axes."""

    layer: Layer
    costs: CostModel
    engine = CLUSTER
    rounding = EXACT

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def bound_cycles(self) -> int:
        """Cycles the cores need at least: products at their peak rate, or one cycle for four elements."""
        layer, costs = self.layer, self.costs
        peak = costs.soc.cluster.kind.peak_macs_per_cycle
        elements = sum(t.spec.elements for t in layer.outputs)
        return max(1, int(max(layer.macs / peak, elements / 4) / costs.cores))


@dataclass(frozen=True)
class TiledForm(CoreForm):
    """Operands in L1."""

    name: str = "tiled"

    @cached_property
    def operations(self) -> OperationCount:
        return count_layer_operations(self.layer)

    def recipe(self, box: Box) -> Recipe:
        layer, part = self.layer, tile_part(self.layer, box)
        inputs = tuple(
            Local(f"x{i}", TensorSpec(b.size, t.spec.dtype))
            for i, (t, b) in enumerate(zip(layer.inputs, part.inputs, strict=True))
        )
        # What makes several results is never cut.
        targets = [box] if len(layer.outputs) == 1 else [Box.whole(t.spec.shape) for t in layer.outputs]
        outputs = tuple(
            Local(f"y{i}", TensorSpec(b.size, t.spec.dtype))
            for i, (t, b) in enumerate(zip(layer.outputs, targets, strict=True))
        )
        spaces = tuple(Local(f"space{i}", t.spec) for i, t in enumerate(layer.workspaces))
        loads = [Load(t, b, x) for t, b, x in zip(layer.inputs, part.inputs, inputs, strict=True)]
        cut = box.elements / max(1, layer.outputs[0].spec.elements) if self.axes() else 1.0
        cost = self.operations.cost(self.costs, cut, str(box.size) if cut < 1 else "", parallel=layer.parallel)
        stores = [Store(y, t, b) for y, t, b in zip(outputs, layer.outputs, targets, strict=True)]
        return Recipe((*loads, self._kernel(part.attributes, inputs, outputs, spaces, cost), *stores))

    def _kernel(
        self, attributes: Attributes, inputs: _Operands, outputs: _Operands, spaces: _Operands, cost: CoreCost
    ) -> Kernel:
        layer = self.layer
        function = layer.function if layer.operator.startswith("tir.") else None
        return Kernel(layer.operator, attributes, inputs, outputs, function, spaces, layer.parallel, cost)


@dataclass(frozen=True)
class DirectForm(TiledForm):
    """Operands stay in L2; for layers that cannot be cut and do not fit."""

    name: str = "from L2"

    def axes(self) -> tuple[TileAxis, ...]:
        return ()

    def recipe(self, _box: Box) -> Recipe:
        layer, executed = self.layer, self.operations.executed
        cost = self.operations.cost(self.costs, parallel=layer.parallel)
        accesses = (executed.get("load", 0) + executed.get("store", 0)) / (self.costs.cores if layer.parallel else 1)
        cost = replace(cost, cycles=cost.cycles + round(accesses * self.costs.l2_access_cycles))
        operands = (tuple(layer.inputs), tuple(layer.outputs), tuple(layer.workspaces))
        return Recipe((self._kernel(layer.attributes, *operands, cost),))


def core_forms(layer: Layer, costs: CostModel) -> list[Form]:
    """The ways in which so many cores run a layer; the one that they always have is the last."""
    return [*(form for schedule in core_schedules() for form in schedule(layer, costs)), TiledForm(layer, costs)]
