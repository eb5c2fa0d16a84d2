"""A convolution or a product whose result is added to another tensor, as one region.

Where the cores round the array's 32-bit results anyway they add the other operand in the same pass: the rounded bytes
are neither stored nor loaded again, the sum of a tile is made while the array makes the next one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.uma import Box, Form, Kernel, Load, Local, Refused, Step, Store, has_kernel, pattern_of, refuse_if
from uma_backends.conv_array.arithmetic.layer_arithmetic import LayerArithmetic
from uma_backends.conv_array.forms.array_form import ArrayContext, ArrayForm

_SIDES, _KINDS = ((0, "summed"), (1, "summed_turned")), ((0, ""), (2, "_rounded"))
Strategy = Callable[[Layer, Any], list[Form]]


@dataclass(frozen=True)
class Residual:
    """The other operand of a sum, the attributes of the step that makes it, and the rounding before it."""

    other: Tensor
    attributes: dict[str, Any]
    first: Requant

    def summand(self, arithmetic: LayerArithmetic) -> np.ndarray:
        """Of the rounding before the sum, whose result shall be a signed byte."""
        assert arithmetic.rest is not None
        return arithmetic.rest.from_least(self.first.low, -128)

    def load(self, box: Box) -> Load:
        return Load.of(self.other, "b", box)

    def finish(self, form: ArrayForm, raw: Local, box: Box, taken: Sequence[int]) -> list[Step]:
        """From the array's output to the stored sum."""
        rest, out = form.arithmetic.rest, form.layer.outputs[0]
        assert rest is not None
        stages, other = load_stages(form, np.stack([rest.shift, self.summand(form.arithmetic)]), box), self.load(box)
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        attributes = {**self.attributes, **({"taken": list(taken)} if taken else {})}
        kernel = Kernel("requantize_sum", attributes, (raw, stages.local, other.local), (y,))
        return [stages, other, kernel, Store(y, out, box)]


def load_stages(form: ArrayForm, stages: np.ndarray, box: Box) -> Load:
    """Numbers of roundings, [rounding][channel], as kernels take them: of four channels at a time."""
    count = len(stages)
    fours = stages.reshape(count, -1, 4).transpose(1, 0, 2).reshape(-1).astype(np.int32)
    part = Box((count * box.start[-1],), (count * box.size[-1],))
    return Load.of(form.derived.constant(f"{form.layer.name}_stages", fours), "stages", part)


def summed_patterns(operators: Sequence[str]) -> list[tuple[str, Callable[[], Any]]]:
    """Sums with the result of an operator on either side; TFLite's have factor and shift as further operands."""

    every = product(operators, _SIDES, _KINDS)
    return [
        (f"{o}_{side}{kind}", behind(partial(pattern_of, o), "add", [place], constants))
        for o, (place, side), (constants, kind) in every
    ]


def behind(inner: Callable[[], Any], name: str, places: Sequence[int], constants: int = 0) -> Callable[[], Any]:
    """The pattern of an operator of two operands, some of them a pattern, and of so many constants behind them."""
    return lambda: pattern_of(name, *(inner() if i in places else None for i in range(2)), *[None] * constants)


def summed_strategy(region: Layer, context: ArrayContext, strategy: Strategy) -> list[Form]:
    """The forms of a layer that the cores round by an addition and a shift, with a sum behind."""
    layer, add = region.parts
    residual = residual_of(layer, add)
    refuse_without_kernel("requantize_sum", residual.attributes, context, "that rounds and makes this sum")
    whole = replace(layer, name=region.name, outputs=region.outputs)
    # The layer's own rounding is what forms are made for; only names and what is stored are the sum's.
    forms = [form for form in strategy(layer, context) if isinstance(form, ArrayForm)]
    plain = [form for form in forms if type(form).finish is ArrayForm.finish and _rounds(form.arithmetic, residual)]
    if not plain:
        raise Refused("its rounding is not an addition and a shift of 32 bits")
    return [replace(form, layer=whole, name=f"{form.name}, summed", residual=residual) for form in plain]


def refuse_without_kernel(operator: str, attributes: dict[str, Any], context: ArrayContext, what: str) -> None:
    """The cores have to make the array's 32-bit results into others by a kernel of theirs; `what` it does."""
    kernel = Kernel(operator, attributes, (Local("x", TensorSpec((1, 4), "int32")),), ())
    refuse_if(not has_kernel(kernel, context.costs), f"the cores have no kernel {what}")


def residual_of(layer: Layer, add: Layer) -> Residual:
    """The tensor of bytes that a sum adds to the result of a layer; refused where it is another thing."""
    product, result = layer.outputs[0], add.outputs[0]
    place = next(i for i, t in enumerate(add.inputs[:2]) if t.storage is product.storage)
    other, constants = add.inputs[1 - place], add.inputs[2:]
    refuse_if(other.data is not None, "what is added is a constant")
    is_same = other.spec.shape == product.spec.shape == result.spec.shape
    refuse_if(not is_same or other.storage is product.storage, "what is added is not a tensor of the same shape")
    known = all(t.spec.elements == 1 and t.data is not None for t in constants)
    refuse_if(not known or add.attributes["form"] == "plain", "the sum has other roundings than frameworks'")
    rules = [Requant.of(part.attributes) for part in (layer, add)]
    are_bytes = all(rule.is_whole_byte for rule in rules)
    refuse_if(not are_bytes or other.spec.dtype not in BYTES, "a result does not have the range of a byte")
    refuse_if(product.spec.shape[-1] % 4 != 0, "its channels are no multiple of four")
    attributes = {
        "sum": add.attributes, "types": [t.spec.dtype for t in add.inputs[:2]], "place": place, "low": rules[0].low,
        "scalars": [int(t.data.reshape(-1)[0]) for t in constants if t.data is not None],
    }  # fmt: skip
    return Residual(other, attributes, rules[0])


def _rounds(arithmetic: LayerArithmetic, residual: Residual) -> bool:
    if arithmetic.native or arithmetic.rest is None:
        return False
    return not arithmetic.rest.exceeds(arithmetic.reach, residual.summand(arithmetic))
