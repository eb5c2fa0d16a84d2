"""A sum that the array computes alone, with the convolutions that make its operands where it has them.

The operands' jobs write their channels beside each other in each pixel: convolutions, and 1x1 jobs of one tap that
round what is there already. Another 1x1, whose filters are two ones, adds and rounds them; the cores do nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tvm_pulp.qnn.add import AddAttributes, rules, split
from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.qnn.tensor_spec import BYTES, TensorSpec
from tvm_pulp.uma import EXACT, Box, Form, Job, Local, Pointer, Recipe, Step, Store, TileAxis, pattern_of, refuse_if
from uma_backends.conv_array.arithmetic.layer_arithmetic import arithmetic_of
from uma_backends.conv_array.forms.array_form import ACTIVATION_SLACK, ArrayContext, ArrayForm, JobForm
from uma_backends.conv_array.forms.basic_forms import PointwiseForm
from uma_backends.conv_array.forms.strategy import conv2d_forms
from uma_backends.conv_array.forms.summed import behind
from uma_backends.conv_array.modes import Mode

_WINDOW: dict[str, Any] = {"layout": "NHWC", "strides": (1, 1), "dilation": (1, 1), "pads": (0,) * 4, "groups": 1}
# Factor and summand of the sum, and of one operand or both.
_CONSTANTS = (2, 4, 6)


def pair_sum_patterns() -> list[tuple[str, Callable[[], Any]]]:
    """Sums of one convolution or two that nobody else reads: to bring both operands there takes longer."""

    return [
        (f"sum_of_{name}_convolution_{count}", behind(partial(pattern_of, "conv2d"), "add", places, count))
        for name, places in (("first", [0]), ("second", [1]), ("both", [0, 1]))
        for count in _CONSTANTS[: 3 - len(places)]
    ]


def pair_sum_strategy(region: Layer, context: ArrayContext) -> list[Form]:
    """A sum, and convolutions before it, which the array rounds as exactly as they are written."""
    *convolutions, add = region.parts
    a, spec = AddAttributes.of(add), add.outputs[0].spec
    is_picture = len(spec.shape) == 4 and all(t.spec.shape == spec.shape and t.data is None for t in add.inputs[:2])
    refuse_if(a.form != "plain" or not is_picture, "it is not the rounded sum of two pictures of one shape")
    layers = {layer.outputs[0].storage: layer for layer in convolutions}
    # What one hands to another would have to lie there as a whole.
    refuse_if(any(layer.inputs[0].storage in layers for layer in convolutions), "one convolution reads the other")
    parts, types = [], []
    *of_operands, (_, rule, constants) = zip(
        ("requant_a", "requant_b", ""), rules(a), split(a, add.inputs[2:]), strict=True
    )
    for operand, (side, before, own) in zip(add.inputs[:2], of_operands, strict=True):
        types.append(operand.spec.dtype if before.kind == "none" else before.out_dtype)
        layer = layers.get(operand.storage)
        refuse_if(layer is not None and before.kind != "none", "the convolution's result is rounded once more")
        parts.append(
            _taken(operand, before, own, f"{add.name}_{side}", context) if layer is None else _made(layer, context)
        )
    refuse_if(types[0] != types[1], "its operands differ in their signs")
    adds = _one_by_one(
        f"{add.name}_sum", _pair(spec, types[0]), _ones(spec.shape[-1], 2), rule, constants, add.outputs, context
    )
    form = PairSumForm(replace(add, name=region.name), context, _named(parts))
    shared = [replace(part, derived=form.derived) for part in (*parts, adds)]
    return [replace(form, parts=tuple(shared[:-1]), adds=shared[-1], derived=form.derived)]


def _named(parts: Sequence[ArrayForm]) -> str:
    return " and ".join(part.name for part in parts) + ", summed by 1x1"


def _pair(spec: TensorSpec, dtype: str) -> Tensor:
    return Tensor("pair", TensorSpec((*spec.shape[:-1], 2 * spec.shape[-1]), dtype), "activation")


def _ones(channels: int, times: int) -> np.ndarray:
    return np.concatenate([np.eye(channels, dtype=np.int8)] * times, axis=1).reshape(channels, 1, 1, times * channels)


def _made(layer: Layer, context: ArrayContext) -> ArrayForm:
    """A convolution whose results the array rounds."""
    found = [form for form in conv2d_forms(layer, context) if isinstance(form, ArrayForm) and _is_native(form)]
    refuse_if(not found, "the cores round one of the convolutions")
    return found[0]


def _taken(operand: Tensor, rule: Requant, own: list[Tensor], name: str, context: ArrayContext) -> ArrayForm:
    """An operand that is there already, rounded as the sum says."""
    spec = operand.spec
    if rule.kind == "none":
        rule = Requant("pulp", 0, 0, *(spec.range if spec.dtype in BYTES else (0, 0)), dtype=spec.dtype)
        own = [_constant(f"{name}_{part}", np.array([value], np.int32)) for part, value in (("mul", 1), ("add", 0))]
    result = Tensor(f"{name}_rounded", TensorSpec(spec.shape, rule.out_dtype), "activation")
    return _one_by_one(name, operand, _ones(spec.shape[-1], 1), rule, own, [result], context)


def _constant(name: str, data: np.ndarray) -> Tensor:
    return Tensor(name, TensorSpec(data.shape, str(data.dtype)), "constant", data=data)


def _one_by_one(
    name: str,
    x: Tensor,
    filters: np.ndarray,
    rule: Requant,
    own: list[Tensor],
    out: list[Tensor],
    context: ArrayContext,
) -> ArrayForm:
    """A 1x1 that the array rounds by itself; refuses what it cannot."""
    attributes = Conv2dAttributes(**_WINDOW, zero_point=0, has_bias=False, requant=rule)
    layer = Layer(name, "conv2d", attributes, [x, _constant(f"{name}_ones", filters), *own], out)
    unsigned, widths = context.unsigned_only, context.scale_bits
    arithmetic = arithmetic_of(layer, native_rounding=False, unsigned_only=unsigned, scale_bits=widths)
    refuse_if(not arithmetic.native or arithmetic.input_added != 0, arithmetic.why_not_native or "it has a sign")
    return PointwiseForm(layer, context, "1x1", arithmetic, Mode.POINTWISE)


def _is_native(form: ArrayForm) -> bool:
    """Tell if all that the array leaves is to store the results of one job."""
    steps = form.recipe(Box.whole(form.layer.outputs[0].spec.shape)).steps
    jobs, stores = [s for s in steps if isinstance(s, Job)], [s for s in steps if isinstance(s, Store)]
    return len(jobs) == len(stores) == 1 and jobs[0].writes == (stores[0].local,)


@dataclass(frozen=True)
class PairSumForm(JobForm):
    """Three jobs for a tile: both operands of the sum, and the sum."""

    parts: tuple[ArrayForm, ...] = ()
    adds: Any = field(default=None)
    rounding = EXACT

    def axes(self) -> tuple[TileAxis, ...]:
        """All channels of a pixel stay together."""
        return (TileAxis(1), TileAxis(2), TileAxis(0, limit=1))

    def recipe(self, box: Box) -> Recipe:
        channels, out = box.size[-1], self.layer.outputs[0]
        before = [_split(part.recipe(box)) for part in self.parts]
        # Pictures that rows are folded into may have more pixels than the tile.
        extra = 2 * max(job.writes[0].slack for _, job in before)
        pair = Local(
            "pair", TensorSpec((*box.size[:-1], 2 * channels), self.parts[0].raw_dtype), extra + ACTIVATION_SLACK
        )
        steps: list[Step] = []
        for number, (others, job) in enumerate(before):
            steps += [*others, _beside(job, pair, number * channels, 2 * channels)]
        y = Local("y", TensorSpec(box.size, out.spec.dtype))
        job = self.adds.array_job(box.size[1], box.size[2], 2 * channels, channels)
        loads, total = self.adds.job_steps(job, 0, pair, y)
        return self.adds.arranged([*steps, *loads, total, Store(y, out, box)])


def _split(recipe: Recipe) -> tuple[list[Step], Job]:
    """Steps of an operand before its job, and the job."""
    (job,) = (s for s in recipe.steps if isinstance(s, Job))
    return [s for s in recipe.steps if not isinstance(s, Job | Store)], job


def _beside(job: Job, pair: Local, first: int, stride: int) -> Job:
    """The job with its results from byte `first` of each pixel on."""
    d = job.description
    made = replace(d.job, output_pixel_stride=stride, output_row_stride=d.job.output_width * stride)
    described = replace(d, job=made, output=Pointer(pair, first))
    return replace(job, description=described, writes=(pair,))
