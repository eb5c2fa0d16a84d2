"""Emitted C of random quantized operators, run on the host, equals the numpy references bit for bit."""

from typing import Any

import numpy as np
import pytest

from tests.frontend import test_onnx_qdq_operators, test_onnx_quantized_operators
from tests.frontend.quantized_onnx import Builder, dialect_run
from tvm_pulp.api import App
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.codegen.emit import emit
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.onnx_file import from_model
from tvm_pulp.frontend.onnx_importer import import_standard
from tvm_pulp.planning.cpu import CpuRequest, plan_cpu
from tvm_pulp.planning.lowering.build_network import build_network

pytest.importorskip("onnxruntime")  # the builders calibrate their scales with it


def _check(model: Any, feeds: dict[str, np.ndarray]) -> None:
    imported = import_standard(from_model(model), ImportOptions())
    module = canonicalize(imported)
    network = build_network(module, imported, "default")
    app = App(emit(plan_cpu(network, CpuRequest("host")), {"target": "c", "soc": "host", "inferred_inputs": []}).files)
    results = app.run(feeds).outputs.values()
    for result, expected in zip(results, dialect_run(module, feeds), strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.sample(13)
@pytest.mark.parametrize("case", test_onnx_qdq_operators.CASES)
def test_qdq(case: str) -> None:
    g = Builder(np.random.default_rng([100, *case.encode()]))
    _check(g.typed_model([g.quantized(test_onnx_qdq_operators.CASES[case][0](g))]), g.feeds)


@pytest.mark.parametrize("case", test_onnx_quantized_operators.CASES)
def test_operator_form(case: str) -> None:
    g = Builder(np.random.default_rng([100, *case.encode()]))
    _check(g.typed_model([test_onnx_quantized_operators.CASES[case][0](g)]), g.feeds)
