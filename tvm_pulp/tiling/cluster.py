"""The cores as an engine: every layer has a form here, so every network runs."""

from __future__ import annotations

from dataclasses import dataclass

from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.tiling.tile_rules import RULES
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Kernel, Load, Local, Recipe, Store
from tvm_pulp.uma.strategy import TileAxis

ENGINE = "cluster"

# Cycles of plain compiled C on one core, measured on the simulator: per MAC, per element, per call.
_CYCLES_PER_MAC = 10
_CYCLES_PER_ELEMENT = 25
_CYCLES_PER_CALL = 900
# Operators that only move elements, and those that read many for one.
_CYCLES_PER_MOVED_ELEMENT = 6
_MOVES = frozenset({"transpose", "pad", "slice", "concat", "gather", "im2col", "dilate", "space_to_depth"})
_CYCLES_PER_REDUCED_ELEMENT = 4
_REDUCES = frozenset({"max_pool", "avg_pool", "reduce"})
# Operators whose rows are done by one core each: divisions and roots by software.
_ROW_CYCLES_PER_ELEMENT = {"softmax": 90, "rms_norm": 50, "layer_norm": 70}
# MAC per cycle and core no kernel exceeds: 4 per dot-product instruction, loads in between.
_PEAK_MACS_PER_CYCLE = 2.67
# A load or store that leaves the cluster.
_L2_ACCESS_CYCLES = 15


@dataclass(frozen=True)
class TiledForm:
    """Operands in L1, the layer cut along its rule's axes."""

    layer: Layer
    cores: int
    name: str = "tiled"
    engine: str = ENGINE

    def axes(self) -> tuple[TileAxis, ...]:
        rule = RULES.get(self.layer.operator)
        return rule.axes(self.layer) if rule else ()

    def recipe(self, box: Box) -> Recipe:
        layer, rule = self.layer, RULES.get(self.layer.operator)
        if rule is None:
            boxes = tuple(Box.whole(t.spec.shape) for t in layer.inputs)
            attributes = layer.attributes
        else:
            part = rule.part(layer, box)
            boxes, attributes = part.inputs, part.attributes
        inputs = tuple(
            Local(f"x{i}", TensorSpec(b.size, t.spec.dtype))
            for i, (t, b) in enumerate(zip(layer.inputs, boxes, strict=True))
        )
        targets = [Box.whole(t.spec.shape) for t in layer.outputs] if rule is None else [box]
        outputs = tuple(
            Local(f"y{i}", TensorSpec(b.size, t.spec.dtype))
            for i, (t, b) in enumerate(zip(layer.outputs, targets, strict=True))
        )
        spaces = tuple(Local(f"space{i}", t.spec) for i, t in enumerate(layer.workspaces))
        function = layer.function if layer.operator.startswith("tir.") else None
        loads = [Load(t, b, x) for t, b, x in zip(layer.inputs, boxes, inputs, strict=True)]
        kernel = Kernel(layer.operator, attributes, inputs, outputs, function, spaces, layer.parallel)
        stores = [Store(y, t, b) for y, t, b in zip(outputs, layer.outputs, targets, strict=True)]
        return Recipe((*loads, kernel, *stores), kernel_cycles(kernel, self.cores))

    def bound_cycles(self) -> int:
        return bound(self.layer, self.cores)


@dataclass(frozen=True)
class DirectForm:
    """Operands stay in L2; for layers that cannot be cut and do not fit."""

    layer: Layer
    cores: int
    name: str = "from L2"
    engine: str = ENGINE

    def axes(self) -> tuple[TileAxis, ...]:
        return ()

    def recipe(self, _box: Box) -> Recipe:
        layer = self.layer
        function = layer.function if layer.operator.startswith("tir.") else None
        kernel = Kernel(
            layer.operator,
            layer.attributes,
            tuple(layer.inputs),
            tuple(layer.outputs),
            function,
            tuple(layer.workspaces),
            layer.parallel,
        )
        moved = sum(t.spec.elements for t in (*layer.inputs, *layer.outputs))
        return Recipe((kernel,), kernel_cycles(kernel, self.cores) + moved * _L2_ACCESS_CYCLES // self.cores)

    def bound_cycles(self) -> int:
        return bound(self.layer, self.cores)


def kernel_cycles(kernel: Kernel, cores: int) -> int:
    """Estimate for plain C shared by the cores."""
    outputs = sum(o.spec.elements for o in kernel.outputs)
    macs, rows = 0, outputs
    if kernel.operator in OPERATORS:
        specs = [i.spec for i in kernel.inputs]
        macs = OPERATORS[kernel.operator].macs(kernel.attributes, specs, kernel.outputs[0].spec)
    if kernel.operator in _ROW_CYCLES_PER_ELEMENT:
        rows = outputs // kernel.outputs[0].spec.shape[-1]
    each = _ROW_CYCLES_PER_ELEMENT.get(kernel.operator, _CYCLES_PER_ELEMENT)
    work = macs * _CYCLES_PER_MAC + outputs * (_CYCLES_PER_MOVED_ELEMENT if kernel.operator in _MOVES else each)
    if kernel.operator in _REDUCES:
        work += sum(i.spec.elements for i in kernel.inputs) * _CYCLES_PER_REDUCED_ELEMENT
    # Cores share rows or elements, never parts of them.
    return _CYCLES_PER_CALL + work // (max(1, min(cores, rows)) if kernel.parallel else 1)


def bound(layer: Layer, cores: int) -> int:
    """Cycles the cores need at least: dot products at their peak rate, or one cycle an element."""
    elements = sum(t.spec.elements for t in layer.outputs)
    return max(1, int(max(layer.macs / _PEAK_MACS_PER_CYCLE, elements / 4) / cores))
