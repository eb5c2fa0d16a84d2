"""The cost of one way to run a layer: bytes of L1 and cycles by operand, as the solver needs them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm_pulp.planning.search.solver.tile_lifetimes import TileLifetimes
from tvm_pulp.planning.tiling.alignment import L1_ALIGNMENT, aligned
from tvm_pulp.planning.tiling.cost import StepClock, dma_cycles
from tvm_pulp.planning.tiling.forms.cuts import Tiling
from tvm_pulp.planning.tiling.schedule import PAGE_SHARE, Choice
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Job, Kernel, Load, Recipe, Store, operands_of

# A constant from this size on is worth a place in L3 where L2 is too small.
LARGE_CONSTANT = 2048


@dataclass(frozen=True)
class Stream:
    """An activation that moves tile by tile unless it stays in L1."""

    bytes: int  # of L1 for its tiles, all copies
    cycles: int  # of the DMA for all tiles
    # Cycles of the DMA that nothing in the layer hides: the first tile of an input, and all others with one copy only.
    exposed: int
    last: int  # of the DMA for the last tile
    fits: bool  # its tiles are parts of the whole in L1


@dataclass(frozen=True)
class LayerCost:
    """Bytes and cycles of a candidate. Streams are in the order of `activations`."""

    slots: int
    compute: int  # cores and accelerators, transfers not counted
    own: int  # bytes of intermediate results
    constants: int  # bytes of constants, records and descriptors
    constant_cycles: int  # of the DMA before the first step
    constant_stream: int  # of the DMA for later tiles
    inputs: tuple[Stream, ...]
    outputs: tuple[Stream, ...]
    # Constants in L2 that could be in L3, all and the largest of them; all other constants in L2.
    large_bytes: int
    largest_bytes: int
    small_bytes: int

    @property
    def bytes_in_l1(self) -> int:
        """With nothing kept in L1."""
        return self.own + self.constants + sum(s.bytes for s in (*self.inputs, *self.outputs))

    @property
    def cycles(self) -> int:
        """Cycles with constants and streams from L2 and everything else idle."""
        loads = sum(s.cycles for s in self.inputs) + self.constant_stream
        stores = sum(s.cycles for s in self.outputs)
        ends = sum(s.exposed for s in (*self.inputs, *self.outputs))
        return self.constant_cycles + max(self.compute + ends, loads, stores)


def activations(layer: Layer) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Activations that a layer reads and writes, each once, in order."""
    inputs = dict.fromkeys(t.storage for t in layer.inputs if t.storage.kind != "constant")
    return tuple(inputs), tuple(dict.fromkeys(t.storage for t in layer.outputs))


def layer_cost(
    layer: Layer, tiling: Tiling, two_copies: bool, l1_bytes: int, costs: CostModel, *, pipelined: bool
) -> LayerCost:
    """Take stock of all tiles. `pipelined`: transfers overlap with anything at all."""
    choice, recipes = Choice(tiling, two_copies, l1_bytes), tiling.recipes
    inputs, outputs = activations(layer)
    alive = TileLifetimes(recipes, two_copies=two_copies, pipelined=pipelined)
    traffic = tiling.remember(_traffic, lambda: _traffic(choice, inputs, outputs, costs))
    shared, first, changing, stream = traffic.constants
    large, largest, small = traffic.levels
    records = choice.descriptor_bytes
    if PAGE_SHARE * records > l1_bytes:
        # They travel in parts, and the next part arrives while one is read.
        each = l1_bytes // PAGE_SHARE
        stream += records - each
        records = 2 * each
    return LayerCost(
        slots=len(choice.order),
        compute=_compute_cycles(choice.order, two_copies, costs),
        own=alive.intermediates(),
        constants=aligned(records + shared + changing * _copies(recipes[0], two_copies, pipelined), L1_ALIGNMENT),
        constant_cycles=costs.transfer_cycles(records + shared + first, records + shared + first, outward=False),
        constant_stream=costs.stream_cycles(stream),
        inputs=tuple(m.stream(alive.loads(t), two_copies) for t, m in zip(inputs, traffic.inputs, strict=True)),
        outputs=tuple(m.stream(alive.stores(t), two_copies) for t, m in zip(outputs, traffic.outputs, strict=True)),
        large_bytes=large,
        largest_bytes=largest,
        small_bytes=small,
    )


