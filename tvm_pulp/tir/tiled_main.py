"""The network on a cluster as one TIR function: every tile's transfers, kernel calls and accelerator jobs in order.

The statements are calls of a small vocabulary, without synchronisation; `insert_barriers` adds it:

    layer(i)                                     a layer begins
    dma_load(local, external, bytes)             also _2d with line and stride; dma_store alike
    submit(engine, job)                          start job number `job`
    kernel(arguments...)                         on all cores
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.plan import PlacedTile, Plan
from tvm_pulp.uma.box import transfers
from tvm_pulp.uma.recipe import Job, Kernel, Load, Local, Store

LAYER, LOAD, STORE, SUBMIT, KERNEL = "layer", "dma_load", "dma_store", "submit", "kernel"
# Places: an offset in L1, an offset in the L2 arena, an offset from a named pointer.
L1, L2, AT = "L1", "L2", "AT"


@dataclass(frozen=True)
class TiledMain:
    """The function, and the tables its numbers refer to."""

    function: Any
    kernels: list[Kernel]  # by the first argument of `kernel`
    jobs: list[tuple[Job, PlacedTile]]  # by the argument of `submit`
    pointers: dict[str, Tensor]  # named pointers that `AT` uses


def call(name: str, *arguments: Any) -> Any:
    values = [tirx.const(a, "int32") if isinstance(a, int) else a for a in arguments]
    return tirx.call_extern("int32", name, *values)


def build_tiled_main(plan: Plan, job_bytes: Callable[[Job], int]) -> TiledMain:
    """All statements of the plan in order."""
    builder = _Builder(plan, job_bytes)
    for index, layer in enumerate(plan.layers):
        builder.add(call(LAYER, index))
        for tile in layer.tiles:
            builder.tile(tile)
    builder.add(call(LAYER, len(plan.layers)))
    body = tirx.SeqStmt([tirx.Evaluate(s) for s in builder.statements])
    function = tirx.PrimFunc([], body).with_attr("global_symbol", f"tvmgen_{plan.network.name}_run")
    return TiledMain(function, builder.kernels, builder.jobs, builder.pointers)


class _Builder:
    def __init__(self, plan: Plan, job_bytes: Callable[[Job], int]) -> None:
        self._plan, self._job_bytes = plan, job_bytes
        self.statements: list[Any] = []
        self.kernels: list[Kernel] = []
        self.jobs: list[tuple[Job, PlacedTile]] = []
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
        steps = tile.recipe.steps
        # Job structures travel with the tile's other data.
        numbers: dict[int, int] = {}
        for step in steps:
            if isinstance(step, Job):
                numbers[id(step)] = len(self.jobs)
                self.jobs.append((step, tile))
        fetched = False
        for step in steps:
            if not isinstance(step, Load) and not fetched:
                fetched = True
                for job in (s for s in steps if isinstance(s, Job)):
                    place = call(L1, tile.offsets[job.slot])
                    self.add(call(f"{LOAD}_job", place, numbers[id(job)], self._job_bytes(job)))
            self._step(step, tile, numbers)

    def _step(self, step: Any, tile: PlacedTile, numbers: dict[int, int]) -> None:
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
            self.add(call(SUBMIT, numbers[id(step)], call(L1, tile.offsets[step.slot])))


