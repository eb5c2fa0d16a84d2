"""Tables of functions of a byte on hundreds of cores: one, or one after the other round all banks, by cost."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp
from schedules.cluster.spread_lookup import SpreadLookupKernel
from tests.simulated.simulated_run import SimulatedRun, simulate

ONE, SPREAD = "lookup kernel", "lookup kernel, tables round all banks"


def write_sigmoid(path: Path, count: int) -> Path:
    """A sigmoid between quantized tensors: a table."""
    numbers = {"scale": np.float32(0.05), "zero": np.int8(0), "result_scale": np.float32(1 / 127)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["real"]),
        helper.make_node("Sigmoid", ["real"], ["function"]),
        helper.make_node("QuantizeLinear", ["function", "result_scale", "zero"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, [1, count]) for name in "xy"]
    constants = [numpy_helper.from_array(value, name) for name, value in numbers.items()]
    graph = helper.make_graph(nodes, "sigmoid", ends[:1], ends[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def planned(model: Path, machine: str) -> dict[str, int]:
    """By form, the bytes of its tables in L2."""
    plan = tvm_pulp.compile(model, target="c", soc=machine, planner="greedy").plan.record
    return {layer.form: sum(c.bytes for c in plan.constants if c.name.endswith("table")) for layer in plan.layers}


@pytest.mark.parametrize(
    "machine, count, form, size",
    [
        # Four times eight bytes for each core do not repay the longer transfer.
        ("mempool", 8 * 1024, ONE, 256),
        ("mempool", 64 * 1024, SPREAD, 4096),
        # One table goes round all its banks.
        ("minpool", 16 * 1024, ONE, 256),
    ],
)
def test_where_the_table_lies_is_a_matter_of_cost(
    tmp_path: Path, machine: str, count: int, form: str, size: int
) -> None:
    assert planned(write_sigmoid(tmp_path / "sigmoid.onnx", count), machine) == {form: size}


def run(model: Path) -> SimulatedRun:
    return simulate(tvm_pulp.compile(model, target="c", soc="mempool", planner="greedy"))


@pytest.mark.slow
def test_tables_round_all_banks_are_faster_where_cores_read_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least 5 % of the whole layer, with its transfers."""
    model = write_sigmoid(tmp_path / "sigmoid.onnx", 64 * 1024)
    spread = run(model)
    monkeypatch.setattr(SpreadLookupKernel, "is_offered", False)
    one = run(model)
    assert [r.report["layers"][0]["form"] for r in (spread, one)] == [SPREAD, ONE]
    np.testing.assert_array_equal(spread.outputs[0], one.outputs[0])
    assert spread.report["cycles"] <= 0.95 * one.report["cycles"]
