"""Weights that one part of the weight memory has no room for go to the others; networks that the SoC cannot hold are
refused in one sentence before anything is planned."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tvm_pulp.planning.search.memory_limits import spread_weights
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.tvmc.main import main

SOC: Any = SimpleNamespace(software=SimpleNamespace(weight_parts={"first": 100, "second": 100}))


def spread(*sizes: int, level: str = "second") -> list[str]:
    """Levels of constants of these sizes that all want the same one."""
    tensors = [
        Tensor(f"t{i}", TensorSpec((n,), "int8"), "constant", data=np.zeros(n, np.int8), level=level)
        for i, n in enumerate(sizes)
    ]
    levels = {t: t.level for t in tensors}

    def constants_in(name: str) -> int:
        return sum(t.spec.bytes for t in tensors if levels[t] == name)

    plan: Any = SimpleNamespace(constants=lambda: levels, constants_in=constants_in, with_levels=lambda moved: moved)
    moved: Any = spread_weights(plan, SOC)
    assert [t.level for t in tensors] == [level] * len(tensors), "a tensor changed"
    return [moved.get(t, t.level) for t in tensors]


def test_what_fits_stays() -> None:
    assert spread(60, 40) == ["second", "second"]


def test_the_last_ones_move_and_no_more_than_needed() -> None:
    assert spread(60, 40, 30) == ["second", "second", "first"]


def test_constants_elsewhere_are_left_alone() -> None:
    assert spread(300, 300, level="l2") == ["l2", "l2"]


def test_what_fits_nowhere_stays_for_the_check_of_capacity() -> None:
    assert spread(150) == ["second"]


def _perceptron(layers: int, width: int = 2048) -> Any:
    """Dense layers of width² bytes each."""
    rng = np.random.default_rng(0)
    constants = {"s": np.float32(0.1), "z": np.int8(0)}
    nodes, value = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["x_real"])], "x_real"
    for i in range(layers):
        constants[f"w{i}"] = rng.integers(-127, 128, (width, width)).astype(np.int8)
        nodes.append(helper.make_node("DequantizeLinear", [f"w{i}", "s", "z"], [f"w{i}_real"]))
        nodes.append(helper.make_node("MatMul", [value, f"w{i}_real"], [f"m{i}"], name=f"dense{i}"))
        nodes.append(helper.make_node("QuantizeLinear", [f"m{i}", "s", "z"], [f"q{i}"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"y{i}"]))
        value = f"y{i}"
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, width])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("options", "held"),
    [(["--target=uma-neureka"], "weight_sram"), (["--target=c", "--soc=siracusa"], "l2")],
    ids=["neureka", "cores"],
)
def test_beyond_all_memories(options: list[str], held: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(_perceptron(5).SerializeToString())
    started = time.perf_counter()
    assert main(["compile", str(path), "-q", *options, "-o", str(tmp_path / "model.tar")]) == 2
    message = capfd.readouterr().err
    assert message.count("\n") == 1 and "the network's constants take at least 20971" in message, message
    assert f"{held} " in message and "use fewer channels, layers or bits per weight" in message
    # Planning such a network takes minutes.
    assert time.perf_counter() - started < 30


def _batch(images: int) -> Any:
    """A convolution of so many small images."""
    rng, info = np.random.default_rng(1), helper.make_tensor_value_info
    weight = rng.integers(-127, 128, (3, 2, 3, 3)).astype(np.int8)
    constants = {"s": np.float32(0.05), "z": np.int8(3), "w": weight, "z0": np.int8(0)}
    operands = ["x", "s", "z", "w", "s", "z0", "s", "z"]
    node = helper.make_node("QLinearConv", operands, ["y"], name="conv", pads=[1, 1, 1, 1])
    ends = [info("x", TensorProto.INT8, [images, 2, 6, 6])], [info("y", TensorProto.INT8, None)]
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph([node], "g", *ends, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (65536, "the network's inputs take 4718592 bytes and SoC siracusa has"),
        (20000, "the network's outputs take 2160000 bytes and SoC siracusa has"),
    ],
)
def test_more_than_l2_holds(images: int, expected: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Said before anything is planned, which takes minutes."""
    path = tmp_path / "model.onnx"
    path.write_bytes(_batch(images).SerializeToString())
    assert main(["compile", str(path), "-q", "--target=c", "--soc=siracusa", "-o", str(tmp_path / "model.tar")]) == 2
    message = capfd.readouterr().err
    assert message.count("\n") == 1 and expected in message and "use smaller ones, or fewer at once" in message, message
