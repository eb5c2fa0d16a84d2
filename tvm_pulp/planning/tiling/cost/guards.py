"""How often a condition of a generated loop holds: windows that lie partly outside an image skip taps."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

# A condition, and whether it holds.
Guard = tuple[Any, bool]
# Points at which conditions are looked at; of longer loops some iterations, evenly spread.
_MOST_POINTS = 1 << 14
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum,
    "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal,
    "NE": np.not_equal, "And": np.logical_and, "Or": np.logical_or,
}  # fmt: skip
# Of numbers that are not negative, all divisions are the same.
_DIVISIONS = {"Div": np.floor_divide, "FloorDiv": np.floor_divide, "Mod": np.mod, "FloorMod": np.mod}


class _UnknownError(Exception):
    """An expression that depends on more than loops."""


def share_that_holds(
    condition: Any, guards: Sequence[Guard], loops: Sequence[tuple[Any, int]], values: Mapping[Any, Any]
) -> float | None:
    """Of the iterations in which all guards hold, the share in which a condition does; None where data decides.

    `loops`: variables and extents. `values`: what other variables stand for.
    """
    extents = dict(loops)
    try:
        read = {v: None for e in (condition, *(g for g, _ in guards)) for v in _variables(e, extents, values)}
        points = _points({v: extents[v] for v in read})
        reached = np.bool_(True)
        for guard, holds in guards:
            reached = reached & (_value(guard, points, values) == holds)
        both = reached & _value(condition, points, values)
    except _UnknownError:
        return None
    shape = np.broadcast_shapes(*(p.shape for p in points.values()))
    count = np.count_nonzero(np.broadcast_to(reached, shape))
    return np.count_nonzero(np.broadcast_to(both, shape)) / count if count else 0.0


def _points(extents: Mapping[Any, int]) -> dict[Any, np.ndarray]:
    """Iterations of every loop, each along an axis of its own."""
    left, lengths = _MOST_POINTS, dict(extents)
    # Short loops, those of windows, are looked at whole.
    for place, variable in enumerate(sorted(extents, key=lambda v: extents[v])):
        rest = len(extents) - place
        lengths[variable] = min(extents[variable], max(1, int(left ** (1 / rest))))
        left //= lengths[variable]
    made = {}
    for axis, (variable, extent) in enumerate(extents.items()):
        chosen = np.linspace(0, extent - 1, lengths[variable]).round().astype(np.int64)
        made[variable] = chosen.reshape([-1 if a == axis else 1 for a in range(len(extents))])
    return made


def _operands(e: Any) -> list[Any]:
    return [getattr(e, name) for name in ("a", "b", "value") if hasattr(e, name)]


def _variables(e: Any, extents: Mapping[Any, int], values: Mapping[Any, Any]) -> list[Any]:
    """Loops that an expression depends on."""
    if type(e).__name__ == "Var":
        return [e] if e in extents else _variables(values[e], extents, values) if e in values else []
    return [v for part in _operands(e) for v in _variables(part, extents, values)]


def _value(e: Any, points: Mapping[Any, np.ndarray], values: Mapping[Any, Any]) -> Any:
    kind = type(e).__name__
    if kind == "IntImm":
        return np.int64(int(e))
    if kind == "Var":
        if e not in points and e not in values:
            raise _UnknownError
        return points[e] if e in points else _value(values[e], points, values)
    parts = [_value(part, points, values) for part in _operands(e)]
    if kind in ("Not", "Cast"):
        return np.logical_not(parts[0]) if kind == "Not" else parts[0]
    if kind in _DIVISIONS:
        if np.any(parts[0] < 0) or np.any(parts[1] <= 0):
            raise _UnknownError
        return _DIVISIONS[kind](*parts)
    if kind not in _OPERATIONS:
        raise _UnknownError
    return _OPERATIONS[kind](*parts)
