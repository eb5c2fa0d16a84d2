"""A program that is planned as a TIR function, to be looked at before and after a pass.

It is read by people only. Blocks and tensors have names, since addresses are given last; as long as no step has what
moves beside it (`prefetch`), a tile is loaded in front of its first step and stored behind its last:

    load(buffer("x0.1", 0), tensor("x", 64), 32)
    call("max_pool", 0, 1, buffer("x0.1", 0), buffer("y0.2", 0))
    store(tensor("y", 32), buffer("y0.2", 0), 32)
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tvm import tirx

from tvm_pulp.planning.program.positions import compute_position, load_position, store_position
from tvm_pulp.planning.tiling.schedule.program import Block, Bundle, Fetch, Move, Program
from tvm_pulp.planning.tiling.schedule.step_order import StepOrder
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.uma.recipe import Call, Job, Kernel, Local, operands_of


def layer_function(network: Network) -> Any:
    """The network before any pass: a call for each layer, of whole tensors."""
    return _function(
        network,
        [_call("run", layer.operator, *(_tensor(t, 0) for t in layer.operands)) for layer in network.layers],
    )


def planned_function(program: Program) -> Any:
    """The program as far as it is planned."""
    return _function(program.network, list(_Printer(program).calls()))


class _Printer:
    def __init__(self, program: Program) -> None:
        self._program = program
        blocks = (b for layer in program.layers for b in (*layer.bundle_blocks, *layer.blocks))
        self._names = {block: f"{block.name}.{number}" for number, block in enumerate(blocks)}
        # Before `interleave`, layer by layer.
        self._order = program.order if program.order.all else StepOrder(program.choices, type(program.policy)())

    def calls(self) -> Iterator[Any]:
        """Statements in order; behind `prefetch`, each step begins with its number."""
        if not self._program.moves:
            yield from (made for _, made in self._in_order())
            return
        timed = groupby(sorted(self._by_step(), key=lambda entry: entry[0]), key=lambda entry: entry[0])
        for number, (_, entries) in enumerate(timed):
            yield _call("step", number)
            yield from (made for _, made in entries)

    def _in_order(self) -> list[tuple[int, Any]]:
        entries = []
        for layer in self._program.layers:
            for move in layer.bundle_loads:
                entries.append((load_position(move.slot), self._bundle(move)))
            for move in (*layer.loads, *layer.stores):
                assert move.said is not None
                first, last = self._order.span(layer.index, move.tile, move.said.local)
                at = store_position(last + 1) if move.outward else load_position(first)
                entries += [(at, made) for made in self._moved(move)]
        return sorted([*entries, *self._computed()], key=lambda entry: entry[0])

    def _by_step(self) -> Iterator[tuple[int, Any]]:
        for fetch in self._program.fetches:
            yield fetch.position, self._fetched(fetch)
        for move in self._program.moves:
            made = [self._bundle(move)] if isinstance(move.source, Bundle) else self._moved(move)
            yield from ((move.position, one) for one in made)
        yield from self._computed()

    def _computed(self) -> Iterator[tuple[int, Any]]:
        for slot, (layer, tile, step) in enumerate(self._order.all):
            places = self._program.layers[layer].places
            operands = [self._operand(o, places.get(o) if isinstance(o, Local) else None) for o in operands_of(step)]
            yield compute_position(slot), _call(_kind(step), _what(step), layer, tile, *operands)

    def _operand(self, operand: Local | Tensor, place: Any) -> Any:
        if isinstance(operand, Tensor):
            return _tensor(operand, 0)
        return operand.name if place is None else self._buffer(place.block, place.offset)

    def _buffer(self, block: Block, offset: int) -> Any:
        return _call("buffer", self._names[block], offset)

    def _moved(self, move: Move) -> list[Any]:
        assert isinstance(move.source, Tensor)
        found = []
        for part in move.transfers:
            inside = self._buffer(move.place.block, move.place.offset + part.local)
            outside = _tensor(move.source.storage, part.external)
            sides = (outside, inside) if move.outward else (inside, outside)
            lines = (part.line, part.stride) if part.is_2d else ()
            found.append(_call("store" if move.outward else "load", *sides, part.bytes, *lines))
        return found

    def _bundle(self, move: Move) -> Any:
        """Steps whose descriptors it holds, and parts of constants: with their places once it is laid out."""
        bundle = move.source
        assert isinstance(bundle, Bundle)
        laid_out = bundle.bytes > 0
        steps = [f"descriptor {slot}{f' at {at}' if laid_out else ''}" for slot, at in bundle.descriptors.items()]
        names = [f"{p.tensor.storage.name}{p.box}{f' at {p.offset}' if laid_out else ''}" for p in bundle.pieces]
        size = (bundle.bytes,) if laid_out else ()
        return _call("load_bundle", self._buffer(move.place.block, 0), *steps, *names, *size)

    def _fetched(self, fetch: Fetch) -> Any:
        return _call("fetch", _tensor(fetch.tensor, 0), fetch.tensor.spec.bytes)


def _kind(step: Kernel | Call | Job) -> str:
    return "submit" if isinstance(step, Job) else "call"


def _what(step: Kernel | Call | Job) -> str:
    if isinstance(step, Job):
        return step.engine
    return step.function if isinstance(step, Call) else step.operator


def _tensor(tensor: Tensor, offset: int) -> Any:
    return _call("tensor", tensor.storage.name, offset)


def _call(name: str, *arguments: Any) -> Any:
    return tirx.call_extern("int32", name, *(tirx.const(a, "int32") if isinstance(a, int) else a for a in arguments))


def _function(network: Network, calls: list[Any]) -> Any:
    body = tirx.SeqStmt([tirx.Evaluate(made) for made in [*calls, _call("end")]])
    return tirx.PrimFunc([], body).with_attr("global_symbol", f"tvmgen_{network.name}_run")
