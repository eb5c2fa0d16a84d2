"""Parts of schedules: forms that call hand-written kernels, the calls, and how schedules are registered.

Every schedule registers itself; all lists of schedules come from here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from schedules.cluster.arithmetic import accumulator_reach, can_round_short, typed
from schedules.cluster.high_word import HighWord, high_word_of
from schedules.cluster.structures import fields_of, words_of
from schedules.kernel_cycles import call_cost
from schedules.kernel_numbers import KINDS, PULP_WIDE, STORED
from schedules.packed_weights import padded
from tvm_pulp.planning.tiling.forms.cluster_forms import CoreForm
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, Derived, Load, Local, Pointer, Recipe, Step, Store
from tvm_pulp.uma.strategy import TileAxis

__all__ = ["SCHEDULES", "SLACK", "Arguments", "Fields", "KernelForm", "Schedule", "kernel_call", "register"]
__all__ += ["schedule"]
# What the files of schedules are written with.
__all__ += ["Box", "Layer", "Tensor", "TileAxis"]

Fields = dict[str, Any]

# Kernels may read this far behind an operand.
SLACK = 4


def kernel_call(
    function: str,
    fields: Mapping[str, Any],
    costs: CostModel,
    reads: Sequence[Local | Tensor],
    writes: Sequence[Local | Tensor],
    *,
    structure: str = "",
    attributes: Mapping[str, Any] | None = None,
    expected: Mapping[str, Any] | None = None,
) -> Call:
    """A call of a kernel. `expected`: fields that the cost is made from instead of those of the call.

    Fields that are not given are types of operands (`x_type` that of `x`), else attributes of the same name.
    """
    name, stated = f"tvm_pulp_{structure or function}_args", attributes or {}
    names, found = fields_of(name), dict(fields)
    for missing in (n for n in names if n not in fields):
        operand = fields.get(missing.removesuffix("_type"))
        if isinstance(operand, Pointer):
            found[missing] = typed(operand.operand)
        elif missing in stated:
            found[missing] = stated[missing]
    words, cost = words_of(name, found), call_cost(function, {**found, **(expected or {})}, costs)
    return Call(f"tvm_pulp_kernel_{function}", f"struct {name}", names, words, tuple(reads), tuple(writes), cost)


def scratch(stride: int, costs: CostModel, shares: int | None = None) -> Fields:
    """Fields of a scratch area for all cores; an odd number of words keeps them out of each other's banks.

    `shares`: parts of the work, of which the first cores take one each where there are fewer than cores; the others do
    not touch their scratch area, so there is none.
    """
    stride = padded(stride) | 4
    cores = costs.cores if shares is None else min(shares, costs.cores)
    area = Local("scratch", TensorSpec((cores * stride,), "uint8"))
    return {"scratch": Pointer(area), "scratch_stride": stride}


def requant_fields(member: str, rule: Requant, constants: Sequence[Pointer], *, per_channel: bool) -> Fields:
    """Fields of a member `struct tvm_pulp_requant`."""
    names = ("kind", "per_channel", "wide_result", "mul", "add", "shift", "zero_point", "low", "high")
    if rule.kind == "none":
        return {f"{member}.{n}": 0 for n in names}
    kind = PULP_WIDE if rule.kind == "pulp" and rule.wide else KINDS[rule.kind]
    # The field has another meaning for frameworks' kinds.
    shift = rule.shift if rule.kind in ("pulp", "shift", "shift_even", "shift_away", "high_word") else 0
    wide_result = STORED.get(rule.out_dtype, 0)
    values = (kind, int(per_channel), wide_result, *constants, shift, rule.zero_point, rule.low, rule.high)
    return {f"{member}.{n}": v for n, v in zip(names, values, strict=True)}


@dataclass(frozen=True)
class KernelForm(CoreForm):
    """A layer on the cores, one kernel call per tile."""

    # The kernel: its file, its argument structure and, unless `function` differs, its function; empty: the operator's.
    kernel: ClassVar[str] = ""
    # What a person calls the form, unless that is "<kernel> kernel".
    label: ClassVar[str] = ""
    # The field of the argument structure that points to the result.
    result: ClassVar[str] = "y"
    # Layouts of the layers, where these have one: an engine may have asked for another.
    layouts: ClassVar[tuple[str, ...]] = ("NHWC",)
    # Axes of the result that may be cut, most favoured first, unless the operator's rule tells them.
    cut: ClassVar[tuple[TileAxis, ...]] = ()

    derived: Derived = field(default_factory=Derived)

    @property
    def name(self) -> str:
        return self.label or f"{self.structure} kernel"

    @property
    def structure(self) -> str:
        return self.kernel or self.layer.operator

    @property
    def function(self) -> str:
        return self.structure

    @property
    def cores(self) -> int:
        return self.costs.cores

    @property
    def is_offered(self) -> bool:
        """Tell whether it is worth a look on this machine."""
        return True

    def axes(self) -> tuple[TileAxis, ...]:
        return self.cut or super().axes()

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
        constants = [t.data for t in rule.tensors(self.layer.inputs) if t.data is not None]
        bytes_only = self.layer.inputs[0].spec.dtype in BYTES
        return bytes_only and len(constants) == 2 and can_round_short(rule, constants, accumulator_reach(self.layer))

    @property
    def high_word(self) -> HighWord | None:
        """The layer's requantization by the upper half of a product, where it is one with an offset."""
        return high_word_of(self.layer)


