"""Pass: how long everything stays.

Expects positions of all moves (`prefetch`). A block of L1 is alive from the load or the step that first writes it to
the last step or store that needs it; a job needs its operands until the next step has begun, since it runs on beside
that, and records are needed until the next page tells. An activation is alive in L2 from its first store to its last
load:

    { load x1; call x0 -> y0 }; { store y0; call x1 -> y1 }; store y1         becomes
    x0 until the first call, x1 until the second, y0 until the second, y1 until the store

Guarantees that two things may share bytes where their lives do not overlap.
"""

from tvm_pulp.grouped import grouped
from tvm_pulp.planning.program.positions import compute_position, computing_slot, load_position
from tvm_pulp.planning.tiling.schedule.program import Program, TiledLayer
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import operands_of


def keep_alive(program: Program) -> Program:
    """The program with lifetimes."""
    for layer in program.layers:
        _keep_blocks(program, layer)
        _keep_tensors(program, layer)
    for fetch in program.fetches:
        _keep_in_l2(program, fetch.tensor, fetch.position)
    program.blocks = tuple(b for layer in program.layers for b in (*layer.bundle_blocks, *layer.blocks))
    _keep_side_by_side(program)
    return program


def _keep_blocks(program: Program, layer: TiledLayer) -> None:
    steps = program.order
    for tile in range(len(program.choices[layer.index].recipes)):
        for local, life in steps.lives(layer.index, tile):
            block = layer.places[local].block
            block.extend(compute_position(life.first))
            block.extend(life.end)
            block.expect_use(life.expected)
    for move in (*layer.bundle_loads, *layer.loads):
        assert move.needed is not None
        move.place.block.extend(max(move.position, 0))
        move.place.block.extend(move.needed)
    for move in layer.stores:
        move.place.block.extend(move.position)
        slot = computing_slot(move.position)
        if slot is not None:
            # A job is submitted at once: the transfer runs on beside the kernel behind it, which writes elsewhere then.
            move.place.block.expect_use(steps.next_kernel(slot))
    for block in layer.bundle_blocks:
        for slot in block.slots:
            block.extend(steps.end_of_use(slot))
        if block.tells_until >= 0:
            # What precedes the next page's first step is told by this one.
            block.extend(load_position(block.tells_until + 1))


def _keep_tensors(program: Program, layer: TiledLayer) -> None:
    """Activations and constants that a layer reads and writes in L2 are there meanwhile."""
    for move in layer.loads:
        assert isinstance(move.source, Tensor)
        storage = move.source.storage
        if storage.kind != "constant" or program.policy.level(storage) == "l3":
            _keep_in_l2(program, storage, move.position)
    stores = grouped((move.tile, move) for move in layer.stores)
    for tile in range(len(program.choices[layer.index].recipes)):
        for move in stores.get(tile, ()):
            assert isinstance(move.source, Tensor)
            _keep_in_l2(program, move.source.storage, move.position)
        for slot in program.order.slots(layer.index, tile):
            for operand in operands_of(program.order.all[slot].step):
                if isinstance(operand, Tensor) and operand.storage.kind != "constant" and operand.storage.level != "l1":
                    _keep_in_l2(program, operand.storage, compute_position(slot))


def _keep_in_l2(program: Program, tensor: Tensor, position: int) -> None:
    # What the entry function moves is there when the first step begins.
    position = max(position, 0)
    first, last = program.l2_alive.get(tensor, (position, position))
    program.l2_alive[tensor] = (min(first, position), max(last, position))


def _keep_side_by_side(program: Program) -> None:
    """Whatever one of several teams needs has its place as long as any of them is at work."""
    for first, last in dict.fromkeys(program.order.side_by_side.values()):
        start, end = compute_position(first), load_position(last + 1)
        for block in program.blocks:
            if block.first <= end and start <= block.last:
                block.extend(start)
                block.extend(end)
