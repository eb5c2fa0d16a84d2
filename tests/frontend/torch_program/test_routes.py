"""One network by every way that leads here: the same results, and about the same cycles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
pytest.importorskip("torchao", reason="PT2E: scripts/test --torch installs torchao")
pytest.importorskip("onnxscript", reason="PyTorch's newer ONNX exporter: scripts/test --torch installs it")

from tests.frontend.torch_program import networks, routes  # noqa: E402  (need torch)

pytestmark = pytest.mark.slow
FLOAT_TOLERANCE = 1e-4
# The slowest route takes at most this much of the fastest one's cycles.
LARGEST_RATIO = 1.3


def _arrays(results: Any) -> list[np.ndarray]:
    held = results if isinstance(results, (tuple, list)) else [results]
    return [t.detach().numpy() for t in held]


def _run(model: Any, inputs: Sequence[Any], **options: Any) -> tuple[list[np.ndarray], int]:
    app = tvm_pulp.compile(model, "uma-neureka", **options)
    result = app.run([t.numpy() for t in inputs])
    return list(result.outputs.values()), int(result.report["cycles"])


def _expected(module: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    with torch.no_grad():
        return _arrays(module(*inputs))


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_float(name: str, tmp_path: Path) -> None:
    module, inputs = networks.build(name)
    wanted = _expected(module, inputs)
    found = {"torch.export": _run(module, inputs, example_inputs=inputs)}
    for exporter in (routes.LEGACY, routes.DYNAMO):
        found[exporter] = _run(routes.onnx_file(module, inputs, exporter, tmp_path / f"{exporter}.onnx"), inputs)
    for route, (outputs, _) in found.items():
        for given, expected in zip(outputs, wanted, strict=True):
            apart = np.abs(given.reshape(expected.shape) - expected).max()
            assert apart <= FLOAT_TOLERANCE * np.abs(expected).max(), route
    cycles = {route: count for route, (_, count) in found.items()}
    assert max(cycles.values()) <= LARGEST_RATIO * min(cycles.values()), cycles


@pytest.mark.parametrize("kind", ["x86", "xnnpack_per_channel"])
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_pt2e(name: str, kind: str, tmp_path: Path) -> None:
    module, inputs = networks.build(name)
    program = routes.pt2e(module, inputs, kind)
    wanted = _expected(program, inputs)
    found = {"torch.export": _run(program, inputs, example_inputs=inputs)}
    found["dynamo"] = _run(routes.onnx_file(program, inputs, routes.DYNAMO, tmp_path / "pt2e.onnx"), inputs)
    for route, (outputs, _) in found.items():
        for given, expected in zip(outputs, wanted, strict=True):
            steps = np.abs(given.reshape(expected.shape) - expected) / (np.ptp(expected) / 255)
            assert (steps <= 2.01).mean() >= 0.99, (route, steps.max())
    cycles = {route: count for route, (_, count) in found.items()}
    assert max(cycles.values()) <= LARGEST_RATIO * min(cycles.values()), cycles
