"""Names for addresses in step tables: what lies in L1, in the arena of L2 and behind the caller's pointers."""

from collections.abc import Mapping
from typing import Any

from tvm_pulp.codegen import weights
from tvm_pulp.codegen.model_text import c_identifier, safe
from tvm_pulp.planning.tiling.schedule.program import Block, Bundle, Move, Place, Slot
from tvm_pulp.planning.tir.statements import AT, Address, FetchBytes
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.uma.recipe import Local


class TableAddresses:
    """C expressions of all places. `bases`: the caller's pointers, numbered."""

    def __init__(self, tables: Tables, bases: Mapping[Tensor, int]) -> None:
        self._tables, self._plan, self._bases = tables, tables.plan, bases
        self._blocks: dict[Block, str] = {}
        self._sizes: dict[str, tuple[int, int]] = {}  # offset and bytes by name
        self._bundled = {move.place.block: move.source for move in tables.moves if isinstance(move.source, Bundle)}
        resident = set(self._plan.schedule.resident.values())
        for block in self._plan.schedule.blocks:
            self._blocks[block] = self._name_block(block, own=block in self._bundled or block in resident)
        self._fetched = {offset: tensor for tensor, offset in self._plan.l3_offsets().items()}
        self._arena: dict[Tensor, str] = {}
        for tensor in self._plan.arena.offsets:
            assert isinstance(tensor, Tensor)
            self._arena[tensor] = _unused(f"L2_{c_identifier(tensor.name)}", self._arena.values())

    def _name_block(self, block: Block, *, own: bool) -> str:
        """Blocks that hold the same thing at the same place, tile after tile, share a name."""
        stem = "" if own else f"{self._plan.layers[block.layer].layer.name}_"
        name, number = f"L1_{c_identifier(stem + block.name)}", 1
        wanted = name
        while wanted in self._sizes and self._sizes[wanted][0] != block.offset:
            number += 1
            wanted = f"{name}_{number}"
        size = self._sizes.get(wanted, (0, 0))[1]
        self._sizes[wanted] = (block.offset, max(size, block.bytes))
        return wanted

    # --- expressions -----------------------------------------------------------------------------------------

    def at(self, place: Place, offset: int = 0) -> str:
        """An address in L1."""
        bundle = self._bundled.get(place.block)
        for number, piece in enumerate(bundle.pieces if bundle else ()):
            if bundle and piece.offset == place.offset:
                block, member = self._blocks[place.block], piece_member(bundle, number)
                # A bundle that is loaded again may lie elsewhere then.
                first = block == f"L1_{bundle.name}"
                inside = f"{block} + (uint32_t)offsetof(struct {bundle.name}, {member})"
                return _plus(f"IN_BUNDLE({bundle.name}, {member})" if first else inside, offset)
        return _plus(self._blocks[place.block], place.offset + offset)

    def page(self, bundle: Bundle) -> str:
        """Name of a bundle that holds records: it is loaded once, so that its name tells where it lies."""
        if self._blocks[self._tables.bundle_block[bundle]] != f"L1_{bundle.name}":
            raise RuntimeError(f"{bundle.name} holds records and is loaded to several places")
        return bundle.name

    def operand(self, slot: Slot, operand: Local | Tensor) -> str:
        """The address of a step's operand; 0 where only the caller knows it."""
        if isinstance(operand, Local):
            return self.at(slot.places[operand])
        storage = operand.storage
        state = self._plan.network.state_of(storage)
        if state is not None and state.symbol:
            return _plus(f"(uint32_t){state.symbol}", state.offset)
        if storage in self._arena:
            return self._arena[storage]
        return "0u" if storage in self._bases else f"(uint32_t){weights.symbol(self._plan.network.name, storage)}"

    def local(self, move: Move, place: Address) -> str:
        """The side of a transfer that lies in L1."""
        return _plus(self._blocks[move.place.block], place.offset - move.place.block.offset)

    def outside(self, move: Move, place: Address) -> str:
        """The side of a transfer that lies outside L1, or its offset from the pointer that `base` names."""
        if place.kind != AT:
            assert isinstance(move.source, Tensor)
            storage = move.source.storage
            return _plus(self._arena[storage], place.offset - self._plan.arena.offsets[storage])
        tensor = self._tables.pointers[place.name]
        if tensor in self._bases:
            return f"{place.offset}u"
        return _plus(f"(uint32_t){weights.symbol(self._plan.network.name, tensor)}", place.offset)

    def base(self, place: Address) -> str:
        """The caller's pointer that a place counts from; empty for a fixed address."""
        tensor = self._tables.pointers[place.name] if place.kind == AT else None
        return self.base_name(tensor) if tensor is not None and tensor in self._bases else ""

    def base_name(self, tensor: Tensor) -> str:
        """The number of a pointer that only the caller knows."""
        return f"BASE_{c_identifier(tensor.name)}"

    def fetched(self, made: FetchBytes) -> str:
        """The place in L2 of a constant, or of rows of a cache, from L3."""
        if made.state:
            return self._arena[self._tables.tensors[made.state]]
        tensor = self._fetched[made.offset]
        return self._arena.get(tensor) or f"(uint32_t){weights.symbol(self._plan.network.name, tensor)}"

    def about(self, move: Move) -> str:
        """The tensor that a transfer moves, for a comment."""
        layer = self._plan.layers[move.layer]
        if isinstance(move.source, Bundle):
            return f"steps and constants of {layer.layer.name}"
        tile = f", tile {move.tile + 1} of {len(layer.recipes)}" if len(layer.recipes) > 1 else ""
        return f"{'result of' if move.outward else 'for'} {layer.layer.name}{tile}"

    # --- definitions -----------------------------------------------------------------------------------------

    def definitions(self) -> list[str]:
        """Macros and enumerators of all names."""
        lines: list[str] = []
        if self._bases:
            names = ", ".join(self.base_name(t) for t in self._bases)
            lines += ["/* Where the caller keeps inputs and outputs. */", f"enum {{ {names} }};"]
            lines += [f"TVM_PULP_IN_L2 static uint32_t bases[{len(self._bases)}];", ""]
        if self._plan.arena.size:
            arena = self._plan.arena
            lines += [
                f"/* Activations in L2; the largest set alive at once is {arena.largest_live_set} bytes. */",
                f"TVM_PULP_IN_L2 __attribute__((aligned(16))) static uint8_t arena[{arena.size}];",
            ]
            for tensor, name in self._arena.items():
                lines.append(
                    f"#define {name} ((uint32_t)arena + {arena.offsets[tensor]}u) /* {safe(str(tensor.spec))} */"
                )
            lines.append("")
        if self._sizes:
            lines.append("/* What lies in L1, one after the other where places are the same. */")
            lines += [f"#define {n} L1({offset}u) /* {size} bytes */" for n, (offset, size) in self._sizes.items()]
            lines.append("")
        return lines


def piece_member(bundle: Bundle, number: int) -> str:
    """Name of the member that holds a part of a constant."""
    tensor = bundle.pieces[number].tensor
    again = any(p.tensor.name == tensor.name for p in bundle.pieces[:number])
    return f"{c_identifier(tensor.name)}_constant" + (f"_{number}" if again else "")


def _plus(name: str, offset: int) -> str:
    return f"{name} + {offset}u" if offset else name


def _unused(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name
