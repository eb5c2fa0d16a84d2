"""Parts of schedules: forms that call hand-written kernels, the calls, and how schedules are registered.

Every schedule registers itself; all lists of schedules come from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from schedules.cluster.structures import fields_of, words_of
from schedules.kernel_cycles import call_cost
from schedules.packed_weights import offset_weights
from tvm_pulp.planning.tiling.forms.cluster_forms import bound
from tvm_pulp.planning.tiling.forms.tile_rules import tile_axes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Derived, Load, Local, Pointer, Recipe, Step, Store
from tvm_pulp.uma.strategy import EXACT, TileAxis

__all__ = [
    "ENGINE",
    "KINDS",
    "PULP_WIDE",
    "SCHEDULES",
    "SLACK",
    "STORED",
    "TYPES",
    "TYPES_16",
    "Arguments",
    "Box",
    "Fields",
    "KernelForm",
    "Layer",
    "Schedule",
    "Tensor",
    "TileAxis",
    "accumulator_reach",
    "are_bytes",
    "can_round_short",
    "folded_bias",
    "itemsize_of",
    "kernel_call",
    "padded",
    "register",
    "requant_fields",
    "typed",
    "uniform_requant",
]

Fields = dict[str, Any]

ENGINE = "cluster"
# enum tvm_pulp_type
TYPES = {"int8": 0, "uint8": 1, "int32": 2}
TYPES_16 = {"int16": 3, "uint16": 4}
# How a kernel stores its results: as a byte unless stated here.
STORED = {"int32": 1, "int16": 2, "uint16": 2}
# enum tvm_pulp_requant_kind
KINDS = {"none": 0, "pulp": 1, "tflite": 3, "half_up": 4, "half_even": 5, "shift": 6}
PULP_WIDE = 2
# Kernels may read this far behind an operand.
SLACK = 4


def padded(size: int, multiple: int = 4) -> int:
    return -(-size // multiple) * multiple


def kernel_call(
    function: str,
    fields: Mapping[str, Any],
    costs: CostModel,
    reads: Sequence[Local | Tensor],
    writes: Sequence[Local | Tensor],
    *,
    structure: str = "",
    expected: Mapping[str, Any] | None = None,
) -> Call:
    """A call of a kernel. `expected`: fields that the cost is made from instead of those of the call."""
    name = f"tvm_pulp_{structure or function}_args"
    words, cost = words_of(name, fields), call_cost(function, {**fields, **(expected or {})}, costs)
    return Call(
        f"tvm_pulp_kernel_{function}", f"struct {name}", fields_of(name), words, tuple(reads), tuple(writes), cost
    )


@dataclass(frozen=True)
class KernelForm:
    """A layer on the cores, one kernel call per tile."""

    # The kernel: its file, its argument structure and, unless `function` differs, its function.
    kernel: ClassVar[str]
    # What a person calls the form, unless that is "<kernel> kernel".
    label: ClassVar[str] = ""
    # The field of the argument structure that points to the result.
    result: ClassVar[str] = "y"

    layer: Layer
    costs: CostModel
    engine: str = ENGINE
    derived: Derived = field(default_factory=Derived)
    rounding = EXACT

    @property
    def name(self) -> str:
        return self.label or f"{self.kernel} kernel"

    @property
    def function(self) -> str:
        return self.kernel

    @property
    def cores(self) -> int:
        return self.costs.cores

    def axes(self) -> tuple[TileAxis, ...]:
        return tile_axes(self.layer)

    def fields(self, call: "Arguments", box: Box) -> Fields:
        """Arguments of the call that computes a part, but for the pointer to its result."""
        raise NotImplementedError

    def recipe(self, box: Box) -> Recipe:
        call = Arguments(self, box)
        return call.finish(self.fields(call, box))

    def constant(self, name: str, values: np.ndarray) -> Tensor:
        """A constant that is made for this form."""
        return self.derived.constant(f"{self.layer.name}_{name}", values)

    @cached_property
    def rounds_short(self) -> bool:
        """Tell whether the layer's requantization is one that has a shorter code."""
        rule = Requant.of(self.layer.attributes)
        constants = [t.data for t in self.layer.inputs[len(self.layer.inputs) - rule.operands :] if t.data is not None]
        bytes_only = self.layer.inputs[0].spec.dtype in BYTES
        return bytes_only and len(constants) == 2 and can_round_short(rule, constants, accumulator_reach(self.layer))

    def bound_cycles(self) -> int:
        return bound(self.layer, self.costs)


