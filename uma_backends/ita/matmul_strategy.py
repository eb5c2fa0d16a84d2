"""Products of two activations on ITA: by the engine's own requantization where it is exact, else digit by digit."""

from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal
from uma_backends.ita.ita_form import Context, refused
from uma_backends.ita.matmul import MatmulForm, matmul_rule
from uma_backends.ita.matmul_digits import MatmulDigitsForm, digits_rule, matmul_digits


def matmul_strategy(layer: Layer, context: Context) -> list[Form] | Refusal:
    """int8 by int8, inner length up to 960; no zero points, one multiplier of up to 8 bits and int8 results.

    Others where sums fit the digits that the inner length leaves room for.
    """
    native = matmul_rule(layer)
    if not isinstance(native, str):
        return [MatmulForm(layer, native, context)]
    found = matmul_digits(layer)
    if isinstance(found, str):
        return refused(native, found)
    return [MatmulDigitsForm(layer, digits_rule(layer, found), context, "product, digit by digit", digits=found)]
