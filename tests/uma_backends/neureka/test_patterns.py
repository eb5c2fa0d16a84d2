"""Which layers NEUREKA's patterns take, and the reasons of its checks, which `tvmc explain` prints."""

import io
from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc as socs
from tvm_pulp.entry_point import plan_for
from tvm_pulp.explain.explain_plan import explain_plan
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.annotate import Annotated, annotate
from tvm_pulp.uma.conformance.layer_network import layer_network, target_for
from tvm_pulp.uma.conformance.random_layer import RandomLayer
from uma_backends.neureka import NeurekaBackend

WINDOW: dict[str, Any] = {"layout": "NHWC", "strides": [1, 1], "dilation": [1, 1], "pads": [0, 0, 0, 0], "groups": 1}
SUMS: dict[str, Any] = {"zero_point": 0, "has_bias": 0, "requant": "none"}


def conv2d(weight: tuple[int, ...], channels: int, **changes: Any) -> RandomLayer:
    filters = np.ones(weight, np.int8)
    return RandomLayer("conv2d", {**WINDOW, **SUMS, **changes}, TensorSpec((1, 8, 8, channels), "int8"), (filters,))


def dense(dtype: str = "int8", weight: np.ndarray | None = None) -> RandomLayer:
    values = np.ones((4, 16), np.int8) if weight is None else weight
    return RandomLayer("dense", dict(SUMS), TensorSpec((3, 16), dtype), (values,))


TAKEN = {
    "1x1": conv2d((8, 1, 1, 4), 4),
    "3x3": conv2d((8, 3, 3, 4), 4),
    "5x5": conv2d((8, 5, 5, 4), 4),
    "3x3 depthwise": conv2d((4, 3, 3, 1), 4, groups=4),
    "3x3 depthwise with gaps": conv2d((4, 3, 3, 1), 4, groups=4, dilation=[2, 2]),
    "3x3 in groups": conv2d((8, 3, 3, 2), 4, groups=2),
    "3x3 with two outputs of a channel": conv2d((8, 3, 3, 1), 4, groups=4),
    "5x5 depthwise": conv2d((4, 5, 5, 1), 4, groups=4, pads=[2] * 4),
    "dense": dense(),
}
REFUSED = {
    "a depthwise 11x11 kernel is not 3x3; use a 3x3 depthwise kernel and it would run there": (
        conv2d((4, 11, 11, 1), 4, groups=4, pads=[5] * 4)
    ),
    "its depthwise kernel has gaps and a stride; use one without them or without it and it would run there": (
        conv2d((4, 3, 3, 1), 4, groups=4, dilation=[2, 2], strides=[2, 2])
    ),
    "its input is int32, not 8-bit": dense("int32"),
    "its weights span -300 to 300, more than 8 bits": dense(
        weight=np.where(np.arange(64).reshape(4, 16) % 2, 300, -300).astype(np.int16)
    ),
}


def annotated(layer: RandomLayer) -> Annotated:
    soc = socs.load("siracusa")
    backend = NeurekaBackend()
    return annotate(layer_network([layer]), [(backend, backend.context(backend.options({}), soc, 8))])


@pytest.mark.parametrize("name", TAKEN)
def test_what_the_array_can_run_is_a_region(name: str) -> None:
    (region,) = annotated(TAKEN[name]).regions
    assert region.composite == f"neureka.{TAKEN[name].operator}"


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_cannot_is_explained(reason: str) -> None:
    layer = REFUSED[reason]
    assert annotated(layer).regions == ()
    target = target_for(socs.load("siracusa"), NeurekaBackend())
    stream = io.StringIO()
    explain_plan(plan_for(target, layer_network([layer])).plan, stream)
    assert f"    not neureka: {reason}\n" in stream.getvalue()