@dataclass(frozen=True)
class Schedule:
    """A form of layers, where `applies` says so; the first line of its docstring tells users which layers these are."""

    applies: Callable[[Layer], bool]
    form: type[KernelForm]
    # The file of the kernel that a family of cores must have, if that is not the form's own.
    needs: str = ""
    # It needs less L1 than what is offered else: offered beside the first that applies.
    is_smaller: bool = False

    @property
    def kernel(self) -> str:
        return self.needs or self.form.kernel


SCHEDULES: dict[str, list[Schedule]] = {}


def register(operator: str, *schedules: Schedule, first: bool = False) -> None:
    """Make schedules of an operator known, behind those known already, or before them."""
    known = SCHEDULES.setdefault(operator, [])
    known[:] = [*schedules, *known] if first else [*known, *schedules]


class Arguments:
    """A call under construction: the transfers its operands need, and what it reads and writes."""

    def __init__(self, form: KernelForm, box: Box) -> None:
        self.form, self.box, self.output = form, box, form.layer.outputs[0]
        self.y = Local("y", TensorSpec(box.size, self.output.spec.dtype), SLACK)
        self.steps: list[Step] = []
        self.reads: list[Local | Tensor] = []
        self.writes: list[Local | Tensor] = [self.y]
        # Fields that the cost is made from instead of those of the call.
        self.expected: Fields = {}

    def load(self, name: str, tensor: Tensor, box: Box) -> Pointer:
        """Bring a part of a tensor into L1."""
        local = Local(name, TensorSpec(box.size, tensor.spec.dtype), SLACK)
        self.steps.append(Load(tensor, box, local))
        self.reads.append(local)
        return Pointer(local)

    def rows(self, name: str, tensor: Tensor, box: Box) -> tuple[Pointer, int]:
        """Columns of a cache, and how far its rows are apart: where it lies if that is L1, else a copy."""
        if tensor.storage.level != "l1":
            return self.load(name, tensor, box), box.size[1]
        self.reads.append(tensor)
        return Pointer(tensor, box.start[1] * np.dtype(tensor.spec.dtype).itemsize), tensor.spec.shape[1]

    def load_whole(self, name: str, tensor: Tensor) -> Pointer:
        return self.load(name, tensor, Box.whole(tensor.spec.shape))

    def load_constant(self, name: str, values: np.ndarray) -> Pointer:
        """Bring a constant that is made for the form into L1."""
        return self.load_whole(name, self.form.constant(name, values))

    def scratch(self, stride: int) -> Fields:
        """A scratch area for all cores; an odd number of words keeps them out of each other's banks."""
        stride = padded(stride) | 4
        area = Local("scratch", TensorSpec((self.form.cores * stride,), "uint8"))
        self.writes.append(area)
        return {"scratch": Pointer(area), "scratch_stride": stride}

    def requant(self, channels: slice | None = None, add: Tensor | None = None, *, short: bool = False) -> Fields:
        """The fields of the member `requant`; per-channel constants of the given channels, `add` replaced if given.

        `short`: the rule and its accumulators are as kernels.h says at `shift`.
        """
        rule, inputs = Requant.of(self.form.layer.attributes), self.form.layer.inputs
        operands = inputs[len(inputs) - rule.operands :] if rule.operands else []
        if add is not None:
            operands = [operands[0], add]
        fields = requant_fields(self, "requant", rule, operands, channels)
        return fields | {"requant.shift": 1} if short else fields

    def finish(self, fields: Fields) -> Recipe:
        """Loads, the call, the store."""
        form = self.form
        call = kernel_call(
            form.function,
            {form.result: Pointer(self.y), **fields},
            form.costs,
            self.reads,
            self.writes,
            structure=form.kernel,
            expected=self.expected,
        )
        return Recipe((*self.steps, call, Store(self.y, self.output, self.box)))


def typed(tensor: Tensor) -> int:
    """Number of an operand's type in `enum tvm_pulp_type`."""
    return (TYPES | TYPES_16)[tensor.spec.dtype]


def itemsize_of(tensor: Tensor) -> int:
    return int(np.dtype(tensor.spec.dtype).itemsize)


