"""One network by every way that leads here: the same results, and about the same cycles."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tvm_pulp.frontend.quantize import quick_model

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
onnxruntime = pytest.importorskip("onnxruntime")

from tests.frontend.torch_program import networks, routes  # noqa: E402  (need torch)

pytestmark = pytest.mark.torch
# The first one in every run, the others in the full test set.
NAMES = [name if name == "cnn" else pytest.param(name, marks=pytest.mark.slow) for name in networks.NETWORKS]
FLOAT_TOLERANCE = 1e-4
# The slowest route takes at most this much of the fastest one's cycles.
LARGEST_RATIO = 1.3


def _arrays(results: Any) -> list[np.ndarray]:
    held = results if isinstance(results, (tuple, list)) else [results]
    return [t.detach().numpy() for t in held]


def _run(model: Any, inputs: Sequence[Any], **options: Any) -> tuple[list[np.ndarray], int]:
    result = tvm_pulp.compile(model, "uma-neureka", **options).run([t.numpy() for t in inputs])
    return list(result.outputs.values()), int(result.report["cycles"])


def _expected(module: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    with torch.no_grad():
        return _arrays(module(*inputs))


def _check_near(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    for given, expected in zip(found, wanted, strict=True):
        apart = np.abs(given.reshape(expected.shape) - expected).max()
        assert apart <= FLOAT_TOLERANCE * np.abs(expected).max()


def _check_steps(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    for given, expected in zip(found, wanted, strict=True):
        steps = np.abs(given.reshape(expected.shape) - expected) / (np.ptp(expected) / 255)
        assert (steps <= 2.01).mean() >= 0.99, steps.max()


def _check_cycles(cycles: dict[str, int]) -> None:
    assert max(cycles.values()) <= LARGEST_RATIO * min(cycles.values()), cycles


@pytest.mark.parametrize("name", NAMES)
def test_float(name: str, tmp_path: Path) -> None:
    module, inputs = networks.build(name)
    wanted, cycles = _expected(module, inputs), {}
    found, cycles["torch.export"] = _run(module, inputs, example_inputs=inputs)
    _check_near(found, wanted)
    for exporter in (routes.LEGACY, routes.DYNAMO):
        path = routes.onnx_file(module, inputs, exporter, tmp_path / f"{exporter}.onnx")
        found, cycles[exporter] = _run(path, inputs)
        _check_near(found, wanted)
    _check_cycles(cycles)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["x86", "xnnpack_per_channel"])
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_pt2e(name: str, kind: str, tmp_path: Path) -> None:
    """Directly, and as the one ONNX exporter that takes such programs writes them."""
    module, inputs = networks.build(name)
    program = routes.pt2e(module, inputs, kind)
    wanted, cycles = _expected(program, inputs), {}
    found, cycles["torch.export"] = _run(program, inputs, example_inputs=inputs)
    _check_steps(found, wanted)
    found, cycles["dynamo"] = _run(routes.onnx_file(program, inputs, routes.DYNAMO, tmp_path / "pt2e.onnx"), inputs)
    _check_steps(found, wanted)
    _check_cycles(cycles)


@pytest.mark.parametrize("name", NAMES)
def test_quantized(name: str, tmp_path: Path) -> None:
    """By `tvm_pulp.quantize` after each export, and by PT2E: four routes to int8, all about as fast."""
    module, inputs = networks.build(name)
    cycles: dict[str, int] = {}
    for exporter in ("torch.export", routes.LEGACY, routes.DYNAMO):
        source = (
            torch.export.export(module, inputs)
            if exporter == "torch.export"
            else routes.onnx_file(module, inputs, exporter, tmp_path / f"{exporter}.onnx")
        )
        path = tmp_path / f"{exporter}-int8.onnx"
        onnx.save(quick_model(source, routes.samples(inputs)), path)
        found, cycles[exporter] = _run(path, inputs)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        feeds = {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs, strict=True)}
        _check_steps(found, session.run(None, feeds))
    program = routes.pt2e(module, inputs, "xnnpack_per_channel")
    found, cycles["PT2E"] = _run(program, inputs, example_inputs=inputs)
    _check_steps(found, _expected(program, inputs))
    _check_cycles(cycles)
