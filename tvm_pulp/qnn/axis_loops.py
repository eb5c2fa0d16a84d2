"""Loop nest of element-wise operators whose parameters follow one axis."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from tvm import tirx

from tvm_pulp.qnn.loops import Loops, i32
from tvm_pulp.qnn.tensor_spec import Specs, TensorSpec

# Elements that one iteration of the innermost loop handles: the C compiler writes them out.
_TOGETHER = 4


def over_axis(
    loops: Loops,
    axis: int,
    names: Sequence[str],
    inputs: Specs,
    output: TensorSpec,
    prepare: Callable[[Sequence[Any]], Sequence[Any]],
    element: Callable[..., Any],
) -> None:
    """y = element(x, *prepare(parameters)); the first operand is x, the others hold one value or one per axis entry.

    Parameters of one value are read once; the others once per run of elements that share them.
    """
    shape = output.shape or (1,)
    axis %= len(shape)
    size = shape[axis] if any(i.elements > 1 for i in inputs[1:]) else 1
    inner = math.prod(shape[axis + 1 :]) if size > 1 else math.prod(shape)
    outer = math.prod(shape) // (size * inner)
    flat = TensorSpec((output.elements,), inputs[0].dtype)
    buffers = [loops.buffer(names[0], flat)]
    # A scalar is stored as one element.
    buffers += [loops.buffer(n, TensorSpec((s.elements,), s.dtype)) for n, s in zip(names[1:], inputs[1:], strict=True)]
    x, y = buffers[0], loops.buffer("y", TensorSpec(flat.shape, output.dtype))

    def parameters(channel: Any) -> Sequence[Any]:
        values = [
            loops.bind(n, b[channel if s.elements > 1 else i32(0)])
            for n, b, s in zip(names[1:], buffers[1:], inputs[1:], strict=True)
        ]
        return prepare(values)

    def together(first: Any, values: Sequence[Any]) -> None:
        """Elements from `first` on: all are read before the first is written."""
        places = [first + i if i else first for i in range(_TOGETHER)]
        read = [loops.bind(f"{names[0]}{i}", x[place]) for i, place in enumerate(places)]
        for place, value in zip(places, read, strict=True):
            loops.store(y, [place], element(value, *values))

    def run(first: Any, count: int, values: Sequence[Any]) -> None:
        whole = count // _TOGETHER
        if whole:
            with loops.loop("group", whole) as group:
                together(loops.bind("place", first + group * _TOGETHER), values)
        for rest in range(whole * _TOGETHER, count):
            loops.store(y, [first + rest], element(x[first + rest], *values))

    if size == 1:
        # One run: the cores share its groups.
        values, whole = parameters(i32(0)), inner // _TOGETHER
        if whole:
            with loops.parallel("group", whole) as group:
                together(loops.bind("place", group * _TOGETHER), values)
        if inner % _TOGETHER:
            with loops.parallel("i", inner % _TOGETHER) as i:
                place = i + whole * _TOGETHER
                loops.store(y, [place], element(x[place], *values))
        return
    if inner == 1:
        # Parameters of a channel are read once for all rows.
        with loops.parallel("channel", size) as channel:
            values = parameters(channel)
            with loops.loop("row", outer) as row:
                loops.store(y, [row * size + channel], element(x[row * size + channel], *values))
        return
    with loops.parallel("run", outer * size) as place:
        channel = place if outer == 1 else loops.bind("channel", tirx.truncmod(place, i32(size)))
        run(loops.bind("first", place * inner), inner, parameters(channel))
