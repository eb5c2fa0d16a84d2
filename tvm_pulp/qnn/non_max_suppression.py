"""Boxes of the highest scores, without those that overlap one chosen before, as ONNX defines it."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import tirx

from tvm_pulp.qnn.either import maximum, minimum
from tvm_pulp.qnn.operator import Arrays, Attributes, Loops, Operator, Specs, TensorSpec, i32, register
from tvm_pulp.qnn.record import NoAttributes
from tvm_pulp.quick_records import quick_record

_NONE = -1


def _corners(box: Any, centred: bool, bind: Callable[[str, Any], Any] = lambda _name, made: made) -> list[Any]:
    """Smallest and largest x and y of [y1, x1, y2, x2] in any order, or of [x, y, width, height] around a centre.

    In numpy or TIR; `bind` names what is used twice.
    """
    if centred:
        half = [bind("half", box[n] * 0.5) for n in (2, 3)]
        return [box[0] - half[0], box[0] + half[0], box[1] - half[1], box[1] + half[1]]
    return [function(box[n], box[n + 2]) for n in (1, 0) for function in (minimum, maximum)]


def _overlaps(a: np.ndarray, b: np.ndarray, centred: bool, threshold: np.float32) -> bool:
    ax, ax2, ay, ay2 = _corners(a, centred)
    bx, bx2, by, by2 = _corners(b, centred)
    left, right, top, bottom = max(ax, bx), min(ax2, bx2), max(ay, by), min(ay2, by2)
    if right <= left or bottom <= top:
        return False
    shared, one, other = (right - left) * (bottom - top), (ax2 - ax) * (ay2 - ay), (bx2 - bx) * (by2 - by)
    both = one + other - shared
    return bool(min(shared, one, other, both) > 0 and shared / both > threshold)


@quick_record(kw_only=True, slots=False)
class NonMaxSuppressionAttributes(Attributes):
    """How boxes are written, and which are chosen."""

    centred: bool
    limit: int
    overlap: float
    score: float


@register("non_max_suppression", attributes=NonMaxSuppressionAttributes, operands="boxes scores", result="int32")
class NonMaxSuppression(Operator[NonMaxSuppressionAttributes]):
    """Numbers of at most `limit` boxes per class, best scores first, -1 behind them.

    Operands: boxes[batch, n, 4], scores[batch, classes, n], floats. A box takes part if its score is larger than
    `score` and if no box chosen before shares more than `overlap` of the area of both. `centred` boxes are [x, y,
    width, height], others [y1, x1, y2, x2].
    """

    def infer(self, attributes: NonMaxSuppressionAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((*inputs[1].shape[:2], attributes.limit), "int32")

    def reference(self, attributes: NonMaxSuppressionAttributes, inputs: Arrays) -> np.ndarray:
        boxes, scores = inputs
        centred, threshold = bool(attributes.centred), np.float32(attributes.overlap)
        found = np.full((*scores.shape[:2], attributes.limit), _NONE, np.int32)
        for batch, label in itertools.product(*map(range, scores.shape[:2])):
            chosen: list[int] = []
            row = scores[batch, label]
            for n in np.argsort(-row, kind="stable"):
                fits = row[n] > np.float32(attributes.score) and len(chosen) < attributes.limit
                if fits and not any(_overlaps(boxes[batch, n], boxes[batch, c], centred, threshold) for c in chosen):
                    chosen.append(int(n))
            found[batch, label, : len(chosen)] = chosen
        return found

    def body(self, loops: Loops, attributes: NonMaxSuppressionAttributes, inputs: Specs, output: TensorSpec) -> None:
        batches, labels, count = inputs[1].shape
        limit, centred = attributes.limit, bool(attributes.centred)
        score, overlap = (tirx.const(value, "float32") for value in (attributes.score, attributes.overlap))
        boxes, scores, y = loops.buffers("boxes scores y", (*inputs, output))

        def corners(name: str, batch: Any, number: Any) -> list[Any]:
            box = [loops.bind(name, boxes[batch, number, n]) for n in range(4)]
            return [loops.bind(name, end) for end in _corners(box, centred, loops.bind)]

        with loops.parallel("row", batches * labels) as row:
            batch, label = loops.split(row, labels, "batch", "label")
            with loops.loop("k", limit) as k:
                loops.store(y, [batch, label, k], i32(_NONE))
            chosen = loops.scalar("chosen", 0)
            last, last_at = loops.scalar("last", 0, "float32"), loops.scalar("last_at", -1)
            with loops.loop("turn", count):
                best, best_at = loops.scalar("best", score, "float32"), loops.scalar("best_at", _NONE)
                with loops.when(chosen.value < limit), loops.loop("i", count) as i:
                    value = loops.bind("value", scores[batch, label, i])
                    behind = tirx.any(value < last.value, tirx.all(value == last.value, i > last_at.value))
                    with loops.when(tirx.all(value > best.value, tirx.any(last_at.value < 0, behind))):
                        best.set(value)
                        best_at.set(i)
                with loops.when(best_at.value >= 0):
                    last.set(best.value)
                    last_at.set(best_at.value)
                    free = loops.scalar("free", 1)
                    ax, ax2, ay, ay2 = corners("a", batch, last_at.value)
                    with loops.loop("c", chosen.value) as c:
                        bx, bx2, by, by2 = corners("b", batch, y[batch, label, c])
                        wide = loops.bind("wide", tirx.min(ax2, bx2) - tirx.max(ax, bx))
                        high = loops.bind("high", tirx.min(ay2, by2) - tirx.max(ay, by))
                        zero = tirx.const(0, "float32")
                        with loops.when(tirx.all(wide > zero, high > zero)):
                            shared = loops.bind("shared", wide * high)
                            one = loops.bind("one", (ax2 - ax) * (ay2 - ay))
                            other = loops.bind("other", (bx2 - bx) * (by2 - by))
                            both = loops.bind("both", one + other - shared)
                            real = tirx.all(shared > zero, one > zero, other > zero, both > zero)
                            with loops.when(real), loops.when(shared / both > overlap):
                                free.set(i32(0))
                    with loops.when(free.value > 0):
                        loops.store(y, [batch, label, chosen.value], last_at.value)
                        chosen.set(chosen.value + 1)


@register("chosen_boxes", operands="numbers", result="int64")
class ChosenBoxes(Operator[NoAttributes]):
    """Rows of batch, class and number for every box that `non_max_suppression` chose, then rows of -1."""

    def infer(self, attributes: NoAttributes, inputs: Specs) -> TensorSpec:
        return TensorSpec((inputs[0].elements, 3), "int64")

    def reference(self, attributes: NoAttributes, inputs: Arrays) -> np.ndarray:
        numbers = inputs[0]
        rows = np.full((numbers.size, 3), _NONE, np.int64)
        places = np.argwhere(numbers >= 0)
        rows[: len(places)] = np.column_stack([places[:, :2], numbers[numbers >= 0]])
        return rows

    def body(self, loops: Loops, attributes: NoAttributes, inputs: Specs, output: TensorSpec) -> None:
        batches, labels, limit = inputs[0].shape
        numbers, y = loops.buffers("numbers y", (*inputs, output))
        # How far a row moves depends on all before it.
        with loops.parallel("once", 1):
            used = loops.scalar("used", 0)
            with loops.nest(("batch", "label", "k"), (batches, labels, limit)) as (batch, label, k):
                number = loops.bind("number", numbers[batch, label, k])
                with loops.when(number >= 0):
                    for column, value in enumerate((batch, label, number)):
                        loops.store(y, [used.value, column], value.astype("int64"))
                    used.set(used.value + 1)
            with loops.loop("rest", output.shape[0] - used.value) as rest, loops.loop("column", 3) as column:
                loops.store(y, [used.value + rest, column], tirx.const(_NONE, "int64"))
