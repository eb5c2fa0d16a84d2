"""The one operator of QVanilla: which convolutions it takes, and how a part of one is run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.qnn.conv2d import Conv2dAttributes
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma import EXACT, Box, Job, Load, Local, Recipe, Refusal, Store, TileAxis, UMABackend

ENGINE, LARGEST_KERNEL = "qvanilla", 31  # its name, rows of a window
_SIZES = "output_channels width height channels kernel_height kernel_width input_zero_point kernel_zero_point"
MEMBERS = f"offset cycles_per_mac input weights bias result {_SIZES}".split()  # of struct qvanilla_job, a word each


@dataclass(frozen=True)
class Context:
    """The compilation as strategies see it. `offset`: of the variant's registers."""

    backend: UMABackend
    offset: int
    cycles_per_mac: int


def conv2d_pattern() -> Any:
    from tvm.relax.dpl import is_op

    return is_op("tvm_pulp.qnn.conv2d")(varg_default_wildcard=True)


def conv2d_check(match: Any) -> bool | Refusal:
    """int8 by constant int8, one group, stride and dilation 1, SAME padding, square odd kernels."""
    layer = match.layer
    attributes = Conv2dAttributes.of(layer)
    if (attributes.layout, attributes.requant.kind) == ("NCHW", "none"):
        return True  # as the pass to_nchw makes them
    return Refusal(ENGINE, refusal(attributes, [t.spec for t in layer.inputs], [t.data for t in layer.inputs]))


def refusal(a: Conv2dAttributes, specs: Sequence[TensorSpec], data: Sequence[np.ndarray | None]) -> str:
    """Why QVanilla cannot compute a canonical (NHWC) convolution; nothing where it can."""
    (x, weight), (kh, kw) = specs[:2], specs[1].shape[1:3]
    if data[1] is None or (x.dtype, weight.dtype) != ("int8", "int8"):
        return f"it multiplies {x.dtype} by {'' if data[1] is None else 'constant '}{weight.dtype}, not int8 by int8"
    if a.groups != 1 or a.strides != (1, 1) or a.dilation != (1, 1):
        return f"{a.groups} groups, strides {list(a.strides)}, dilation {list(a.dilation)}: all must be 1"
    if kh != kw or kh % 2 == 0 or kh > LARGEST_KERNEL:
        return f"its {kh}x{kw} kernel is not square, odd and at most {LARGEST_KERNEL}"
    if a.pads != (kh // 2,) * 4:
        return f"pads {list(a.pads)} are not those of SAME, {kh // 2} on each side"
    return "its sums may exceed 32 bits" if reach(data[1], data[2] if a.has_bias else None) >= 1 << 31 else ""


def reach(weight: np.ndarray, bias: np.ndarray | None) -> int:
    """The largest sum there can be, whatever its sign."""
    sums = 255 * np.abs(weight.astype(np.int64)).reshape(len(weight), -1).sum(axis=1)
    return int((sums + np.abs(np.asarray(0 if bias is None else bias, np.int64))).max(initial=0))


@dataclass(frozen=True)
class QVanillaForm:
    """A job computes some output channels of one image, which it always reads whole: it pads all four sides."""

    layer: Layer
    context: Context
    name: str = "convolution"
    engine: str = ENGINE
    rounding = EXACT

    def axes(self) -> tuple[TileAxis, ...]:
        return (TileAxis(1), TileAxis(0, limit=1))

    def bound_cycles(self) -> int:
        return max(1, self.layer.macs * self.context.cycles_per_mac)

    def recipe(self, box: Box) -> Recipe:
        from tvm_pulp.qnn.operator import OPERATORS

        loads, context = [], self.context
        for tensor, index in zip(self.layer.inputs, (0, 1, 1), strict=True):  # a batch's image, channels' constants
            size = (1 if index == 0 else box.size[1], *tensor.spec.shape[1:])
            loads.append(Load.of(tensor, tensor.name, Box((box.start[index], *(0 for _ in size[1:])), size)))
        read, y = tuple(load.local for load in loads), Local("y", TensorSpec(box.size, "int32"))
        block = OPERATORS["conv2d"].lower(self.layer.attributes, [local.spec for local in read], y.spec)
        call = context.backend.run_tir_passes("compute", block).body.value
        numbers = [context.offset, context.cycles_per_mac, *(int(n.value) for n in call.args[-8:])]
        macs = box.elements * self.layer.inputs[1].spec.elements // self.layer.inputs[1].spec.shape[0]
        cycles = max(1, macs * context.cycles_per_mac)
        job = Job(ENGINE, ((*read, y), numbers), len(MEMBERS), read, (y,), macs=macs, cycles=cycles)
        return Recipe((*loads, job, Store(y, self.layer.outputs[0], box)))


def job_words(job: tuple[Sequence[Local], Sequence[int]], _slot: str, address: Callable[[Any], str]) -> dict[str, str]:
    """The members of `struct qvanilla_job` as C expressions."""
    offset, cycles, *numbers = (f"{n}u" if n >= 0 else f"(uint32_t){n}" for n in job[1])
    return dict(zip(MEMBERS, [offset, cycles, *(address(operand) for operand in job[0]), *numbers], strict=True))
