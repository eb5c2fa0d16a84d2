"""Other machines of the family, each one YAML file: they build, simulate, are right, and get plans of their own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.simulated.machines import MACHINES, description_file
from tvm_pulp.errors import UserError

SMALL = """
based_on: siracusa
name: small
description: four cores, 128 KiB L1, no accelerator, no weight memory
cluster: {cores: 4}
memory:
  l1: {size: 0x20000}
  weight: {size: 0}
software: {stack_bytes: 1024, weight_parts: {weight_mram: , weight_sram: }}
engines: {neureka: }
"""


def description(folder: Path, text: str) -> str:
    path = folder / "chip.yaml"
    path.write_text(text)
    return str(path)


def run_checked(model: str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Report and plan of a simulated run whose outputs equal those of the host."""
    host = tvm_pulp.compile(model)
    source = np.random.default_rng(3)
    entries = host.metadata["tvm_pulp"]["inputs"]
    inputs = {e["name"]: source.integers(-128, 127, e["shape"]).astype(e["dtype"]) for e in entries}
    app = tvm_pulp.compile(model, **options)
    result = app.run(inputs)
    for name, array in host.run(inputs).outputs.items():
        np.testing.assert_array_equal(result.outputs[name], array)
    return result.report, json.loads(app.files["plan.json"])


def estimated(report: dict[str, Any]) -> int:
    return sum(layer["estimated_cycles"] for layer in report["layers"])


def test_a_new_soc_is_one_file(tmp_path: Path) -> None:
    report, plan = run_checked("zoo:dscnn", target="c", soc=description(tmp_path, SMALL))
    assert report["soc"] == "small" and plan["cores"] == 4
    assert plan["l1_bytes"] == 0x20000 - 4 * 1024 - 1024  # stacks, time stamps
    assert 0.85 < estimated(report) / report["cycles"] < 1.15


def test_its_accelerator_is_gone(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--soc small has no engine 'neureka'"):
        tvm_pulp.compile("zoo:dscnn", target="uma-neureka", soc=description(tmp_path, SMALL))


@pytest.mark.sample(4)
@pytest.mark.parametrize("machine", MACHINES)
def test_estimates_follow_the_machine(tmp_path: Path, machine: str) -> None:
    report, plan = run_checked("zoo:dscnn", target="c", soc=description_file(tmp_path, MACHINES[machine]))
    assert plan["cores"] == MACHINES[machine].get("cluster.cores", 8)
    assert 0.85 < estimated(report) / report["cycles"] < 1.15


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_estimates_follow_the_machine_with_an_accelerator(tmp_path: Path, machine: str) -> None:
    report, _ = run_checked("zoo:resnet8", target="uma-neureka", soc=description_file(tmp_path, MACHINES[machine]))
    assert 0.85 < estimated(report) / report["cycles"] < 1.15


def test_generated_c_needs_no_kernel_family(tmp_path: Path) -> None:
    report, _ = run_checked("zoo:autoencoder", target="c", soc=description_file(tmp_path, {"software.kernels": ""}))
    assert {layer["form"] for layer in report["layers"]} == {"tiled"}


def test_the_driver_finds_the_engine_where_the_soc_has_it(tmp_path: Path) -> None:
    settings = {"engines.neureka.base": 0x10201C00, "engines.neureka.event_line": 14}
    report, _ = run_checked("zoo:dscnn", target="uma-neureka", soc=description_file(tmp_path, settings))
    assert any(layer["engine"] == "neureka" for layer in report["layers"])


def test_flags_reach_the_compiler(tmp_path: Path) -> None:
    soc = description_file(tmp_path, {"software.flags": ["-DSIRACUSA_CORE_STATUS=nobody"]})
    with pytest.raises(UserError, match="SIRACUSA_CORE_STATUS"):
        tvm_pulp.compile("zoo:dscnn", target="c", soc=soc).run()


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"software.dma_agents": 1}, marks=pytest.mark.slow),
        pytest.param({"software.dma_largest": 4096}, marks=pytest.mark.slow),
        pytest.param({"software.dma_lines": False}, marks=pytest.mark.slow),
    ],
)
def test_limits_of_the_dma(tmp_path: Path, settings: dict[str, object]) -> None:
    _, plan = run_checked("zoo:dscnn", target="uma-neureka", soc=description_file(tmp_path, settings), l1=16384)
    moves = [a for s in plan["program"] for a in s["actions"] if a["do"] in ("load", "store")]
    if "software.dma_agents" in settings:
        assert {move["agent"] for move in moves} == {0}
    elif "software.dma_largest" in settings:
        assert max(access["bytes"] for move in moves for access in (*move["reads"], *move["writes"])) <= 4096
    else:
        assert not any("line" in access for move in moves for access in (*move["reads"], *move["writes"]))


def test_another_machine_gets_another_plan(tmp_path: Path) -> None:
    def decided(soc_name: str) -> list[Any]:
        app = tvm_pulp.compile("zoo:resnet8", target="uma-neureka", soc=soc_name, l1=49152)
        layers = json.loads(app.files["plan.json"])["layers"]
        return [(layer["form"], layer["tile"], layer["overlap"], layer["lead"]) for layer in layers]

    assert decided(description_file(tmp_path, {"dma.bytes_per_cycle": 4})) != decided("siracusa")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"software.hal": "mmx"}, "software.hal names 'mmx': choose one of mcu, pool, siracusa, snitch"),
        ({"software.hal": ""}, "software.hal is not given: choose one of mcu, pool, siracusa, snitch"),
        ({"software.hal": "snitch"}, "software.hal 'snitch' is not for cores of the kind 'ri5cy'"),
        (
            {"software.kernels": "mmx"},
            "software.kernels names 'mmx': choose one of generic, rv32, rv32im, tiles, xpulp",
        ),
        ({"cluster.isa.xpulp": False}, "software.kernels 'xpulp' needs cluster.isa.xpulp"),
        ({"memory.l2.private_bytes": 0}, "private_bytes is 0, but the controller's stack lies there"),
    ],
)
def test_what_a_description_lacks_is_named(tmp_path: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tvm_pulp.compile("zoo:dscnn", target="c", soc=description_file(tmp_path, settings))


def test_float_without_a_float_unit(tmp_path: Path) -> None:
    # Functions of the compiler's runtime compute the same bits, slowly.
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16]) for name in "xy")
    nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["s", "x"], ["y"])]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=[helper.make_opsetid("", 13)])
    onnx.save(model, tmp_path / "f.onnx")
    inputs = {"x": np.random.default_rng(0).normal(size=(1, 16)).astype(np.float32)}
    plain = description_file(tmp_path, {"cluster.isa.single_float": False})
    with_unit, without = (
        tvm_pulp.compile(str(tmp_path / "f.onnx"), target="c", soc=name).run(inputs) for name in ("siracusa", plain)
    )
    np.testing.assert_array_equal(with_unit.outputs["y"], without.outputs["y"])
    assert without.report["cycles"] > 5 * with_unit.report["cycles"]