def requant_fields(
    arguments: Arguments, member: str, rule: Requant, operands: Sequence[Tensor], channels: slice | None = None
) -> Fields:
    """Fields of a member `struct tvm_pulp_requant`."""
    names = ("kind", "per_channel", "wide_result", "mul", "add", "shift", "zero_point", "low", "high")
    if rule.kind == "none":
        return {f"{member}.{n}": 0 for n in names}
    pointers: list[Any] = []
    for name, tensor in zip(("mul", "add"), operands, strict=True):
        if tensor.spec.elements > 1 and channels is not None:
            pointers.append(arguments.load(name, tensor, Box((channels.start,), (channels.stop - channels.start,))))
        else:
            pointers.append(arguments.load_whole(name, tensor))
    kind = PULP_WIDE if rule.kind == "pulp" and rule.wide else KINDS[rule.kind]
    per_channel, wide_result = int(max(t.spec.elements for t in operands) > 1), STORED.get(rule.out_dtype, 0)
    # The field has another meaning for other kinds.
    shift = rule.shift if rule.kind == "pulp" else 0
    values = (kind, per_channel, wide_result, *pointers, shift, rule.zero_point, rule.low, rule.high)
    return {f"{member}.{n}": v for n, v in zip(names, values, strict=True)}


def uniform_requant(layer: Layer, reach: int | None = None) -> bool:
    """Tell whether the kernels can requantize a layer whose accumulator stays below `reach`.

    Both constant tensors have one element, or both have one per channel. TFLite's form needs multipliers that are not
    negative and an accumulator up to 2^29.
    """
    rule = Requant.of(layer.attributes)
    tensors = layer.inputs[len(layer.inputs) - rule.operands :] if rule.operands else []
    if len({t.spec.elements for t in tensors}) > 1 or rule.kind not in KINDS:
        return False
    if rule.kind != "tflite":
        return True
    multipliers = tensors[0].data
    return multipliers is not None and bool((multipliers >= 0).all()) and reach is not None and reach <= 1 << 29


def are_bytes(weight: Tensor) -> bool:
    """Tell whether constant weights fit int8, at least after the same number was taken from all of them."""
    return weight.data is not None and offset_weights(weight.data) is not None


def can_round_short(rule: Requant, constants: Sequence[np.ndarray], reach: int | None) -> bool:
    """Tell if a rule, and accumulators up to `reach`, are as kernels.h asks at `shift` of `struct tvm_pulp_requant`."""
    if rule.kind not in ("tflite", "half_up") or rule.out_dtype not in BYTES or reach is None or reach > 1 << 29:
        return False
    (mul, second), shifts = constants, {"tflite": (-20, -1), "half_up": (32, 51)}[rule.kind]
    values = (rule.zero_point, rule.low, rule.high)
    small = min(values) >= -128 and max(values) <= 255 and (rule.high - rule.low) % 2 == 1
    return bool(small and (mul >= 0).all() and (second >= shifts[0]).all() and (second <= shifts[1]).all())


def accumulator_reach(layer: Layer) -> int | None:
    """Largest |accumulator| of a layer with constant weights, or of a product of two activations."""
    low, high = layer.inputs[0].spec.range
    if layer.operator == "matmul":
        a, b = layer.inputs[0].spec, layer.inputs[1].spec
        return 256 * 256 * a.shape[-1] if {a.dtype, b.dtype} <= set(BYTES) else None
    weights = layer.inputs[1].data
    if weights is None:
        return None
    zero_point = layer.attributes["zero_point"]
    largest = max(abs(low - zero_point), abs(high - zero_point))
    total = np.abs(weights.astype(np.int64)).reshape(weights.shape[0], -1).sum(axis=1) * largest
    if layer.attributes["has_bias"]:
        total = total + np.abs(layer.inputs[2].values.astype(np.int64))
    return int(total.max(initial=0))


def folded_bias(layer: Layer, weights: np.ndarray, zero_point: int) -> np.ndarray:
    """Bias with the input's zero point taken out."""
    total = -zero_point * weights.astype(np.int64).reshape(weights.shape[0], -1).sum(axis=1)
    if layer.attributes["has_bias"]:
        total = total + layer.inputs[2].values.astype(np.int64)
    return total.astype(np.int32)
