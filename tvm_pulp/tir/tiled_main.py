"""The network on a cluster as one TIR function: every tile's transfers, kernel calls and accelerator jobs in order.

The statements are calls of a small vocabulary, without synchronisation; `insert_barriers` adds it:

    layer(i)                                     a layer begins
    dma_load(local, external, bytes)             also _2d with line and stride; dma_store alike
    dma_load_descriptors(local, tile, bytes)     the argument structures of a tile
    submit(step, local)                          start the job whose structure lies at `local`
    call(step, local)                            a hand-written kernel on all cores, alike
    kernel(number, arguments...)                 a generated kernel on all cores
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.plan import PlacedTile, Plan
from tvm_pulp.uma.box import transfers
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Local, Store, descriptor_words

LAYER, LOAD, STORE, SUBMIT, KERNEL, CALL = "layer", "dma_load", "dma_store", "submit", "kernel", "call"
DESCRIPTORS = "dma_load_descriptors"
# Places: an offset in L1, an offset in the L2 arena, an offset from a named pointer.
L1, L2, AT = "L1", "L2", "AT"


@dataclass(frozen=True)
class TiledMain:
    """The function, and the tables its numbers refer to."""

    function: Any
    kernels: list[Kernel]  # by the first argument of `kernel`
    described: list[Job | Call]  # by the first argument of `submit` and `call`
    tiles: list[PlacedTile]  # by the second argument of `dma_load_descriptors`
    pointers: dict[str, Tensor]  # named pointers that `AT` uses


def call(name: str, *arguments: Any) -> Any:
    values = [tirx.const(a, "int32") if isinstance(a, int) else a for a in arguments]
    return tirx.call_extern("int32", name, *values)


def build_tiled_main(plan: Plan) -> TiledMain:
    """All statements of the plan in order."""
    builder = _Builder(plan)
    for index, layer in enumerate(plan.layers):
        builder.add(call(LAYER, index))
        for tile in layer.tiles:
            builder.tile(tile)
    builder.add(call(LAYER, len(plan.layers)))
    body = tirx.SeqStmt([tirx.Evaluate(s) for s in builder.statements])
    function = tirx.PrimFunc([], body).with_attr("global_symbol", f"tvmgen_{plan.network.name}_run")
    return TiledMain(function, builder.kernels, builder.described, builder.tiles, builder.pointers)


class _Builder:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.statements: list[Any] = []
        self.kernels: list[Kernel] = []
        self.described: list[Job | Call] = []
        self.tiles: list[PlacedTile] = []
        self.pointers: dict[str, Tensor] = {}

    def add(self, statement: Any) -> None:
        self.statements.append(statement)

    def _external(self, tensor: Tensor, offset: int) -> Any:
        storage = tensor.storage
        if storage in self._plan.arena.offsets:
            return call(L2, self._plan.arena.offsets[storage] + offset)
        self.pointers[storage.name] = storage
        return call(AT, storage.name, offset)

    def _place(self, operand: Local | Tensor, tile: PlacedTile) -> Any:
        if isinstance(operand, Local):
            return call(L1, tile.offsets[operand])
        return self._external(operand, 0)

    def tile(self, tile: PlacedTile) -> None:
        slots = tile.slots()
        if slots:
            words = descriptor_words(tile.recipe.steps)
            self.add(call(DESCRIPTORS, call(L1, 0), len(self.tiles), 4 * words))
            self.tiles.append(tile)
        for index, step in enumerate(tile.recipe.steps):
            self._step(step, tile, slots.get(index, 0))

    def _step(self, step: Any, tile: PlacedTile, slot: int) -> None:
        if isinstance(step, Load | Store):
            name = LOAD if isinstance(step, Load) else STORE
            itemsize = np.dtype(step.tensor.spec.dtype).itemsize
            for t in transfers(step.box, step.tensor.spec.shape, itemsize):
                local = call(L1, tile.offsets[step.local] + t.local)
                places = [local, self._external(step.tensor, t.external)]
                if isinstance(step, Store):
                    places.reverse()
                extra = [t.line, t.stride] if t.is_2d else []
                self.add(call(f"{name}_2d" if t.is_2d else name, *places, t.bytes, *extra))
        elif isinstance(step, Kernel):
            self.kernels.append(step)
            self.add(call(KERNEL, len(self.kernels) - 1, *(self._place(o, tile) for o in step.operands)))
        else:
            self.described.append(step)
            name = SUBMIT if isinstance(step, Job) else CALL
            self.add(call(name, len(self.described) - 1, call(L1, slot)))