@dataclass(frozen=True)
class Schedule:
    """A form of layers, where `applies` says so; the first line of its docstring tells users which layers these are."""

    applies: Callable[[Layer], bool]
    form: type[KernelForm]
    # The file of the kernel that a family of cores must have; `register` names the form's own unless another is stated.
    needs: str = ""
    # It needs less L1 than what is offered else: offered beside the first that applies.
    is_smaller: bool = False


SCHEDULES: dict[str, list[Schedule]] = {}
_Form = TypeVar("_Form", bound=KernelForm)


def register(operator: str, *schedules: Schedule, first: bool = False) -> None:
    """Make schedules of an operator known, behind those known already, or before them."""
    known = SCHEDULES.setdefault(operator, [])
    named = [replace(s, needs=s.needs or s.form.kernel or operator) for s in schedules]
    known[:] = [*named, *known] if first else [*known, *named]


def schedule(
    operator: str, applies: Callable[[Layer], bool], *, first: bool = False
) -> Callable[[type[_Form]], type[_Form]]:
    """Decorator of a form: a schedule of an operator, for the layers to which it applies."""

    def known(form: type[_Form]) -> type[_Form]:
        register(operator, Schedule(applies, form), first=first)
        return form

    return known


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

    def load(self, name: str, tensor: Tensor, box: Box, room: int = 0) -> Pointer:
        """Bring a part of a tensor into L1, with room behind it."""
        local = Local(name, TensorSpec(box.size, tensor.spec.dtype), SLACK + room)
        self.steps.append(Load(tensor, box, local))
        self.reads.append(local)
        return Pointer(local)

    def in_place(self, name: str, tensor: Tensor, box: Box, room: int = 0) -> Pointer:
        """A part of a cache: where it lies if that is L1, else a copy, with room behind it."""
        if tensor.storage.level != "l1":
            return self.load(name, tensor, box, room)
        self.reads.append(tensor)
        return Pointer(tensor, int(np.ravel_multi_index(box.start, tensor.spec.shape)) * tensor.spec.itemsize)

    def load_whole(self, name: str, tensor: Tensor) -> Pointer:
        return self.load(name, tensor, Box.whole(tensor.spec.shape))

    def load_constant(self, name: str, values: np.ndarray) -> Pointer:
        """Bring a constant that is made for the form into L1."""
        return self.load_whole(name, self.form.constant(name, values))

    def load_reals(self, name: str, *attributes: str) -> Pointer:
        """Bring attributes of the layer into L1, in single precision."""
        stated = self.form.layer.attributes
        return self.load_constant(name, np.array([stated[n] for n in attributes], np.float32))

    def scratch(self, stride: int, shares: int | None = None) -> Fields:
        """A scratch area for all cores, or for those that have one of so many shares of the work."""
        fields = scratch(stride, self.form.costs, shares)
        self.writes.append(fields["scratch"].operand)
        return fields

    def requant(self, channels: slice | None = None, add: Tensor | None = None, *, short: bool = False) -> Fields:
        """The fields of the member `requant`; per-channel constants of the given channels, `add` replaced if given.

        `short`: the rule and its accumulators are as kernels.h says at `shift`.
        """
        rule = Requant.of(self.form.layer.attributes)
        upper = self.form.high_word if rule.kind == "offset_half_even" else None
        if upper is not None:
            return self._high_word(upper, rule, channels)
        operands = rule.tensors(self.form.layer.inputs)
        fields = self.requant_member("requant", rule, operands if add is None else [operands[0], add], channels)
        return fields | {"requant.shift": 1} if short else fields

    def _high_word(self, upper: HighWord, rule: Requant, channels: slice | None) -> Fields:
        whole = self.form.constant("high_word", upper.constants)
        first, last = (0, whole.spec.shape[0]) if channels is None else (channels.start, channels.stop)
        place = self.load("mul", whole, Box((first, 0), (last - first, whole.spec.shape[1])))
        kernels = replace(rule, kind="high_word", shift=upper.shift, zero_point=upper.middle)
        return requant_fields("requant", kernels, [place, place], per_channel=True)

    def requant_member(
        self, member: str, rule: Requant, operands: Sequence[Tensor], channels: slice | None = None
    ) -> Fields:
        """Fields of a member `struct tvm_pulp_requant`, with the constants brought into L1."""
        pointers = []
        for name, tensor in zip(("mul", "add"), operands, strict=False):
            part = Box.whole(tensor.spec.shape)
            if channels is not None and tensor.spec.elements > 1:
                part = Box((channels.start,), (channels.stop - channels.start,))
            pointers.append(self.load(name, tensor, part))
        return requant_fields(member, rule, pointers, per_channel=any(t.spec.elements > 1 for t in operands))

    def finish(self, fields: Fields) -> Recipe:
        """Loads, the call, the store."""
        form = self.form
        call = kernel_call(
            form.function,
            {form.result: Pointer(self.y), **fields},
            form.costs,
            self.reads,
            self.writes,
            structure=form.structure,
            attributes=form.layer.attributes,
            expected=self.expected,
        )
        return Recipe((*self.steps, call, Store(self.y, self.output, self.box)))
