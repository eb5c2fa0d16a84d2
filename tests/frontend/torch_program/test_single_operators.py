"""Operators of PyTorch one by one: the ONNX graph they become computes what PyTorch does; some also as C."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
onnxruntime = pytest.importorskip("onnxruntime")

from tests.frontend.torch_program import routes  # noqa: E402  (needs torch)
from tests.frontend.torch_program.single_operators import OPERATORS, SideBySide  # noqa: E402  (needs torch)
from tvm_pulp.frontend.torch_program import as_program, onnx_model  # noqa: E402

pytestmark = pytest.mark.torch

# As C they are compiled by the dozen: that takes a tenth of the time.
GROUPS = [tuple(OPERATORS)[i : i + 12] for i in range(0, len(OPERATORS), 12)]
GROUP_NAMES = [f"{names[0]}-{names[-1]}" for names in GROUPS]
# Operators that an exporter or a quantizer of PyTorch itself refuses.
REFUSED = {routes.LEGACY: ("adaptive_avg_pool2d_odd", "rms_norm"), "x86": ("conv2d_same",)}


def _case(name: str) -> tuple[Any, tuple[Any, ...], np.ndarray]:
    torch.manual_seed(sum(name.encode()))
    module, inputs = OPERATORS[name]()
    with torch.no_grad():
        return module.eval(), inputs, module(*inputs).numpy()


def _near(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * max(1e-3, float(np.abs(expected).max())))


def test_there_are_a_hundred() -> None:
    assert len(OPERATORS) >= 100


@pytest.mark.parametrize("name", OPERATORS)
def test_translation(name: str) -> None:
    module, inputs, expected = _case(name)
    model = onnx_model(as_program(module, inputs), {})
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {i.name: t.numpy() for i, t in zip(session.get_inputs(), inputs, strict=True)}
    (found,) = session.run(None, feeds)
    _near(found, expected)


def _parts(names: Sequence[str], route: str = "") -> tuple[SideBySide, tuple[Any, ...]]:
    """Those that this route takes, and the inputs of all."""
    cases = [_case(name) for name in names if name not in REFUSED.get(route, ())]
    module = SideBySide([(module, len(inputs)) for module, inputs, _ in cases])
    return module.eval(), tuple(x for _, inputs, _ in cases for x in inputs)


def _computed(model: Any, inputs: tuple[Any, ...], **options: Any) -> list[np.ndarray]:
    return list(tvm_pulp.compile(model, **options).run([t.numpy() for t in inputs]).outputs.values())


def _expected(program: Any, inputs: tuple[Any, ...]) -> list[np.ndarray]:
    with torch.no_grad():
        return [t.numpy() for t in program(*inputs)]


@pytest.mark.slow
@pytest.mark.parametrize("names", GROUPS, ids=GROUP_NAMES)
def test_as_c(names: Sequence[str]) -> None:
    module, inputs = _parts(names)
    for found, expected in zip(
        _computed(module, inputs, example_inputs=inputs), _expected(module, inputs), strict=True
    ):
        _near(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("exporter", [routes.LEGACY, routes.DYNAMO])
@pytest.mark.parametrize("names", GROUPS, ids=GROUP_NAMES)
def test_as_c_by_onnx(names: Sequence[str], exporter: str, tmp_path: Path) -> None:
    module, inputs = _parts(names, exporter)
    path = routes.onnx_file(module, inputs, exporter, tmp_path / "operators.onnx")
    for found, expected in zip(_computed(path, inputs), _expected(module, inputs), strict=True):
        _near(found, expected)


@pytest.mark.parametrize(("route", "name"), [(route, n) for route, names in REFUSED.items() for n in names])
def test_what_pytorch_refuses(route: str, name: str, tmp_path: Path) -> None:
    module, inputs, _ = _case(name)
    with pytest.raises((torch.onnx.errors.OnnxExporterError, ValueError), match=r"support|not an aten"):
        if route == routes.LEGACY:
            routes.onnx_file(module, inputs, route, tmp_path / "operator.onnx")
        else:
            routes.pt2e(module, inputs, route)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["x86", "xnnpack_per_channel"])
@pytest.mark.parametrize("names", GROUPS, ids=GROUP_NAMES)
def test_as_c_by_pt2e(names: Sequence[str], kind: str) -> None:
    module, inputs = _parts(names, kind)
    program = routes.pt2e(module, inputs, kind)
    for found, expected in zip(
        _computed(program, inputs, example_inputs=inputs), _expected(program, inputs), strict=True
    ):
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert np.abs(found - expected).max() <= 1.01 * np.ptp(expected) / 255
