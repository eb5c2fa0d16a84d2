"""Parts of q, k and v that a tile of a quantize/dequantize graph's attention needs, in tensors of any shape."""

import math
from dataclasses import dataclass

from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box


@dataclass(frozen=True)
class OperandPart:
    """A box of a tensor, where the operand begins in it, and steps between heads and positions, in elements."""

    box: Box
    offset: int
    head_stride: int
    stride: int


def axis_of(spec: TensorSpec, stride: int, count: int) -> int | None:
    """The axis of `count` steps of `stride` elements."""
    for axis, size in enumerate(spec.shape):
        if size == count and math.prod(spec.shape[axis + 1 :]) == stride:
            return axis
    return None


def query_axis(layer: Layer) -> int | None:
    """The axis of the result that queries may be cut along: only where those of q are an axis of its tensor."""
    a = layer.attributes
    if a["queries"] == 1 or axis_of(layer.inputs[0].spec, a["q_stride"], a["queries"]) is None:
        return None
    return 2 if a["y_layout"] == "hsd" else 1


def is_shared(layer: Layer, tensor: Tensor) -> bool:
    """Tell whether several of q, k and v lie in one tensor."""
    return sum(t is tensor for t in layer.inputs[:3]) > 1


def operand_part(layer: Layer, name: str, tensor: Tensor, positions: tuple[int, int], whole: bool) -> OperandPart:
    """No more of the tensor than positions and columns ask for; `whole`: all of its columns."""
    a, shape = layer.attributes, tensor.spec.shape
    offset, head_stride, stride = (a[f"{name}_{n}"] for n in ("offset", "head_stride", "stride"))
    start, size = [0] * len(shape), list(shape)
    heads = a["heads"] // (1 if name == "q" else a["group"])
    every = a["queries" if name == "q" else "key_count"]
    # All heads side by side in rows of the last axis: only their columns.
    width = head_stride * (heads - 1) + a["size"]
    if not whole and stride == shape[-1] > width and offset < stride and offset + width <= stride:
        start[-1], size[-1] = offset, width
        offset, stride = 0, width
    axis = axis_of(tensor.spec, a[f"{name}_stride"], every)
    if positions != (0, every) and axis is not None:
        start[axis], size[axis] = positions
        if head_stride > a[f"{name}_stride"]:
            head_stride = head_stride // every * positions[1]
    return OperandPart(Box(tuple(start), tuple(size)), offset, head_stride, stride)
