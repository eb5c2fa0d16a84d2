"""Sizes for a program that leaves some open: what the user states, a batch of one, else those of the example.

    x: [batch, 3], y: [2*batch, length], exported with x: [4, 3], y: [8, 5]    become    x: [1, 3], y: [2, 5]

Batches are symbols in the first dimension of an input. Where the program does not allow a batch of one, the next larger
that it does is taken.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Shapes = dict[str, tuple[int, ...]]
# So many batches are tried before that of the example is taken.
_TRIED = 8


def choices(
    inputs: Mapping[str, Any], ranges: Mapping[Any, Any], stated: Mapping[str, Sequence[int]], examples: Shapes
) -> Iterator[Shapes]:
    """Shapes of all inputs, the ones to prefer first; none where a size follows from nothing.

    `inputs` are what tracing knows of each, `ranges` those of the symbols; `examples` may be empty.
    """
    from sympy import Integer

    fixed = _solved(inputs, stated)
    sizes = _solved(inputs, examples) | fixed
    batches = {
        symbol for value in inputs.values() if len(value.shape) for symbol in _symbols(value.shape[0]) - fixed.keys()
    }
    least = max((_least(ranges.get(symbol)) for symbol in batches), default=1)
    for batch in range(least, least + (_TRIED if batches else 0)):
        if all(batch <= sizes.get(symbol, batch) for symbol in batches):
            yield from _shapes(inputs, sizes | dict.fromkeys(batches, Integer(batch)), stated)
    yield from _shapes(inputs, sizes, stated)
    if examples:
        yield {name: tuple(stated.get(name, examples[name])) for name in inputs}


def _least(bounds: Any) -> int:
    """The smallest number a symbol can be: 2 as a lower bound says no more than that tracing knew no 0 and no 1."""
    lower = 1 if bounds is None or not bounds.lower.is_finite else int(bounds.lower)
    return 1 if lower <= 2 else lower


def _symbols(dimension: Any) -> set[Any]:
    return set() if isinstance(dimension, int) else set(dimension.node.expr.free_symbols)


def _solved(inputs: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> dict[Any, Any]:
    """Numbers, as sympy's, of the symbols by which inputs have these shapes."""
    import sympy

    found: dict[Any, Any] = {}
    for name, shape in shapes.items():
        for dimension, size in zip(inputs[name].shape, shape, strict=False):
            symbols = _symbols(dimension)
            if len(symbols) == 1:
                with contextlib.suppress(NotImplementedError):
                    solutions = sympy.solve(dimension.node.expr - size, *symbols)
                    found.update((symbol, s) for symbol in symbols for s in solutions if s.is_Integer)
    return found


def _shapes(
    inputs: Mapping[str, Any], sizes: Mapping[Any, Any], stated: Mapping[str, Sequence[int]]
) -> Iterator[Shapes]:
    """The shapes with numbers for the symbols, if there is one for each."""
    made = {name: tuple(stated.get(name, [size_of(d, sizes) for d in value.shape])) for name, value in inputs.items()}
    if not any(size is None for shape in made.values() for size in shape):
        yield made


def size_of(dimension: Any, sizes: Mapping[Any, int]) -> Any:
    """A dimension, or another number of tracing, with numbers for its symbols; None where one is not known."""
    if not hasattr(dimension, "node"):
        return dimension
    value = dimension.node.expr.xreplace(sizes)
    if value.free_symbols:
        return None
    return float(value) if value.is_Float else bool(value) if value.is_Boolean else int(value)
