"""Programs quantized by PT2E: equal to what PyTorch computes with the same integers, and fast."""

from typing import Any

import numpy as np
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")

from tests.frontend.torch_program import networks, routes  # noqa: E402  (need torch)

pytestmark = pytest.mark.torch


def _compared(name: str, kind: str, **options: Any) -> tuple[float, dict[str, Any]]:
    """Largest difference in steps of 8 bits of the output's range, and the report."""
    module, inputs = networks.build(name)
    program = routes.pt2e(module, inputs, kind)
    with torch.no_grad():
        expected = program(*inputs)
    wanted = [t.numpy() for t in (expected if isinstance(expected, (tuple, list)) else [expected])]
    result = tvm_pulp.compile(program, example_inputs=inputs, **options).run([t.numpy() for t in inputs])
    apart = [float(np.abs(f - w).max() / np.ptp(w) * 255) for f, w in zip(result.outputs.values(), wanted, strict=True)]
    assert wanted[0].ndim > 3 or (result.outputs[next(iter(result.outputs))].argmax(-1) == wanted[0].argmax(-1)).all()
    return max(apart), result.report


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "kind", [pytest.param("x86", marks=SLOW), pytest.param("xnnpack", marks=SLOW), "xnnpack_per_channel"]
)
def test_convolutions_are_integer_layers(kind: str) -> None:
    apart, report = _compared("cnn", kind, target="uma-neureka", planner="greedy")
    assert apart <= 2
    assert report["layers"]
    assert not [layer for layer in report["layers"] if layer["macs"] and layer["op"].startswith("float")]


@pytest.mark.parametrize("kind", ["x86_dynamic", pytest.param("xnnpack_per_channel_dynamic", marks=SLOW)])
def test_dynamic_products_are_integer_layers(kind: str) -> None:
    apart, report = _compared("gpt", kind, target="c", soc="siracusa", planner="greedy")
    assert apart <= 2
    products = [layer["op"] for layer in report["layers"] if layer["macs"]]
    assert any(not op.startswith(("float", "tir")) for op in products), products


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["x86", "xnnpack", "xnnpack_per_channel"])
def test_resnet8_is_fast(kind: str) -> None:
    apart, report = _compared("residual", kind, target="uma-neureka")
    assert apart <= 2
    assert report["cycles"] <= 250_000
