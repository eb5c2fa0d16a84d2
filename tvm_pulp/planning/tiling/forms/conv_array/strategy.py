"""The layers that arrays take, reasons why not, and the forms offered for them."""

from weakref import WeakKeyDictionary

from tvm_pulp.planning.tiling.forms.conv_array.array_form import ArrayContext
from tvm_pulp.planning.tiling.forms.conv_array.forms import DenseForm, Direct3x3Form, Im2colForm, PointwiseForm
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Form, refuse_if
from tvm_pulp.uma.conv_array.layer_arithmetic import Arithmetic, arithmetic_of
from tvm_pulp.uma.conv_array.modes import Mode

# Weights are looked at once, though annotation and planning ask both.
_KNOWN: WeakKeyDictionary[Layer, dict[tuple[bool, bool, tuple[int, ...]], Arithmetic]] = WeakKeyDictionary()


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
    """Directly where the array has the kernel, by im2col otherwise."""
    arithmetic, a = known_arithmetic(layer, context), layer.attributes
    outputs, kh, kw, per_group = layer.inputs[1].spec.shape
    unit_stride, plain = list(a["strides"]) == [1, 1], list(a["dilation"]) == [1, 1]
    if a["groups"] > 1:
        is_depthwise = per_group == 1 and outputs == layer.inputs[0].spec.shape[3]
        why = "grouped convolutions other than depthwise do not map onto the array"
        refuse_if(not is_depthwise, why, "split the groups")
        is_3x3 = (kh, kw) == (3, 3) and plain
        refuse_if(not is_3x3, f"a depthwise {kh}x{kw} kernel is not 3x3", "use a 3x3 depthwise kernel")
        name = "3x3 depthwise" if unit_stride else "3x3 depthwise at stride 1, discarding"
        return [Direct3x3Form(layer, context, name, arithmetic, Mode.DEPTHWISE_3X3)]
    forms: list[Form] = []
    if (kh, kw) == (1, 1) and not any(a["pads"]):
        forms.append(PointwiseForm(layer, context, "1x1", arithmetic, Mode.POINTWISE))
    elif (kh, kw) == (3, 3) and plain:
        name = "3x3" if unit_stride else "3x3 at stride 1, discarding"
        forms.append(Direct3x3Form(layer, context, name, arithmetic, Mode.DENSE_3X3))
    if (kh, kw) != (1, 1) or any(a["pads"]):
        forms.append(Im2colForm(layer, context, "im2col + 1x1", arithmetic, Mode.POINTWISE))
    return forms
