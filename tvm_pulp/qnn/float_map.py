"""A function of floats, element by element, with broadcasting: several operators of a model in one loop.

`expression` is a tree of lists, as JSON text: ["x", n] is operand n, ["c", value] a float32 constant, [function, ...] a
function of `float_functions`. `shape` is that of the result. y = x0 * x1 + 1 is

    ["add", ["multiply", ["x", 0], ["x", 1]], ["c", 1.0]]
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.float_functions import FUNCTIONS
from tvm_pulp.qnn.loops import SHARED_ITERATIONS
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, emit, i32, register
from tvm_pulp.qnn.tiles import Box, Part, TileRule, Whole, all_axes, broadcast_box
from tvm_pulp.quick_records import changed, quick_record

# Elements that one iteration handles where the expression has no more functions than this.
_TOGETHER, _SMALL = 4, 6
# Functions of many instructions and constants: the only one of an expression is part of its loop, which then handles
# one element at a time to stay in a core's own instruction cache.
_LONG = frozenset(("erf", "sigmoid", "tanh"))


def _part(whole: Whole, box: Box) -> Part:
    boxes = tuple(broadcast_box(spec.shape, box) for spec in whole.inputs)
    return Part(boxes, changed(FloatMapAttributes.of(whole), shape=box.size))


# Its operands and its result may be integers.
@quick_record(kw_only=True, slots=False)
class ExpressionAttributes(Attributes):
    """The tree as JSON text."""

    expression: str


@quick_record(kw_only=True, slots=False)
class FloatMapAttributes(ExpressionAttributes):
    """The shape of the result."""

    shape: tuple[int, ...]


@register("float_map", attributes=FloatMapAttributes, tile=TileRule(all_axes, _part), single_precision=True)
class FloatMap(Operator[FloatMapAttributes]):
    def infer(self, attributes: FloatMapAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec(tuple(attributes.shape), type_of(tree(attributes), [i.dtype for i in inputs]))

    def reference(self, attributes: FloatMapAttributes, inputs: Arrays) -> np.ndarray:
        result = np.asarray(numpy_value(tree(attributes), inputs))
        dtype = type_of(tree(attributes), [str(i.dtype) for i in inputs])
        return np.ascontiguousarray(np.broadcast_to(result, attributes.shape).astype(dtype))

    def body(self, loops: Loops, attributes: FloatMapAttributes, inputs: Specs, output: TensorSpec) -> None:
        expression = _with_long_inline(tree(attributes))
        sizes, follows = merged_axes(output.shape, [i.shape for i in inputs])
        buffers = [loops.buffer(f"x{n}", i.flat) for n, i in enumerate(inputs)]
        y = loops.buffer("y", output.flat)
        steps = [_steps(sizes, [f[n] for f in follows]) for n in range(len(inputs))]
        whole = _steps(sizes, [True] * len(sizes))

        small = functions(expression) <= _SMALL and len(_long_parts(expression)) != 1

        def elements(indices: Sequence[Any], ahead: int, e: list[Any], values: dict[str, Any]) -> None:
            """`ahead` neighbours along the last axis, all read before the first is written; `values`: known before."""
            read = []
            for k in range(ahead):
                own = dict(values)
                for n, (buffer, step) in enumerate(zip(buffers, steps, strict=True)):
                    if _key(["x", n]) not in own:
                        own[_key(["x", n])] = loops.bind(f"v{n}", buffer[_place(indices, step, k)])
                read.append(own)
            for k, own in enumerate(read):
                loops.store(y, [_place(indices, whole, k)], expression_value(loops, e, own))

        if len(sizes) == 1:
            together = _TOGETHER if small and sizes[0] >= 2 * _TOGETHER else 1
            groups = sizes[0] // together
            with loops.parallel("group", groups) as group:
                elements([loops.bind("place", group * together)], together, expression, {})
            if sizes[0] % together:
                with loops.parallel("i", sizes[0] % together) as i:
                    elements([i + groups * together], 1, expression, {})
            return
        # The cores share the first axis of enough entries, else the longest.
        shared = next((a for a, size in enumerate(sizes) if size >= SHARED_ITERATIONS), None)
        shared = max(range(len(sizes)), key=lambda a: sizes[a]) if shared is None else shared
        *middle, inner = (a for a in range(len(sizes)) if a != shared)
        still = {n for n in range(len(inputs)) if not follows[inner][n]}
        outside = loops.nest([f"i{a}" for a in middle], [sizes[a] for a in middle])
        with loops.parallel("shared", sizes[shared]) as first, outside as rest:
            found = {shared: first, inner: i32(0), **dict(zip(middle, rest, strict=True))}
            start = [found[a] for a in range(len(sizes))]
            # What does not change along the innermost axis is computed before its loop.
            values = {
                _key(["x", n]): loops.bind(f"w{n}", buffers[n][_place(start, steps[n], 0)]) for n in sorted(still)
            }
            moving = _without_still_divisors(expression, still)
            for part in _still_parts(moving, still):
                values[_key(part)] = expression_value(loops, part, values)
            together = _TOGETHER if small and inner == len(sizes) - 1 else 1
            groups = sizes[inner] // together
            if groups:
                with loops.loop("group", groups) as group:
                    place = loops.bind("place", group * together) if together > 1 else group
                    elements([place if a == inner else found[a] for a in range(len(sizes))], together, moving, values)
            for last in range(groups * together, sizes[inner]):
                elements([i32(last) if a == inner else found[a] for a in range(len(sizes))], 1, moving, values)


def emit_map(expression: list[Any], operands: Sequence[Any], shape: Sequence[int]) -> Any:
    return emit("float_map", operands, {"expression": json.dumps(expression), "shape": list(shape)})


def tree(attributes: ExpressionAttributes) -> list[Any]:
    found: list[Any] = json.loads(attributes.expression)
    return found


def numpy_value(e: list[Any], operands: Sequence[np.ndarray]) -> Any:
    if e[0] == "x":
        return operands[e[1]]
    if e[0] == "c":
        return np.float32(e[1])
    with np.errstate(all="ignore"):
        return FUNCTIONS[e[0]].numpy(*(np.asarray(numpy_value(a, operands)) for a in e[1:]))


def type_of(e: list[Any], operands: Sequence[str]) -> str:
    if e[0] == "x":
        return operands[e[1]]
    if e[0] == "c":
        return "float32"
    return FUNCTIONS[e[0]].result or type_of(e[-1], operands)


def merged_axes(shape: Sequence[int], operands: Sequence[Sequence[int]]) -> tuple[list[int], list[list[bool]]]:
    """The result's axes, neighbours as one that every operand treats alike, and which operands follow each."""
    padded = [(1,) * (len(shape) - len(o)) + tuple(o) for o in operands]
    sizes: list[int] = []
    follows: list[list[bool]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        alike = [p[axis] > 1 for p in padded]
        if follows and follows[-1] == alike:
            sizes[-1] *= size
        else:
            sizes.append(size)
            follows.append(alike)
    return (sizes, follows) if sizes else ([1], [[False] * len(operands)])


def _steps(sizes: Sequence[int], follows: Sequence[bool]) -> list[int]:
    """Distance of neighbours along each axis, 0 where an operand repeats."""
    return [
        math.prod(s for s, f in zip(sizes[a + 1 :], follows[a + 1 :], strict=True) if f) if follows[a] else 0
        for a in range(len(sizes))
    ]


def _place(indices: Sequence[Any], steps: Sequence[int], ahead: int) -> Any:
    terms = [i * s if s > 1 else i for i, s in zip(indices, steps, strict=True) if s]
    place = terms[0] if terms else i32(0)
    for term in terms[1:]:
        place = place + term
    return place + ahead * steps[-1] if ahead and steps[-1] else place


def functions(e: list[Any]) -> int:
    """How many functions an expression has."""
    return 0 if e[0] in ("x", "c") else 1 + sum(functions(a) for a in e[1:])


def _long_parts(e: list[Any]) -> dict[str, list[Any]]:
    """The distinct parts of an expression that are long functions."""
    if e[0] in ("x", "c"):
        return {}
    found = {_key(e): e} if e[0] in _LONG or e[0].startswith("inline_") else {}
    for part in e[1:]:
        found |= _long_parts(part)
    return found


def _with_long_inline(e: list[Any]) -> list[Any]:
    parts = list(_long_parts(e).values())
    if len(parts) != 1:
        return e

    def renamed(part: list[Any]) -> list[Any]:
        if part[0] in ("x", "c"):
            return part
        return [f"inline_{part[0]}" if part == parts[0] else part[0], *map(renamed, part[1:])]

    return renamed(e)


def _key(e: list[Any]) -> str:
    return json.dumps(e)


def _is_still(e: list[Any], still: set[int]) -> bool:
    return e[0] == "c" or (e[1] in still if e[0] == "x" else all(_is_still(a, still) for a in e[1:]))


def _without_still_divisors(e: list[Any], still: set[int]) -> list[Any]:
    """Divided by what does not change: multiplied by its reciprocal, which does not change either."""
    if e[0] in ("x", "c"):
        return e
    parts = [_without_still_divisors(a, still) for a in e[1:]]
    if e[0] == "divide" and _is_still(parts[1], still) and not _is_still(parts[0], still):
        return ["multiply", parts[0], ["divide", ["c", 1.0], parts[1]]]
    return [e[0], *parts]


def _still_parts(e: list[Any], still: set[int]) -> list[list[Any]]:
    """The largest parts of an expression that do not change."""
    if e[0] in ("x", "c"):
        return []
    if _is_still(e, still):
        return [e]
    return [part for a in e[1:] for part in _still_parts(a, still)]


def operand_values(operands: Sequence[Any]) -> dict[str, Any]:
    """Values of operands as `expression_value` takes them."""
    return {_key(["x", n]): value for n, value in enumerate(operands)}


def expression_value(loops: Loops, expression: list[Any], known: dict[str, Any]) -> Any:
    """Every part of an expression under a name, once; `known` holds the operands and what was computed before."""
    known = dict(known)

    def value(e: list[Any]) -> Any:
        if e[0] == "c":
            return tirx.const(e[1], "float32")
        key = _key(e)
        if key not in known:
            known[key] = loops.bind("t", FUNCTIONS[e[0]].tir(*(value(a) for a in e[1:])))
        return known[key]

    return value(expression)
