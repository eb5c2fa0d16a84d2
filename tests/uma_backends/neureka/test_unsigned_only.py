"""An array without signed input: int8 activations run as x + 128, exactly, and padding comes from memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.canonicalize.small_modules import build
from tests.simulated.machines import description_file
from tests.uma_backends.flat_machine import L1_BASE, Machine
from tvm_pulp import qnn
from tvm_pulp import soc as socs
from tvm_pulp.errors import GuestFault
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.qnn.interpret import interpret
from uma_backends.conv_array.passes.unsigned_activations import UnsignedActivations
from uma_backends.neureka.geometry import Mode
from uma_backends.neureka.job import NeurekaJob
from uma_backends.neureka.registers import Addresses, register_image

from .test_unsigned_activations import unsigned

CHANNELS = 24
SHAPE = (1, 9, 8, CHANNELS)
UNSIGNED = {"engines.neureka.parameters.signed_input": 0}


class Network:
    """Layers drawn from a seed; `rule` is the requantization of every one."""

    def __init__(self, emit: Any, seed: int, rule: str) -> None:
        self._emit, self._random, self._kind = emit, np.random.default_rng(seed), rule

    def _rule(self, depth: int, zero_point: int) -> tuple[dict[str, Any], list[np.ndarray]]:
        """A factor that spreads results over the range."""
        random = self._random
        if self._kind == "pulp":
            shift = 13 + depth.bit_length() // 2
            mul = random.integers(60, 180, CHANNELS).astype(np.int32)
            return qnn.Requant("pulp", shift, 0, -128, 127).attributes(), [mul, np.zeros(CHANNELS, np.int32)]
        mul = random.integers(1 << 30, 1 << 31, CHANNELS).astype(np.int32)
        exponent = np.full(CHANNELS, -6 - depth.bit_length() // 2, np.int32)
        second = exponent if self._kind == "tflite" else 31 - exponent
        return qnn.Requant(self._kind, 0, zero_point, -128, 127).attributes(), [mul, second]

    def convolution(self, x: Any, zero_points: tuple[int, int], kernel: int, pad: int, *, groups: int = 1) -> Any:
        taken, given = zero_points
        shape = (CHANNELS, kernel, kernel, CHANNELS // groups)
        weights = self._random.integers(-127, 128, shape).astype(np.int8)
        bias = self._random.integers(-3000, 3000, CHANNELS).astype(np.int32)
        rule, constants = self._rule(weights[0].size, given)
        attributes = {
            "strides": [1, 1], "dilation": [1, 1], "pads": [pad] * 4, "groups": groups, "layout": "NHWC", "has_bias": 1,
            "zero_point": taken, **rule,
        }  # fmt: skip
        return self._emit("conv2d", [x, weights, bias, *constants], attributes)

    def dense(self, x: Any, zero_point: int) -> Any:
        weights = self._random.integers(-127, 128, (CHANNELS, CHANNELS)).astype(np.int8)
        rule, constants = self._rule(CHANNELS, 11)
        return self._emit("dense", [x, weights, *constants], {"has_bias": 0, "zero_point": zero_point, **rule})


def convolutions(seed: int, rule: str) -> Any:
    """Padded and unpadded, dense and depthwise, 1x1 and by im2col, then a product; zero points differ."""

    def body(emit: Any, x: Any) -> list[Any]:
        network = Network(emit, seed, rule)
        zeros = [0] * 6 if rule == "pulp" else [5, -128, 31, -7, 64, 0]
        x = network.convolution(x, (zeros[0], zeros[1]), 3, 1)
        x = network.convolution(x, (zeros[1], zeros[2]), 3, 1, groups=CHANNELS)
        x = network.convolution(x, (zeros[2], zeros[3]), 3, 0)
        x = network.convolution(x, (zeros[3], zeros[4]), 1, 0)
        x = network.convolution(x, (zeros[4], zeros[5]), 5, 2)
        return [network.dense(x, zeros[5])]

    return build({"x": (SHAPE, "int8")}, body)


def compiled(module: Any, soc: str, **options: str) -> Any:
    imported = Imported(module, ("x",), ("y",), "pulp")
    return tvm_pulp.compile(imported, target="uma-neureka", soc=soc, engine_options={"neureka": options})


def check(module: Any, app: Any, least_share: float) -> dict[str, Any]:
    """Exact, with a share of the work on the array; the report."""
    x = np.random.default_rng(3).integers(-128, 128, SHAPE).astype(np.int8)
    (expected,) = interpret(module, [x])
    assert np.unique(expected).size > 50
    result = app.run({"x": x})
    np.testing.assert_array_equal(result.outputs["y"], expected)
    on_array = sum(layer["macs"] for layer in result.report["layers"] if layer["engine"] == "neureka")
    assert on_array >= least_share * result.report["macs"]
    assert not has_signed_jobs(app)
    return dict(result.report)


def has_signed_jobs(app: Any) -> bool:
    """Emitted C says what a job's words mean."""
    return any(b"signed inputs" in text for name, text in app.files.items() if name.endswith(".c"))


@pytest.mark.parametrize(
    ("seed", "rule"),
    [(0, "tflite"), (1, "pulp"), *(pytest.param(s, "half_even", marks=pytest.mark.slow) for s in range(2, 6))],
)
def test_networks_stay_exact(seed: int, rule: str, tmp_path: Path) -> None:
    """Whatever the plan leaves to the cores; the model refuses a job with signed input."""
    module = convolutions(seed, rule)
    report = check(module, compiled(module, description_file(tmp_path, UNSIGNED)), 0.5)
    assert abs(report["estimated_cycles"] / report["cycles"] - 1) < 0.3


def test_the_option_does_the_same_on_an_array_that_has_signs() -> None:
    """By default that array takes int8 as it is."""
    module = convolutions(0, "tflite")
    check(module, compiled(module, "siracusa", activations="unsigned"), 0.5)
    assert has_signed_jobs(compiled(module, "siracusa"))


def test_values_between_layers_move_whatever_their_zero_point() -> None:
    """The input and the last result stay; nothing else has to be moved later."""
    module = convolutions(1, "half_up")
    x = np.random.default_rng(3).integers(-128, 128, SHAPE).astype(np.int8)
    done = UnsignedActivations(unsigned_only=True).run(module)
    assert unsigned(done) == ["conv2d"] * 5
    assert unsigned(UnsignedActivations().run(module)) == ["conv2d"]
    np.testing.assert_array_equal(interpret(done, [x])[0], interpret(module, [x])[0])


def test_descriptions_say_it_in_words(tmp_path: Path) -> None:
    path = tmp_path / "unsigned.yaml"
    path.write_text(
        "based_on: siracusa\nname: unsigned\nengines: {neureka: {parameters: {signed_input: false}}}\n",
        encoding="utf-8",
    )
    assert socs.load(str(path)).engines["neureka"].parameters["signed_input"] == 0
    assert socs.load("siracusa-rtl").engines["neureka"].parameters["signed_input"] == 0


def test_the_model_refuses_signed_jobs(make_machine: Callable[..., Machine]) -> None:
    """Before it computes anything."""
    job = NeurekaJob(Mode.POINTWISE, 8, 8, 2, 2, input_signed=True)
    words = list(register_image(job, Addresses(*(L1_BASE + 0x4000 * n for n in range(5)))))
    make_machine().run(words)
    with pytest.raises(
        GuestFault, match=r"no signed input on this SoC, add 128 to activations and clear CONFIG0\[26\]"
    ):
        make_machine(signed_input=0).run(words)
