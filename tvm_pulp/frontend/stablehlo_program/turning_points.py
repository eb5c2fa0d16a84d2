"""Points at which a function of one number may change its course; with values there and in between it is known.

A function is written in smooth operators and in some that bend or switch. Where what they look at is made of straight
pieces, all points of that are computed; a function that switches at other points is not judged by evaluating it.
Zeros of straight pieces count too: a narrow peak has its middle at one. A square that is compared with a number, as the
exponent of a bell curve is with the smallest one, switches where its root is that of the number.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tvm_pulp.frontend.stablehlo_program.meanings import elementwise
from tvm_pulp.frontend.stablehlo_program.node import StablehloNode

_STRAIGHT = ("add", "subtract", "negate", "copy", "convert", "select")
# By what they compare.
_BENDS = ("abs", "relu", "maximum", "minimum", "clamp", "compare", "sign", "is_finite", "and", "or", "not", "xor")
_STEPS = (
    "ceil",
    "floor",
    "remainder",
    "round_nearest_afz",
    "round_nearest_even",
    "shift_left",
    "shift_right_arithmetic",
)
# Beyond it no activation counts.
_FAR = 1e12
# Points that are as near as this differ by rounding.
_SAME = 1e-11


def values_at(
    between: Sequence[StablehloNode], source: StablehloNode, numbers: np.ndarray
) -> dict[StablehloNode, np.ndarray]:
    """All values of a group of elementwise nodes for numbers of its source."""
    values: dict[StablehloNode, np.ndarray] = {source: numbers}
    with np.errstate(all="ignore"):
        for n in between:
            if n.scalar is not None:
                held = np.asarray(n.scalar)
                values[n] = held.astype(np.float64) if n.is_float else held
            elif n is not source:
                values[n] = elementwise(n, [values[o] for o in n.operands])
    return values


def turning_points(between: Sequence[StablehloNode], source: StablehloNode) -> np.ndarray | None:
    """All of them in order; None where some cannot be known."""
    points = np.zeros(1)
    straight = {source, *(n for n in between if n.scalar is not None)}
    for node in between:
        if node in straight:
            continue
        known = all(o in straight for o in node.operands)
        scaled = node.op in ("multiply", "divide") and node.operands[1].scalar is not None
        scaled |= node.op == "multiply" and node.operands[0].scalar is not None
        roots = _roots_compared(node, straight)
        if roots is not None:
            root, levels = roots
            given, course = _course(root, between, source, points)
            straight.add(node)
            points = _apart([*points, *(r for level in levels for r in _lines(given, course - level))])
            continue
        if node.op in _STEPS or (node.op in _BENDS and not known):
            return None
        if known and (node.op in (*_STRAIGHT, *_BENDS) or scaled):
            straight.add(node)
            points = _apart([*points, *_zeros(node, between, source, points)])
    return points


def _apart(points: Sequence[float]) -> np.ndarray:
    """The points in order, one of those that differ by rounding only."""
    found: list[float] = []
    for point in sorted(points):
        if not found or point - found[-1] > _SAME * max(1.0, abs(point)):
            found.append(point)
    return np.asarray(found)


def _roots_compared(
    node: StablehloNode, straight: set[StablehloNode]
) -> tuple[StablehloNode, tuple[float, ...]] | None:
    """The straight node whose square, or minus its square, is compared with a number, and where that switches."""
    if node.op != "compare":
        return None
    for square, level in (node.operands, tuple(reversed(node.operands))):
        sign = 1.0
        while square.op == "negate":
            square, sign = square.operands[0], -sign
        is_square = square.op == "multiply" and square.operands[0] is square.operands[1]
        if level.scalar is not None and (is_square or square.op == "square") and square.operands[0] in straight:
            size = sign * float(level.scalar)
            return square.operands[0], (math.sqrt(size), -math.sqrt(size)) if size >= 0 else ()
    return None


def _course(
    node: StablehloNode, between: Sequence[StablehloNode], source: StablehloNode, points: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers in all pieces between points, and a node's values there."""
    given = _inside(points)
    return given, np.broadcast_to(values_at(between, source, given)[node], given.shape).astype(np.float64)


def _inside(points: np.ndarray) -> np.ndarray:
    """Points, numbers between them and on both sides."""
    outer = [points[0] - 2, points[0] - 1, *points, points[-1] + 1, points[-1] + 2]
    return np.asarray(sorted({*outer, *((a + b) / 2 for a, b in pairwise(points))}))


def _lines(given: np.ndarray, course: np.ndarray) -> list[float]:
    """Every piece as a line: where that is zero it may switch, within the piece or not."""
    with np.errstate(all="ignore"):
        roots = given[:-1] - course[:-1] * np.diff(given) / np.diff(course)
    return [float(r) for r in roots if np.isfinite(r) and abs(r) < _FAR]


def _zeros(
    node: StablehloNode, between: Sequence[StablehloNode], source: StablehloNode, points: np.ndarray
) -> list[float]:
    """Numbers at which a node of straight pieces between points is zero, or switches."""
    given = _inside(points)
    values = values_at(between, source, given)
    operands = [np.broadcast_to(values[o], given.shape).astype(np.float64) for o in node.operands]
    if node.op in ("compare", "maximum", "minimum"):
        courses = [operands[0] - operands[1]]
    elif node.op == "clamp":
        courses = [operands[1] - operands[0], operands[1] - operands[2]]
    else:
        courses = [np.broadcast_to(values[node], given.shape).astype(np.float64)]
    return [root for course in courses for root in _lines(given, course)]


def numbers_around(points: np.ndarray) -> np.ndarray:
    """Numbers at turning points, beside them and in between, and of all sizes."""
    random = np.random.default_rng(0)
    sizes = np.concatenate([np.linspace(0.01, 12, 240), np.logspace(-6, 4, 60), random.uniform(0, 20, 100), [1.0]])
    beside = [p + d * max(1.0, abs(p)) for p in points for d in (-1e-2, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 1e-2)]
    inner = [np.linspace(a, b, 18) for a, b in pairwise(points)]
    return np.concatenate([sizes, -sizes, np.asarray(beside), *inner])
