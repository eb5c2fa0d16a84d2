"""Names of tensors in C: unique identifiers that no driver of the target uses, whatever else is installed."""

from pathlib import Path

import onnx
import pytest

import tvm_pulp
from tvm_pulp.frontend.zoo.product import product_model
from tvm_pulp.planning.lowering.build_network import Names
from tvm_pulp.uma import registry


def test_names_of_a_target_engine_s_driver_are_not_for_tensors() -> None:
    assert Names(("neureka",)).pick("neureka_init") == "v_neureka_init"
    assert Names().pick("neureka_init") == "neureka_init"


def test_a_name_that_only_begins_like_an_engine_stays() -> None:
    assert Names(("block",)).pick("block1_depthwise") == "block1_depthwise"


def test_emitted_c_does_not_depend_on_engines_that_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(product_model(2, 8), path)
    alone = tvm_pulp.compile(path).files
    monkeypatch.setattr(registry, "names", lambda: ["weight", "x", "y"])
    assert tvm_pulp.compile(path).files == alone
