"""Functions of reductions and sortings: numbers that change nothing, and which of a pair is kept.

Frameworks write the place of an extreme and the order of a sorting in different ways: they are found out on numbers.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

# A function of single values; None where it cannot be computed.
Run = Callable[[Sequence[np.ndarray]], list[np.ndarray] | None]


def neutral(reducer: str, dtype: str) -> Any:
    """The number that a reduction may begin with and that changes nothing; None where there is no such thing."""
    kind = "bool" if dtype == "bool" else dtype.rstrip("0123456789")
    if kind == "bool":
        return {"or": False, "maximum": False, "and": True, "minimum": True}.get(reducer)
    if dtype not in ("float16", "float32", "float64") and (kind not in ("int", "uint") or dtype.endswith("t4")):
        return None
    low, high = (-np.inf, np.inf) if kind == "float" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return {"add": 0, "multiply": 1, "maximum": low, "minimum": high}.get(reducer)


def kept_extreme(run: Run, types: Sequence[str]) -> str:
    """The one of two numbered values that is kept: maximum or minimum, of equal ones the first number; else ""."""
    wanted = {"maximum": max, "minimum": min}
    for a, i, b, j in product(_values(types[0]), range(3), _values(types[0]), range(3)):
        made = run([*_typed((a, i), types), *_typed((b, j), types)])
        if made is None:
            return ""
        for name, choose in list(wanted.items()):
            kept = choose(a, b)
            place = min(i, j) if a == b else i if kept == a else j
            if (made[0], made[1]) != tuple(_typed((kept, place), types)):
                del wanted[name]
    return next(iter(wanted), "")


def order_of(run: Run, types: Sequence[str]) -> str:
    """The comparison of a sorting by its first tensor alone: LT or GT; else ""."""
    wanted = {"LT": np.less, "GT": np.greater}
    others = [_typed((0, 1), (t, t)) for t in types[1:]]
    for a, b, turned in product(_values(types[0]), _values(types[0]), (False, True)):
        further = [value for pair in others for value in (pair[::-1] if turned else pair)]
        made = run([*_typed((a, b), (types[0],) * 2), *further])
        if made is None:
            return ""
        wanted = {name: less for name, less in wanted.items() if bool(made[0]) == bool(less(a, b))}
    return next(iter(wanted), "")


def _values(dtype: str) -> tuple[float, ...]:
    if dtype == "bool":
        return (0, 1)
    return (0, 1, 3) if dtype.startswith("uint") else (-2, 0, 1)


def _typed(values: Sequence[float], types: Sequence[str]) -> list[np.ndarray]:
    return [np.asarray(v, t) for v, t in zip(values, types, strict=True)]
