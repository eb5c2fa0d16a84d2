"""The first layers in strips of rows: each strip of their result is computed by itself, what lies at its ends again.

    whole                         in two strips
    conv1   96 x 96 -> 48 x 48    conv1_0  rows 0 to 51 -> 0 to 25     conv1_1  rows 45 to 95 -> 23 to 47
    conv2   48 x 48 -> 24 x 24    conv2_0  rows 0 to 25 -> 0 to 12     conv2_1  rows 23 to 47 -> 12 to 23

Results are the same, bit for bit; large tensors between the layers never exist as a whole.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.qnn.tiles import Box, Part, Whole
from tvm_pulp.window import Window

# The axis of rows, and the rank of tensors that have one.
_ROWS, _RANK = 1, 4
_Range = tuple[int, int]


@dataclass(frozen=True)
class Stage:
    """Layers `first` to `last` of a network, whose last result alone is used behind them."""

    network: Network
    first: int
    last: int

    @property
    def layers(self) -> list[Layer]:
        return self.network.layers[self.first : self.last + 1]

    @cached_property
    def rows(self) -> int:
        return self.layers[-1].outputs[0].spec.shape[_ROWS]

    def fits(self, count: int) -> bool:
        """Tell if every strip can be computed by itself: rows of windows that lie in the padding alone cannot."""
        return all(self._rows_needed(self._ends(number, count)) is not None for number in range(count))

    def _ends(self, number: int, count: int) -> _Range:
        return self.rows * number // count, self.rows * (number + 1) // count

    def in_strips(self, count: int) -> tuple[Network, dict[Layer, Layer]]:
        """The network with the stage in strips, and the layers that theirs are parts of."""
        made, parts = list[Layer](), dict[Layer, Layer]()
        for number in range(count):
            for layer, part in self._strip(number, self._ends(number, count)):
                made.append(part)
                parts[part] = layer
        layers = self.network.layers
        return replace(self.network, layers=[*layers[: self.first], *made, *layers[self.last + 1 :]]), parts

    def macs(self, count: int) -> int:
        """Multiply-accumulates of all strips."""
        total = 0
        for number in range(count):
            needed = self._needed(self._ends(number, count))
            for layer in self.layers:
                tensor = layer.outputs[0]
                begin, end = needed[tensor]
                total += layer.macs * (end - begin) // tensor.spec.shape[_ROWS]
        return total

    def _needed(self, ends: _Range) -> dict[Tensor, _Range]:
        """Rows of every tensor of the stage that rows of its result are made of."""
        needed = self._rows_needed(ends)
        assert needed is not None, "asked for strips that do not fit"
        return needed

    def _rows_needed(self, ends: _Range) -> dict[Tensor, _Range] | None:
        """The same; None where some of them cannot be computed by themselves."""
        needed = {self.layers[-1].outputs[0]: ends}
        for layer in reversed(self.layers):
            part = _part(layer, needed[layer.outputs[0]])
            if part is None:
                return None
            for tensor, box in zip(layer.inputs, part.inputs, strict=True):
                if tensor.kind != "constant":
                    begin, end = box.start[_ROWS], box.end[_ROWS]
                    known = needed.get(tensor, (begin, end))
                    needed[tensor] = (min(begin, known[0]), max(end, known[1]))
        return needed

    def _strip(self, number: int, ends: _Range) -> Iterator[tuple[Layer, Layer]]:
        """Layers of the stage with those of one strip."""
        needed, strips = self._needed(ends), dict[Tensor, Tensor]()
        for layer in self.layers:
            whole, range_ = layer.outputs[0], needed[layer.outputs[0]]
            part = _part(layer, range_)
            assert part is not None
            inputs = []
            for tensor, box in zip(layer.inputs, part.inputs, strict=True):
                rows = (box.start[_ROWS], box.end[_ROWS]) if tensor.kind != "constant" else None
                inputs.append(tensor if rows is None else _view(strips, needed, tensor, rows, number))
            name = f"{whole.name}_strip_{number}"
            if layer is self.layers[-1]:
                made = _rows_of(whole, range_, 0, name)
            else:
                made = Tensor(name, _spec(whole, range_), "activation", level=whole.level)
            strips[whole] = made
            specs = [t.spec for t in inputs]
            macs = OPERATORS[layer.operator].macs(part.attributes, specs, made.spec)
            name = f"{layer.name}_strip_{number}"
            yield layer, replace(layer, name=name, attributes=part.attributes, inputs=inputs, outputs=[made], macs=macs)


def _spec(tensor: Tensor, rows: _Range) -> TensorSpec:
    shape = list(tensor.spec.shape)
    shape[_ROWS] = rows[1] - rows[0]
    return TensorSpec(tuple(shape), tensor.spec.dtype)


def _rows_of(host: Tensor, rows: _Range, first: int, name: str) -> Tensor:
    """Rows of a tensor, which lie side by side; its own begin with row `first`."""
    row = host.spec.elements // host.spec.shape[_ROWS]
    return Tensor(name, _spec(host, rows), host.kind, view_of=host, offset=(rows[0] - first) * row)


def _view(
    strips: Mapping[Tensor, Tensor], needed: Mapping[Tensor, _Range], tensor: Tensor, rows: _Range, number: int
) -> Tensor:
    """Rows that a layer reads: of a tensor from outside of the stage, or of the strip that is there."""
    name = f"{tensor.name}_rows_{number}"
    if tensor not in strips:
        return _rows_of(tensor, rows, 0, name)
    return strips[tensor] if needed[tensor] == rows else _rows_of(strips[tensor], rows, needed[tensor][0], name)


def _part(layer: Layer, rows: _Range) -> Part | None:
    """Operands of rows of a layer's result; None where they are not rows of tensors and all of constants."""
    operator, output = OPERATORS.get(layer.operator), layer.outputs[0].spec
    if operator is None or operator.tile is None or len(output.shape) != _RANK or output.shape[0] != 1:
        return None
    whole = Whole(layer.attributes, [t.spec for t in layer.inputs], output)
    if "pads" in layer.attributes and "strides" in layer.attributes:
        first_read = Window(1, layer.attributes["strides"][0], 1, layer.attributes["pads"][0]).position(rows[0])
        # A strip of windows in the padding behind the last row would begin at that row instead.
        if first_read >= layer.inputs[0].spec.shape[_ROWS]:
            return None
    if all(axis.axis != _ROWS for axis in operator.tile.axes(whole)):
        return None
    start, size = [0] * _RANK, list(output.shape)
    start[_ROWS], size[_ROWS] = rows[0], rows[1] - rows[0]
    part = operator.tile.part(whole, Box(tuple(start), tuple(size)))
    part = replace(part, attributes=operator.stated(part.attributes))
    specs = []
    for tensor, box in zip(layer.inputs, part.inputs, strict=True):
        if tensor.kind == "constant":
            cut = box.size
        elif len(box.size) == _RANK and not any((box.start[0], *box.start[_ROWS + 1 :])):
            # Columns behind the last window are part of a row.
            cut = (box.size[0], tensor.spec.shape[_ROWS], tensor.spec.shape[_ROWS + 1], *box.size[_ROWS + 2 :])
        else:
            return None
        if tuple(cut) != tuple(tensor.spec.shape):
            return None
        specs.append(tensor.spec if tensor.kind == "constant" else _spec(tensor, (box.start[_ROWS], box.end[_ROWS])))
    made = operator.infer(part.attributes, specs).shape
    return part if tuple(made) == tuple(size) else None


def can_be_cut(layer: Layer) -> bool:
    """Tell if rows of a layer's result can be computed by themselves."""
    tensors = (*layer.inputs, *layer.outputs)
    alone = len(layer.outputs) == 1 and not layer.workspaces and all(t.view_of is None for t in tensors)
    return alone and _part(layer, (0, 1)) is not None


def stages(network: Network) -> Iterator[Stage]:
    """Stages of the first layers that rows can be cut of, by their last layer."""
    every = network.layers
    cut = [can_be_cut(layer) for layer in every]
    first = next((index for index, fits in enumerate(cut) if fits), len(every))
    kept = {t.storage for t in network.outputs}
    for last in range(first, len(every)):
        if not cut[last]:
            return
        made = {layer.outputs[0] for layer in every[first:last]}
        read = {t.storage for layer in every[last + 1 :] for t in layer.inputs} | kept
        used = {t for layer in every[first : last + 1] for t in layer.inputs}
        if last > first and not made & read and made <= used:
            yield Stage(network, first, last)
