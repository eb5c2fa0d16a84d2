"""Exact rounding with results of a byte: the array computes a bound from below and one from above, the cores settle.

Twice the jobs, but bytes instead of words leave the array, and the cores compare words of four results instead of
rounding each of them.
"""

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma import Box, Derived, Job, Kernel, Load, Local, Pointer, Recipe, Step, Store, has_kernel
from uma_backends.conv_array.arithmetic.bounded_rounding import Bounds, bound_rounding
from uma_backends.conv_array.arithmetic.exact_rounding import ExactFold
from uma_backends.conv_array.arithmetic.folded_rounding import Reach
from uma_backends.conv_array.arithmetic.layer_arithmetic import Arithmetic
from uma_backends.conv_array.arithmetic.requantization import Requantization
from uma_backends.conv_array.forms.array_form import ArrayForm
from uma_backends.conv_array.forms.basic_forms import Direct3x3Form, Im2colForm, PointwiseForm
from uma_backends.conv_array.modes import Mode

# Products of an open element take the cores longer than all of its rounding, if there are many or it is often open.
_MOST_INPUTS = 64
_MOST_OPEN = 0.03
# Where results begin at zero about half of all elements lie below, and are clipped alike.
_INSIDE = 0.5
# Parts of the cycles of rounding on the cores that bounds may take: of engine and cores, and of the busier of the two,
# which is what counts where they work side by side. Closer estimates than these do not decide.
_MOST_CYCLES, _MOST_BUSIER = 0.9, 0.95
# What they save at least: another form of a small layer changes more in its neighbours' tiles than in itself.
_LEAST_SAVED = 2000
# Looked for once, though annotation and planning ask both; by what is added to the input.
_KNOWN: WeakKeyDictionary[Layer, dict[int, Bounds | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Settled:
    """Two jobs of a form, whose constants are those of the lower bound; `bounds` has the summands of the upper one."""

    bounds: Bounds
    # The layer's rule for sums of products.
    exact: ExactFold

    def assemble(self, form: ArrayForm, before: list[Step], job: Job, raw: Local, box: Box) -> Recipe:
        """From the steps before the first job to the stored tile."""
        first, channels = box.start[-1], box.size[-1]
        upper = Local("upper", raw.spec, raw.slack)
        constant = form.derived.constant(f"{form.layer.name}_upper_bias", self.bounds.high.astype(np.int32))
        load = Load.of(constant, "upper_bias", Box((first,), (channels,)), form.parameter_slack)
        above = form.context.step(replace(job.description, output=Pointer(upper), bias=Pointer(load.local)))
        steps = [*before, load, job, above, *self._settled(form, job, upper, box)]
        return form.arranged([*steps, Store(raw, form.layer.outputs[0], box)])

    def _settled(self, form: ArrayForm, job: Job, upper: Local, box: Box) -> list[Step]:
        """Open elements by the layer's own rule: products, factor, summand and shift of their channels."""
        name, raw, taps = form.layer.name, job.writes[0], form.arithmetic.weights
        taps = taps.reshape(len(taps), -1).astype(np.int8)
        taps = taps if form.mode is Mode.DEPTHWISE_3X3 else np.pad(taps, ((0, 0), (0, -taps.shape[1] % 4)))
        stages = np.stack([self.exact.scale, self.exact.add, self.exact.shift], axis=1)
        loads = []
        for part, data in (("taps", taps), ("stages", stages.astype(np.uint32).view(np.int32))):
            own = Box((box.start[-1], 0), (box.size[-1], data.shape[1]))
            loads.append(Load.of(form.derived.constant(f"{name}_{part}", data), part, own))
        rule = Requant.of(form.layer.attributes)
        inside = _INSIDE if rule.zero_point == rule.low else 1.0
        attributes = {"job": job.description.job, "open": round(inside * self.bounds.open_share * box.elements)}
        operands = (job.description.input.operand, raw, upper, *(load.local for load in loads))
        return [*loads, Kernel("settle", attributes, operands, (raw,))]


def bounded_form(form: ArrayForm) -> ArrayForm | None:
    """The same form with bounds, where the array has them, they are close and the cores have a kernel that settles."""
    arithmetic, layer = form.arithmetic, form.layer
    if not _is_suitable(form):
        return None
    known = _KNOWN.setdefault(layer, {})
    if arithmetic.input_added not in known:
        known[arithmetic.input_added] = _bounds(layer, arithmetic)
    bounds = known[arithmetic.input_added]
    if bounds is None or arithmetic.rest is None:
        return None
    one, relu = bounds.has_one_shift, Requant.of(layer.attributes).low == 0
    how = Requantization(32, int(bounds.shift[0]) if one else 0, bias=True, relu=relu, shift_vector=not one)
    low = replace(
        arithmetic,
        scale=bounds.scale.astype(np.uint32),
        bias=bounds.low.astype(np.int32),
        shift=None if one else bounds.shift.astype(np.uint8),
        requantization=how,
        output_bits=8,
        native=True,
        rest=None,
    )
    settled = Settled(bounds, arithmetic.rest)
    made = replace(form, name=f"{form.name}, bounded", arithmetic=low, settled=settled, derived=Derived())
    return made if _is_worth(made, form) else None


def _is_worth(bounded: ArrayForm, form: ArrayForm) -> bool:
    whole = Box.whole(form.layer.outputs[0].spec.shape)
    (both, busier), (both_before, busier_before) = (
        (r.cycles, max(r.engine_cycles, r.cycles - r.engine_cycles)) for r in (f.recipe(whole) for f in (bounded, form))
    )
    most = min(_MOST_CYCLES * both_before, both_before - _LEAST_SAVED)
    return both <= most and busier <= _MOST_BUSIER * busier_before


def _is_suitable(form: ArrayForm) -> bool:
    layer, weight, out = form.layer, form.layer.inputs[1], form.layer.outputs[0].spec
    if type(form) not in (PointwiseForm, Direct3x3Form, Im2colForm) or not form.context.has_bounds:
        return False
    if form.arithmetic.rest is None or out.dtype not in ("int8", "uint8"):
        return False
    if not has_kernel(Kernel("settle", {}, (), ()), form.context.costs) or out.shape[-1] % 4:
        return False  # the cores have no kernel that decides
    is_3x3 = type(form) is Direct3x3Form
    # Of a 3x3 with all channels the second job takes as long as the first.
    direct = not is_3x3 or (form.mode is Mode.DEPTHWISE_3X3 and Conv2dAttributes.of(layer).strides == (1, 1))
    groups = form.mode is Mode.DEPTHWISE_3X3 or int(Conv2dAttributes.of(layer).groups) == 1
    inputs = int(np.prod(weight.spec.shape[1:]))
    return bool(direct and groups and inputs <= _MOST_INPUTS and weight.spec.dtype == "int8")


def _bounds(layer: Layer, arithmetic: Arithmetic) -> Bounds | None:
    rule = Requant.of(layer.attributes)
    if not rule.is_whole_byte:
        return None
    bias = arithmetic.bias.astype(np.int64)
    first, second = (np.broadcast_to(t.values.reshape(-1), bias.shape) for t in layer.inputs[-2:])
    flat = arithmetic.weights.reshape(len(bias), -1).astype(np.int64)
    ends = [flat * (end + arithmetic.input_added) for end in layer.inputs[0].spec.range]
    reach = Reach(np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1))
    found = bound_rounding(rule, first, second, reach, bias)
    return found if found is not None and found.open_share <= _MOST_OPEN else None
