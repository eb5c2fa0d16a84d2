"""The layers that arrays take, reasons why not, and the forms offered for them."""

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Box, Derived, Form, refuse_if
from uma_backends.conv_array.arithmetic.layer_arithmetic import Arithmetic, arithmetic_of
from uma_backends.conv_array.forms.array_form import ArrayContext, ArrayForm
from uma_backends.conv_array.forms.basic_forms import (
    DenseForm,
    Direct3x3Form,
    Im2colForm,
    PointwiseForm,
    fold_rows,
)
from uma_backends.conv_array.forms.blocks_form import blocks_forms
from uma_backends.conv_array.forms.bounded_form import bounded_form
from uma_backends.conv_array.forms.dilated_form import DilatedForm
from uma_backends.conv_array.modes import Mode

# Weights are looked at once, though annotation and planning ask both.
_KNOWN: WeakKeyDictionary[Layer, dict[tuple[bool, bool, tuple[int, ...]], Arithmetic]] = WeakKeyDictionary()
# Groups of a job: beyond them zeros outweigh everything.
_MOST_GROUPS = 64
# So many times fewer subtiles are worth it that rows of a picture are not the rows of a pipeline any more.
_CLEARLY_FEWER = 1.5


def known_arithmetic(layer: Layer, context: ArrayContext) -> Arithmetic:
    known, key = _KNOWN.setdefault(layer, {}), (context.native_tflite, context.unsigned_only, context.scale_bits)
    if key not in known:
        native, unsigned, widths = key
        known[key] = arithmetic_of(layer, native_rounding=native, unsigned_only=unsigned, scale_bits=widths)
    return known[key]


def by_rows(layer: Layer, context: ArrayContext) -> DenseForm:
    """A matrix product, its rows as pixels."""
    return DenseForm(layer, context, "1x1 over rows", known_arithmetic(layer, context), Mode.POINTWISE)


def conv2d_forms(layer: Layer, context: ArrayContext) -> list[Form]:
    """Directly where the array has the kernel, by im2col otherwise.

    Groups that are not depthwise come some at a time, kernels with gaps by phases.
    """
    arithmetic, a = known_arithmetic(layer, context), Conv2dAttributes.of(layer)
    outputs, kh, kw, per_group = layer.inputs[1].spec.shape
    unit_stride, plain = a.strides == (1, 1), a.dilation == (1, 1)
    is_3x3, by_phases = (kh, kw) == (3, 3) and (plain or unit_stride), not plain
    if per_group == 1 and a.groups > 1 and outputs == layer.inputs[0].spec.shape[3]:
        if is_3x3 and plain and unit_stride:
            return _with_bounds([Direct3x3Form(layer, context, "3x3 depthwise", arithmetic, Mode.DEPTHWISE_3X3)])
        blocks: list[Form] = [*blocks_forms(layer, context, arithmetic)]
        if not is_3x3:
            way_out = "use a 3x3 depthwise kernel" if plain else "use one without them or without it"
            what = f"a depthwise {kh}x{kw} kernel is not 3x3" if plain else "its depthwise kernel has gaps and a stride"
            refuse_if(not blocks, what, way_out)
            return blocks
        if by_phases:
            name = "3x3 depthwise by phases"
            return _if_fewer(blocks, DilatedForm(layer, context, name, arithmetic, Mode.DEPTHWISE_3X3))
        name = "3x3 depthwise at stride 1, discarding"
        return _if_fewer(blocks, Direct3x3Form(layer, context, name, arithmetic, Mode.DEPTHWISE_3X3))
    forms: list[Form] = [*blocks_forms(layer, context, arithmetic)] if per_group == 1 < a.groups else []
    if (kh, kw) == (1, 1) and not any(a.pads):
        forms.append(_pointwise(layer, context, arithmetic))
    elif is_3x3 and by_phases:
        forms.append(_in_groups(DilatedForm(layer, context, "3x3 by phases", arithmetic, Mode.DENSE_3X3)))
    elif is_3x3:
        name = "3x3" if unit_stride else "3x3 at stride 1, discarding"
        forms.append(_in_groups(Direct3x3Form(layer, context, name, arithmetic, Mode.DENSE_3X3)))
    if (kh, kw) != (1, 1) or any(a.pads):
        forms.append(_in_groups(Im2colForm(layer, context, "im2col + 1x1", arithmetic, Mode.POINTWISE)))
    return _with_bounds(forms)


def _pointwise(layer: Layer, context: ArrayContext, arithmetic: Arithmetic) -> ArrayForm:
    """Pixels where they are, or one behind the other, as rows, where subtiles of the picture would be mostly empty."""
    _, height, width, _ = layer.outputs[0].spec.shape
    if Conv2dAttributes.of(layer).strides == (1, 1) and Conv2dAttributes.of(layer).groups == 1:
        h, w = fold_rows(height * width, context.rows, context.columns)
        folded, direct = (
            -(-rows // context.rows) * -(-columns // context.columns) for rows, columns in ((h, w), (height, width))
        )
        if _CLEARLY_FEWER * folded <= direct:
            return by_rows(layer, context)
    return _in_groups(PointwiseForm(layer, context, "1x1", arithmetic, Mode.POINTWISE))


def _if_fewer(blocks: Sequence[Form], direct: ArrayForm) -> list[Form]:
    """The direct form, before it that over blocks where the whole layer takes fewer cycles: its recipes are long."""
    whole = Box.whole(direct.layer.outputs[0].spec.shape)
    limit = direct.recipe(whole).cycles
    return [*(form for form in blocks if form.recipe(whole).cycles < limit), direct]


def _with_bounds(forms: Sequence[Form]) -> list[Form]:
    """The forms, with results that two jobs bound where that takes clearly less: one of both is enough to plan with."""
    return [(bounded_form(form) or form) if isinstance(form, ArrayForm) else form for form in forms]


def _in_groups(form: ArrayForm) -> ArrayForm:
    """The form with as many groups in a job as take least: more multiply more zeros, fewer are more jobs."""
    groups, costs = int(Conv2dAttributes.of(form.layer).groups), form.context.costs
    if groups == 1:
        return form
    # A step with commands for picture, constants, job and result.
    step = costs.executor.step + 4 * costs.executor.command + costs.barrier_cycles

    def cycles(count: int) -> float:
        return replace(form, groups_at_once=count, derived=Derived()).bound_cycles() + groups // count * step

    counts = [n for n in range(1, min(groups, _MOST_GROUPS) + 1) if groups % n == 0]
    best = min(counts, key=cycles)
    return replace(form, name=f"{form.name}, {best} of {groups} groups at a time", groups_at_once=best)
