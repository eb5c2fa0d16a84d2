"""The layers that NEUREKA takes, and the forms it offers for them."""

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma import Box, Form
from uma_backends.conv_array import by_rows, conv2d_forms, known_arithmetic
from uma_backends.neureka.neureka_form import NeurekaContext
from uma_backends.neureka.vector_form import vector_forms

# Another form of a product has to save these cycles, and this part of them: its weights are packed otherwise than those
# of several rows.
_LEAST_CYCLES, _LEAST_PART = 100, 0.1


def dense_strategy(layer: Layer, context: NeurekaContext) -> list[Form]:
    """Constant weights of up to 8 bits, 8-bit inputs, accumulators of 32 bits."""
    rows, whole = by_rows(layer, context), Box.whole(layer.outputs[0].spec.shape)
    cycles = rows.recipe(whole).cycles
    most = cycles - max(_LEAST_CYCLES, _LEAST_PART * cycles)
    ways = vector_forms(layer, known_arithmetic(layer, context), context)
    return [rows, *(form for form in ways if _counted(form, whole) <= most)]


def _counted(form: Form, whole: Box) -> int:
    """Cycles of a form, those of the cores twice: where rows are single the cores are what everything waits for."""
    recipe = form.recipe(whole)
    return 2 * recipe.cycles - recipe.engine_cycles


def conv2d_strategy(layer: Layer, context: NeurekaContext) -> list[Form]:
    """Constant weights of up to 8 bits, 8-bit inputs; groups with any kernel, or depthwise, 3x3 and up to 9x9."""
    return conv2d_forms(layer, context)
