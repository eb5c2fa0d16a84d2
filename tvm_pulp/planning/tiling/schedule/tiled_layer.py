"""A layer's tiles in order, and the policy that schedules those of all layers together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tvm_pulp.planning.tiling.schedule.constant_bundles import AGENTS, RECORD_WORDS
from tvm_pulp.planning.tiling.schedule.residency import Touched, touched_by
from tvm_pulp.planning.tiling.schedule.split_transfers import NO_LIMITS, CommandLimits
from tvm_pulp.planning.tiling.schedule.tensor_ranges import TouchedRanges, touched_ranges
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Recipe

# Words of a load or store in records, about.
_MOVE_WORDS = 8


@dataclass(frozen=True)
class TiledLayer:
    """A layer's tiles in order. `two_copies`: of what streams, so that tile n + 1 arrives while n computes.

    Operands of a job that is `exclusive` may give way to those of the next step, which then waits for the job. `pages`:
    times as many pages of records as usual.
    """

    recipes: tuple[Recipe, ...]
    two_copies: bool
    exclusive: bool = False
    pages: int = 1

    @cached_property
    def order(self) -> list[tuple[int, Kernel | Call | Job]]:
        """Tile and step of all compute steps. With two copies the cores finish tile n while a job of n + 1 runs."""
        parts = []
        for tile, recipe in enumerate(self.recipes):
            steps = [(tile, s) for s in recipe.steps if isinstance(s, Kernel | Call | Job)]
            jobs = [i for i, (_, s) in enumerate(steps) if isinstance(s, Job)]
            cut = jobs[-1] + 1 if jobs and self.two_copies else len(steps)
            parts.append((steps[:cut], steps[cut:]))
        order, late = list[tuple[int, Kernel | Call | Job]](), list[tuple[int, Kernel | Call | Job]]()
        for before, after in parts:
            order += [*before, *late]
            late = after
        return [*order, *late]

    @cached_property
    def touched(self) -> Touched:
        """Activations that its tiles touch."""
        return touched_by(self.recipes)

    @cached_property
    def ranges(self) -> list[TouchedRanges]:
        """Bytes of activations that each of its tiles touches."""
        return [touched_ranges(recipe) for recipe in self.recipes]

    @cached_property
    def loaded(self) -> tuple[Tensor, ...]:
        """Constants that its tiles bring to L1."""
        loads = (step for recipe in self.recipes for step in recipe.steps if isinstance(step, Load))
        return tuple(dict.fromkeys(s.tensor.storage for s in loads if s.tensor.storage.kind == "constant"))

    @cached_property
    def descriptor_bytes(self) -> int:
        """Bytes that records and descriptors take, about."""
        steps = sum(step.words + RECORD_WORDS + AGENTS for _, step in self.order)
        return 4 * (steps + 3 * len(self.recipes) * _MOVE_WORDS)


@dataclass(frozen=True)
class Policy:
    """Residency in L1 between layers, and how early the constants of a layer are fetched."""

    # Readers (layer indices) that find an activation in L1.
    resident: Mapping[Tensor, frozenset[int]] = field(default_factory=dict)
    # Slots by which the constants of a layer are fetched ahead of its first step; 0 is none.
    lead: Mapping[int, int] = field(default_factory=dict)
    overlap: bool = True
    # Bytes that come from L3 at a time, at least: so much is fetched while what was fetched before is used.
    l3_batch: int = 0
    commands: CommandLimits = NO_LIMITS
    # Steps of neighbouring layers stand between each other where that keeps engines busy.
    interleave: bool = False
    # Layers that begin when all before them are over nevertheless.
    apart: frozenset[int] = frozenset()
    # Bytes up to which constants and records of neighbouring layers travel together; 0: those of a layer alone.
    bundle_bytes: int = 0
    # Constants that lie elsewhere than their tensors say.
    levels: Mapping[Tensor, str] = field(default_factory=dict)

    def joins(self, layer: int) -> bool:
        """Tell if a layer may begin while those before it are under way."""
        return self.interleave and layer > 0 and layer not in self.apart

    def level(self, tensor: Tensor) -> str:
        """The level of memory where the bytes of a tensor lie."""
        return self.levels.get(tensor.storage, tensor.storage.level)
