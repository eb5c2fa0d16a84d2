"""The TIR passes in order: from a plan to the synchronised main function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tvm_pulp.tiling.plan import Plan
from tvm_pulp.tir.double_buffer import double_buffer
from tvm_pulp.tir.insert_barriers import GROUPS, insert_barriers
from tvm_pulp.tir.tiled_main import TiledMain, build_tiled_main
from tvm_pulp.uma.backend import UMABackend


@dataclass(frozen=True)
class Lowered:
    """The tiled main with its tables, and the function after all passes."""

    main: TiledMain
    function: Any


def lower(plan: Plan, backends: Iterable[UMABackend] = ()) -> Lowered:
    """Tile by tile, pipelined, synchronised; accelerators may add passes of their own."""
    backends = list(backends)
    main = build_tiled_main(plan)
    function = double_buffer(main.function)
    for backend in backends:
        function = backend.run_tir_passes("pre_barriers", function)
    function = insert_barriers(main, function, agents=len(GROUPS) if plan.cores >= len(GROUPS) else 1)
    for backend in backends:
        function = backend.run_tir_passes("post_barriers", function)
    return Lowered(main, function)
