"""Pass: int8 activations become uint8, 128 above: those with zero point -128, which is 0 then, or all.

The array pads with zeros. A padded convolution that reads int8 with zero point -128, as every layer behind a ReLU does
in TFLite and ONNX, would need its border written by the cores; the same bytes plus 128 need nothing. Expects canonical
layers; guarantees the same values at the network's inputs and outputs.

    conv2d (zero point -128) -> int8 -> conv2d (pads, zero point -128)
    becomes   conv2d (zero point 0) -> uint8 -> conv2d (pads, zero point 0)

Where the array takes unsigned activations only, every int8 value that a convolution or matrix product reads is moved
by 128, whatever its zero point, so that nobody has to add 128 to it later.

A value changes only together with everything that reads or writes it: layers whose rule names a zero point, and
maximum pools, which do not care.
"""

from dataclasses import replace
from typing import Any

from tvm_pulp import qnn
from tvm_pulp.canonicalize.rewriter import Rewriter, readers_of, spec_of
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.lineage import bindings_of
from tvm_pulp.qnn.operator import PREFIX

_LOWEST = -128
# Requantization rules that add a zero point after rounding: adding 128 more changes nothing else.
_RULES = ("tflite", "half_up", "half_even", "offset_half_even")
# Attribute with the zero point of each data operand.
_ZERO_POINTS = {
    "conv2d": ("zero_point",),
    "dense": ("zero_point",),
    "add": ("zero_point_a", "zero_point_b"),
    "add_accumulators": ("zero_point_a", "zero_point_b"),
}


def _operator(value: Any) -> str:
    return value.op.name.removeprefix(PREFIX) if qnn.is_qnn(value) else ""


def _is_movable(value: Any) -> bool:
    """Tell if a call's operands and result may be moved by 128, each on its own."""
    name = _operator(value)
    if name not in _ZERO_POINTS:
        return False
    attributes = qnn.attributes(value)
    return attributes["requant"] in _RULES and attributes.get("form") != "plain"


def _can_be_written(value: Any) -> bool:
    return _is_movable(value) or _operator(value) == "max_pool"


class UnsignedActivations(Rewriter):
    """Chooses in `start`, rewrites in `visit`."""

    def __init__(self, unsigned_only: bool = False) -> None:
        self._is_wanted = _is_product if unsigned_only else _pads_with_lowest

    def start(self, function: Any) -> None:
        self._values_of, readers = {b.var: b.value for b in bindings_of(function)}, readers_of(function)
        moved = {v for v, value in self._values_of.items() if _can_be_written(value) and spec_of(v).dtype == "int8"}
        while True:
            kept = {v for v in moved if self._stays(v, moved, readers[v])}
            if kept == moved:
                break
            moved = kept
        self._moved = self._useful(moved, readers)

    def _stays(self, variable: Any, moved: set[Any], readers: list[tuple[Any, Any, int]]) -> bool:
        """Tell if all readers, and a pool that writes it, go along."""
        value = self._values_of[variable]
        if _operator(value) == "max_pool" and value.args[0] not in moved:
            return False
        return all(
            reader in moved
            if _operator(call) == "max_pool"
            else _is_movable(call) and position < len(_ZERO_POINTS[_operator(call)])
            for reader, call, position in readers
        )

    def _useful(self, moved: set[Any], readers: dict[Any, list[tuple[Any, Any, int]]]) -> set[Any]:
        """Values that convolutions read that want them so, and what pools tie to them."""
        found = {v for v in moved if any(self._is_wanted(call) for _, call, _ in readers[v])}
        while True:
            tied = set(found)
            for variable in moved:
                value = self._values_of[variable]
                if _operator(value) == "max_pool" and (variable in found or value.args[0] in found):
                    tied |= {variable, value.args[0]}
            if tied == found:
                return found
            found = tied

    def visit(self, variable: Any, value: Any) -> Any:
        if not _is_movable(value):
            return value
        old, name = self._values_of[variable], _operator(value)
        attributes = dict(qnn.attributes(value))
        for zero_point, argument in zip(_ZERO_POINTS[name], old.args, strict=False):
            if argument in self._moved:
                attributes[zero_point] -= _LOWEST
        if variable in self._moved:
            rule = qnn.Requant.of(attributes)
            attributes |= replace(
                rule,
                zero_point=rule.zero_point - _LOWEST,
                low=rule.low - _LOWEST,
                high=rule.high - _LOWEST,
                dtype="uint8",
            ).attributes()
        return qnn.emit(name, value.args, attributes)


def _is_product(value: Any) -> bool:
    return _operator(value) in ("conv2d", "dense")


def _pads_with_lowest(value: Any) -> bool:
    if _operator(value) != "conv2d":
        return False
    attributes = qnn.attributes(value, Conv2dAttributes)
    return attributes.zero_point == _LOWEST and any(attributes.pads)
