"""Products with constant weights on ITA: by the engine's own requantization where it is exact, else digit by digit."""

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.dense import DenseForm
from uma_backends.ita.dense_digits import DenseDigitsForm, digits_of
from uma_backends.ita.ita_form import Context, refused
from uma_backends.ita.linear_arithmetic import arithmetic_of


def dense_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """int8 inputs, constant int8 weights, inner length up to 960; one multiplier of up to 8 bits and int8 results.

    Any other requantization where sums fit the digits that the inner length leaves room for.
    """
    native = arithmetic_of(layer)
    if not isinstance(native, str):
        return [DenseForm(layer, native, context)]
    found = digits_of(layer)
    if isinstance(found, str):
        return refused(native, found)
    arithmetic, digits = found
    return [DenseDigitsForm(layer, arithmetic, context, "linear, digit by digit", digits=digits)]