@dataclass(frozen=True)
class _Moved:
    """Cycles of the DMA for the tiles of an activation."""

    cycles: tuple[int, ...]
    fits: bool
    outward: bool

    def stream(self, size: int, two_copies: bool) -> Stream:
        """With `size` bytes of L1 for its tiles. The last result leaves while the next layer computes."""
        cycles, first, last = sum(self.cycles), self.cycles[0], self.cycles[-1]
        exposed = (0 if self.outward else first) if two_copies else cycles - (last if self.outward else 0)
        return Stream(size, cycles, exposed, last, self.fits)


@dataclass(frozen=True)
class _Traffic:
    """Bytes and cycles that the tiles move: the same with one copy of everything as with two."""

    inputs: tuple[_Moved, ...]
    outputs: tuple[_Moved, ...]
    constants: tuple[int, int, int, int]
    levels: tuple[int, int, int]


def _traffic(choice: Choice, inputs: Sequence[Tensor], outputs: Sequence[Tensor], costs: CostModel) -> _Traffic:
    recipes = choice.recipes
    moved_in = tuple(_moved(recipes, t, costs, outward=False) for t in inputs)
    moved_out = tuple(_moved(recipes, t, costs, outward=True) for t in outputs)
    return _Traffic(moved_in, moved_out, _constants(recipes), _levels(choice.loaded))


def _moved(recipes: Sequence[Recipe], storage: Tensor, costs: CostModel, *, outward: bool) -> _Moved:
    """One activation over all tiles; a box that the tile before brought stays."""
    kind = Store if outward else Load
    cycles = []
    fits, touched = True, False
    known: dict[tuple[int, ...], int] = {}
    before: set[Box] = set()
    for recipe in recipes:
        here: set[Box] = set()
        moved = 0
        for step in recipe.steps:
            if not isinstance(step, kind) or step.tensor.storage is not storage or step.box in here:
                continue
            touched = True
            here.add(step.box)
            pitched = isinstance(step, Load) and step.pitch > 0
            fits = fits and not pitched and step.offset is not None
            if not outward and step.box in before:
                continue
            if step.box.size not in known:
                known[step.box.size] = dma_cycles(step, costs) if step.box.elements else 0
            moved += known[step.box.size]
        cycles.append(moved)
        before = here
    return _Moved(tuple(cycles), fits and touched, outward)


def _constants(recipes: Sequence[Recipe]) -> tuple[int, int, int, int]:
    """Bytes that all tiles share; that change, in the first tile, in the largest, and in all but the first."""
    tiles: list[dict[tuple[Tensor, Box], int]] = []
    for recipe in recipes:
        loads = [s for s in recipe.steps if isinstance(s, Load) and s.tensor.storage.kind == "constant"]
        tiles.append({(s.tensor.storage, s.box): aligned(s.local.spec.bytes, L1_ALIGNMENT) for s in loads})
    common = set(tiles[0]).intersection(*tiles[1:])
    shared = sum(tiles[0][key] for key in common)
    changing = [sum(size for key, size in tile.items() if key not in common) for tile in tiles]
    return shared, changing[0], max(changing), sum(changing[1:])


def _copies(recipe: Recipe, two_copies: bool, pipelined: bool) -> int:
    """Tiles whose constants are alive at once; a job still reads its own when the step after it has begun."""
    last = [s for s in recipe.steps if isinstance(s, Kernel | Call | Job)][-1]
    return 1 + two_copies + (pipelined and isinstance(last, Job))


def _levels(loaded: Sequence[Tensor]) -> tuple[int, int, int]:
    """Bytes of the layer's constants in L2: large ones, the largest, small ones."""
    found = [t for t in loaded if t.level == "l2"]
    large = [t.spec.bytes for t in found if t.spec.bytes >= LARGE_CONSTANT]
    return sum(large), max(large, default=0), sum(t.spec.bytes for t in found) - sum(large)


def _compute_cycles(order: Sequence[tuple[int, Kernel | Call | Job]], two_copies: bool, costs: CostModel) -> int:
    """Steps in order on cores and accelerators; a step waits for jobs whose results it touches."""
    clock = StepClock()
    for _, step in order:
        if isinstance(step, Job):
            clock.run(costs.submit_cycles(step.words))
            end = clock.submit(step.engine, step.cycles, step.writes)
            clock.wait(0 if two_copies else end)
        else:
            clock.wait(clock.ready(operands_of(step)))
            clock.run(costs.executor.step + step.cost.cycles)
    return clock.over()
