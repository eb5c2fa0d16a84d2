"""`tvmc explain` of CPUs by themselves: the form of every layer, and why it has no other."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

from tests.schedules.cpu.random_layers import network_of, random_layer, random_max_pool
from tvm_pulp import soc as socs
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.explain.explain import explain
from tvm_pulp.explain.explain_cpu_plan import explain_cpu_plan
from tvm_pulp.planning.cpu import CpuRequest, plan_cpu
from tvm_pulp.qnn.network import Layer
from tvm_pulp.qnn.tensor_spec import TensorSpec


def explained(model: str, **options: object) -> str:
    stream = StringIO()
    explain(model, CompileOptions(**options), stream)  # type: ignore[arg-type]
    return stream.getvalue()


def explained_layer(layer: Layer, soc: str = "cortex-m4") -> str:
    stream = StringIO()
    explain_cpu_plan(plan_cpu(network_of([layer]), CpuRequest(soc, socs.load(soc).cpu)).plan, stream)
    return stream.getvalue()


def test_forms_and_alternatives() -> None:
    text = explained("zoo:dscnn", soc="cortex-m4")
    assert "-> depthwise windows: " in text and "not blocked product: channels are in 64 groups" in text
    assert "-> blocked product: " in text and "not depthwise windows: channels have not one filter each" in text
    assert "bytes of constants more: --flash says how much there is" in text
    assert "-> generated loops: 0 bytes of constants" in text and "not a kernel: no kernel computes reduce" in text
    assert "activations take 9,792 bytes; constants 33,728 bytes" in text


def test_strips_threads_and_machines_without_kernels() -> None:
    text = explained("zoo:resnet8", soc="cortex-m4", ram="40k")
    assert "with layers stem to stack2_add in 16 strips: " in text and "MAC are computed again" in text
    text = explained("zoo:resnet8", soc="x86-64-vnni", threads=2)
    assert ", in 2 parts for threads" in text and "not blocked product, weights of 16 bits: the core multiplies" in text
    assert "not a kernel: the CPU has no kernels" in explained("zoo:dscnn", soc="host")


def test_language_models() -> None:
    assert explained("zoo:llama_0.5m", soc="cortex-m4").startswith("decode:\n")


def dense_layer() -> Layer:
    rng = np.random.default_rng(0)
    return next(layer for n in range(99) if (layer := random_layer(rng, n)[0]).operator == "dense")


def test_a_dense_layer_says_why_it_has_loops() -> None:
    layer = dense_layer()
    assert "-> blocked product: " in explained_layer(layer)
    weight = layer.inputs[1]
    weight.spec, weight.data = TensorSpec(weight.spec.shape, "int16"), weight.values.astype(np.int16)
    text = explained_layer(layer)
    assert "-> generated loops: " in text and "not blocked product: weights are int16, not int8" in text


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("layout", "NCHW", "the layout is NCHW, not NHWC"), ("layout", "NHWC", "-> largest values of windows")],
)
def test_windows(name: str, value: str, reason: str) -> None:
    layer, _ = random_max_pool(np.random.default_rng(3), 0)
    changed = replace(layer, attributes={**layer.attributes, name: value})
    assert reason in explained_layer(changed)
