"""The partitioned network as ONNX: valid, one node per region, and with everything a reader of Netron looks for."""

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

from tests.golden.deeploy_cases import read_case
from tvm_pulp import api
from tvm_pulp.api import CompileOptions
from tvm_pulp.planning.tiling.forms import pin_of
from tvm_pulp.tvmc.main import main

# Views between layers, attributes called like ours ("form"), several outputs, outputs that are copies, float kernels.
GOLDEN = (
    "Kernels/Integer/Identity/MultiOutputIdentity",
    "Kernels/Integer/Add/MultIO",
    "Models/CCT/FP32/CCT_1_16_16_8",
    "Models/CCT/Int/ICCT",
)


def drawn(model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    path = tmp_path / "regions.onnx"
    assert main(["explain", "--suggestions=0", str(model), *options, "--onnx", str(path)]) == 0
    capsys.readouterr()
    made = onnx.load(path)
    onnx.checker.check_model(made, full_check=True)
    return made


def test_a_plan_is_drawn_with_engines_and_cycles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = drawn("zoo:tinyllama", tmp_path, capsys, "--target=uma-neureka")
    plan = api.Compilation("zoo:tinyllama", CompileOptions(target="uma-neureka")).plan
    assert [n.name for n in model.graph.node] == [p.layer.name for p in plan.layers]
    for node, planned in zip(model.graph.node, plan.layers, strict=True):
        facts = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        assert node.domain == f"tvm_pulp.{pin_of(planned.tiling.form)}" and node.op_type == planned.layer.operator
        assert facts["plan_form"].decode() == planned.tiling.form.name
        assert facts["plan_cycles"] == planned.estimated_cycles and facts["macs"] == planned.layer.macs
    softmax = next(n for n in model.graph.node if n.op_type in ("softmax", "add", "attention"))
    assert any(a.name.startswith("requant") or a.name == "form" for a in softmax.attribute)


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", [(), ("--target=uma-neureka",)], ids=["host", "neureka"])
@pytest.mark.parametrize("name", GOLDEN)
def test_golden_networks_are_drawn(
    golden_data: Path, name: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = drawn(read_case(golden_data, name).network, tmp_path, capsys, *options)
    assert {n.domain for n in model.graph.node} <= {"tvm_pulp.host", "tvm_pulp.cluster", "tvm_pulp.neureka"}
    made = {o for n in model.graph.node for o in n.output}
    known = made | {i.name for i in (*model.graph.input, *model.graph.initializer)}
    assert all(i in known for n in model.graph.node for i in n.input)
    assert all(o.name in made for o in model.graph.output)
