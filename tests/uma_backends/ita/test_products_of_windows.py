"""Convolutions run on the engine as products of their windows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.simulated.single_convolution import Convolution
from tvm_pulp.qnn.fixed_point import tie_free_multipliers
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.requant import Requant
from uma_backends.ita.products_of_windows import ProductsOfWindows
from uma_backends.ita.signed_operands import SignedOperands

from .networks import Emit, module_of
from .test_signed_operands import operators_of

KERNELS = [
    # kernel, strides, pads, dilation, what is left of the convolution
    ((1, 1), [1, 1], [0, 0, 0, 0], [1, 1], ["dense"]),
    ((1, 1), [2, 2], [0, 0, 0, 0], [1, 1], ["im2col", "dense"]),
    ((3, 3), [1, 1], [1, 1, 1, 1], [1, 1], ["im2col", "dense"]),
    ((3, 2), [2, 1], [0, 1, 2, 0], [1, 2], ["im2col", "dense"]),
]


def network(
    kernel: tuple[int, int], attributes: dict[str, Any], dtype: str, channels: int, kind: str = "half_even"
) -> tuple[Any, Any]:
    random = np.random.default_rng(channels)
    info = np.iinfo(dtype)
    x = random.integers(info.min, info.max + 1, (2, 27, 26, channels)).astype(dtype)
    weights = random.integers(-127, 128, (5, *kernel, channels)).astype(np.int8)
    bias = random.integers(-500, 500, 5).astype(np.int32)
    rule = Requant("half_even", 0, -3, -128, 127, dtype="int8")
    scales = random.uniform(1, 2, 5) / (90 * np.sqrt(weights[0].size))
    constants = list(tie_free_multipliers(scales))
    if kind == "pulp":  # as the engine rounds
        rule, constants = Requant("pulp", 12, 0, -128, 127), [np.array([5], np.int32), np.array([2048], np.int32)]

    def define(emit: Emit, inputs: list[Any]) -> Any:
        how = {"has_bias": 1, "groups": 1, "layout": "NHWC", "zero_point": info.min + 117, **rule.attributes()}
        return emit("conv2d", [*inputs, weights, bias, *constants], {**how, **attributes})

    return x, module_of({"x": x}, define)


@pytest.mark.parametrize(("kernel", "strides", "pads", "dilation", "left"), KERNELS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_nothing_changes(
    kernel: tuple[int, int], strides: list[int], pads: list[int], dilation: list[int], left: list[str], dtype: str
) -> None:
    x, module = network(kernel, {"strides": strides, "pads": pads, "dilation": dilation}, dtype, 12)
    made = ProductsOfWindows().run(SignedOperands().run(module))
    assert operators_of(made) == [*(["lookup"] if dtype == "uint8" else []), *left]
    np.testing.assert_array_equal(interpret(made, [x])[0], interpret(module, [x])[0])


def test_windows_that_are_too_long_stay() -> None:
    _, module = network((3, 3), {"strides": [1, 1], "pads": [1] * 4, "dilation": [1, 1]}, "uint8", 480)
    assert operators_of(ProductsOfWindows().run(SignedOperands().run(module))) == ["conv2d"]


@pytest.mark.parametrize(("rule", "left"), [("half_even", ["conv2d"]), ("pulp", ["im2col", "dense"])])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_fast_cores_keep_what_the_engine_cannot_round(rule: str, left: list[str], dtype: str) -> None:
    window = {"strides": [1, 1], "pads": [1] * 4, "dilation": [1, 1]}
    x, module = network((3, 3), window, dtype, 12, rule)
    made = ProductsOfWindows(by_digits=False).run(SignedOperands(by_digits=False).run(module))
    assert operators_of(made) == [*(["lookup"] if dtype == "uint8" and rule == "pulp" else []), *left]
    np.testing.assert_array_equal(interpret(made, [x])[0], interpret(module, [x])[0])


SHORT = [Convolution((3, 3), (19, 17), 2, 0.0, filters=20), Convolution((3, 3), (33, 32), 12, 0.0, filters=8, stride=2)]
LONG = [
    Convolution((3, 3), (96, 96), 2, 0.0, filters=70),
    Convolution((1, 1), (33, 9), 10, 0.0, filters=66),
    Convolution((3, 3), (10, 9), 20, 0.0, filters=66),
    Convolution((5, 5), (9, 8), 7, 0.0, filters=65),
]


@pytest.mark.parametrize("layer", [*SHORT, *(pytest.param(x, marks=pytest.mark.slow) for x in LONG)], ids=str)
def test_on_the_engine(layer: Convolution, tmp_path: Path) -> None:
    """Equal to onnxruntime; windows larger than L1 are laid out in parts."""
    report = layer.run(tmp_path, target="uma-ita", soc="snitch-ita")
    assert [entry["engine"] for entry in report["layers"] if entry["macs"] == layer.macs] == ["ita"]


@pytest.mark.slow
@pytest.mark.parametrize("layer", [*SHORT, *LONG], ids=str)
@pytest.mark.parametrize("soc", ["rv32-mcu-ita", "siracusa-gvsoc-ita", "itapool"])
def test_on_other_socs(layer: Convolution, soc: str, tmp_path: Path) -> None:
    """Equal to onnxruntime, and where the cores are fast or the engine runs heads only, left to the cores."""
    report = layer.run(tmp_path, target="uma-ita", soc=soc)
    (entry,) = [entry for entry in report["layers"] if entry["macs"] == layer.macs]
    assert (entry["engine"], entry["op"]) == (("ita", "dense") if soc == "rv32-mcu-ita" else ("cluster", "conv2d"))
