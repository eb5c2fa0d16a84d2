"""Operators of PyTorch one by one: the ONNX graph they become computes what PyTorch does; some also as C."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp

torch = pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
onnxruntime = pytest.importorskip("onnxruntime")

from tests.frontend.torch_program.single_operators import OPERATORS  # noqa: E402  (needs torch)
from tvm_pulp.frontend.torch_program import as_program, onnx_model  # noqa: E402


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


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_as_c(name: str) -> None:
    module, inputs, expected = _case(name)
    result = tvm_pulp.compile(module, example_inputs=inputs).run([t.numpy() for t in inputs])
    (found,) = result.outputs.values()
    _near(found, expected)
