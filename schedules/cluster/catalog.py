"""Which hand-written kernels apply to a layer."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import resources

from schedules.cluster import attention, concat, conv2d, dense, elementwise, matmul, rows, space_to_depth
from schedules.cluster.base import KernelForm
from tvm_pulp.qnn.network import Layer

# operator -> (file of the kernel, condition, form), best first.
_TABLE: dict[str, list[tuple[str, Callable[[Layer], bool], type[KernelForm]]]] = {
    "dense": [("dense", dense.applies, dense.DenseKernel)],
    "conv2d": [
        ("dense", dense.applies, dense.DenseKernel),
        ("conv2d", conv2d.applies, conv2d.Conv2dKernel),
        ("depthwise_conv2d", conv2d.applies_depthwise, conv2d.DepthwiseKernel),
    ],
    "matmul": [("rope", matmul.applies_rope, matmul.RopeKernel), ("matmul", matmul.applies, matmul.MatmulKernel)],
    "concat": [("copy_rows", concat.applies, concat.ConcatKernel)],
    "attention": [("attention", attention.applies, attention.AttentionKernel)],
    "space_to_depth": [("space_to_depth", space_to_depth.applies, space_to_depth.SpaceToDepthKernel)],
    **elementwise.TABLE,
    **rows.TABLE,
}


@cache
def available() -> frozenset[str]:
    """Kernels that are worth calling: those that only forward to plain C lose to generated C, which knows its sizes."""
    folder = resources.files("c_runtime").joinpath("kernels/xpulp")
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".c")]
    forwards = re.compile(r"TVM_PULP_KERNEL\(\w+\) \{ tvm_pulp_plain_")
    return frozenset(f.name.removesuffix(".c") for f in files if not forwards.search(f.read_text()))


def forms(layer: Layer, cores: int) -> list[KernelForm]:
    """Forms of a layer, best first; none means that generated C runs it."""
    found = []
    for kernel, applies, form in _TABLE.get(layer.operator, []):
        if kernel in available() and applies(layer):
            found.append(form(layer, cores))
            break
    return found
