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
    names: str,
    inputs: Specs,
    output: TensorSpec,
    element: Callable[[Sequence[Any]], Callable[[Any], Any]],
) -> None:
    """y = element(parameters)(x); the first operand is x, the others, of these names, hold one value or one per entry.

    Parameters of one value are read once; the others once per run of elements that share them.
    """
    shape = output.shape or (1,)
    axis %= len(shape)
    size = shape[axis] if any(i.elements > 1 for i in inputs[1:]) else 1
    inner = math.prod(shape[axis + 1 :]) if size > 1 else math.prod(shape)
    outer = math.prod(shape) // (size * inner)
    x, *buffers, y = loops.buffers(f"x {names} y", (spec.flat for spec in (*inputs, output)))

    def made(channel: Any) -> Callable[[Any], Any]:
        """The function of elements that share the parameters of a channel."""
        places = [channel if s.elements > 1 else i32(0) for s in inputs[1:]]
        return element([loops.bind(n, b[p]) for n, b, p in zip(names.split(), buffers, places, strict=True)])

    def together(first: Any, of: Callable[[Any], Any]) -> None:
        """Elements from `first` on: all are read before the first is written."""
        places = [first + i if i else first for i in range(_TOGETHER)]
        read = [loops.bind(f"x{i}", x[place]) for i, place in enumerate(places)]
        for place, value in zip(places, read, strict=True):
            loops.store(y, [place], of(value))

    def run(first: Any, count: int, of: Callable[[Any], Any]) -> None:
        whole = count // _TOGETHER
        if whole:
            with loops.loop("group", whole) as group:
                together(loops.bind("place", first + group * _TOGETHER), of)
        for rest in range(whole * _TOGETHER, count):
            loops.store(y, [first + rest], of(x[first + rest]))

    if size == 1:
        # One run: the cores share its groups.
        of, whole = made(i32(0)), inner // _TOGETHER
        if whole:
            with loops.parallel("group", whole) as group:
                together(loops.bind("place", group * _TOGETHER), of)
        if inner % _TOGETHER:
            with loops.parallel("i", inner % _TOGETHER) as i:
                place = i + whole * _TOGETHER
                loops.store(y, [place], of(x[place]))
        return
    if inner == 1:
        # Parameters of a channel are read once for all rows.
        with loops.parallel("channel", size) as channel:
            of = made(channel)
            with loops.loop("row", outer) as row:
                loops.store(y, [row * size + channel], of(x[row * size + channel]))
        return
    with loops.parallel("run", outer * size) as place:
        channel = place if outer == 1 else loops.bind("channel", tirx.truncmod(place, i32(size)))
        run(loops.bind("first", place * inner), inner, made(channel))
