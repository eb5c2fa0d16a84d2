"""What the numbers and names in the main function's statements refer to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule.schedule import Block, Bundle, Move, Slot
from tvm_pulp.qnn.network import Tensor


@dataclass(frozen=True)
class Tables:
    """The plan, by the keys that statements use."""

    plan: Plan

    @property
    def moves(self) -> tuple[Move, ...]:
        """By the number in transfers."""
        return self.plan.schedule.moves

    @property
    def slots(self) -> tuple[Slot, ...]:
        """By the number in `submit` and `call`."""
        return self.plan.schedule.slots

    @cached_property
    def buffer_names(self) -> dict[Block, str]:
        """Names of blocks; those of different tiles have different ones."""
        return {block: f"{block.name}.{number}" for number, block in enumerate(self.plan.schedule.blocks)}

    @cached_property
    def buffers(self) -> dict[str, Block]:
        """Blocks by name."""
        return {name: block for block, name in self.buffer_names.items()}

    @cached_property
    def bundle_block(self) -> dict[Bundle, Block]:
        """Where a bundle lies when its records are read."""
        return {m.source: m.place.block for m in self.moves if isinstance(m.source, Bundle)}

    @cached_property
    def tensors(self) -> dict[str, Tensor]:
        """What is moved from or to a place outside L1, by name."""
        moved = [m.source.storage for m in self.moves if isinstance(m.source, Tensor)]
        return {t.name: t for t in (*moved, *(f.tensor for f in self.plan.schedule.fetches))}

    @cached_property
    def pointers(self) -> dict[str, Tensor]:
        """Tensors that are not in the arena: code reaches them by name."""
        return {name: t for name, t in self.tensors.items() if t not in self.plan.arena.offsets}
