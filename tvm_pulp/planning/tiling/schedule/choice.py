"""The decision about a layer, with what its tiles are to a schedule."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.planning.program.step_record import expected_record_words
from tvm_pulp.planning.tiling.forms.cuts import Tiling
from tvm_pulp.planning.tiling.schedule.residency import TouchedTensors, touched_by
from tvm_pulp.planning.tiling.schedule.tensor_ranges import TouchedRanges, touched_ranges
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Call, Job, Kernel, Recipe

# Tile and step of what is computed.
_Order = list[tuple[int, Kernel | Call | Job]]


@dataclass(frozen=True)
class Choice:
    """The decision about a layer. What is found out about its tiles, all choices of the same tiling share."""

    tiling: Tiling
    two_copies: bool  # of what streams, so that tile n + 1 arrives while n computes
    budget: int  # bytes that a single tile may take
    # One buffer of each kind is all that fits: operands of a job may give way to those of the next step, which then
    # waits for the job.
    exclusive: bool = False
    pages: int = 1  # times as many pages of records as usual, each so much smaller

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """How its tiles are computed."""
        return self.tiling.recipes

    @property
    def order(self) -> _Order:
        """All compute steps in order."""
        return self.tiling.remember((ordered, self.two_copies), lambda: ordered(self.recipes, self.two_copies))

    @property
    def touched(self) -> TouchedTensors:
        """Activations that its tiles touch."""
        return self.tiling.remember(touched_by, lambda: touched_by(self.recipes))

    @property
    def ranges(self) -> list[TouchedRanges]:
        """Bytes of activations that each of its tiles touches."""
        return self.tiling.remember(touched_ranges, lambda: list(map(touched_ranges, self.recipes)))

    @property
    def loaded(self) -> tuple[Tensor, ...]:
        """Constants that its tiles bring to L1."""
        return self.tiling.remember(_loaded, lambda: _loaded(self.recipes))

    @property
    def descriptor_bytes(self) -> int:
        """Bytes that records and descriptors take, about."""
        return self.tiling.remember(_descriptor_bytes, lambda: _descriptor_bytes(self.order, len(self.recipes)))


def ordered(recipes: Sequence[Recipe], two_copies: bool) -> _Order:
    """The compute steps of tiles. With two copies the cores finish tile n while a job of n + 1 runs."""
    order, late = _Order(), _Order()
    for tile, recipe in enumerate(recipes):
        steps = [(tile, s) for s in recipe.steps if isinstance(s, Kernel | Call | Job)]
        jobs = [i for i, (_, s) in enumerate(steps) if isinstance(s, Job)]
        cut = jobs[-1] + 1 if jobs and two_copies else len(steps)
        order += [*steps[:cut], *late]
        late = steps[cut:]
    return [*order, *late]


def _loaded(recipes: Sequence[Recipe]) -> tuple[Tensor, ...]:
    found = dict.fromkeys(load.tensor.storage for recipe in recipes for load in recipe.loads)
    return tuple(tensor for tensor in found if tensor.kind == "constant")


def _descriptor_bytes(order: _Order, tiles: int) -> int:
    return 4 * (sum(step.words for _, step in order) + expected_record_words(len(order), tiles))
