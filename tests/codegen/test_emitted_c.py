"""What the emitted C promises: no warnings, no library, no undefined behaviour, the same answer twice."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.codegen import small_networks
from tests.codegen.unpacked import run_sanitized, save_model, strict_objects, undefined_symbols
from tests.golden.deeploy_cases import read_case
from tvm_pulp.frontend import zoo
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.toolchain import host_compiler

# 4 MB of weights as text take a compiler most of a minute.
LARGE = {"mobilenetv1_1.0_128"}
ZOO = [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in zoo.names()]
# Together they hold every kind of operator, float ones too.
DEEPLOY = (
    "Kernels/FP32/LayerNorm",
    "Kernels/FP32/Softmax/Regular",
    "Kernels/Integer/Attention",
    "Kernels/Integer/Identity/MultiOutputIdentity",
    "Kernels/Integer/iNoNorm",
    "Kernels/Mixed/Dequant",
    "Kernels/Mixed/Quant",
    "Models/CCT/FP32/CCT_1_16_16_8",
    "Models/CCT/Int/ICCT_ITA",
    "Models/Transformer_DeepQuant",
    "Models/microLlama/INT8/microLlama16_parallel",
    "Models/miniMobileNetv2",
)
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp"}


@cache
def of_zoo(name: str) -> tvm_pulp.App:
    return tvm_pulp.compile(f"zoo:{name}")


@cache
def of_deeploy(golden_data: Path, name: str) -> tvm_pulp.App:
    case = read_case(golden_data, name)
    return tvm_pulp.compile(case.network, sample_inputs=case.inputs)


def check_sanitized(app: tvm_pulp.App, folder: Path) -> None:
    if host_compiler().name == "zig":
        pytest.skip("zig has no address sanitizer: install gcc or clang")
    # Inputs of the whole range of their types, not only what a real network would see.
    inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
    expected = app.run(inputs).outputs.values()
    for result, truth in zip(run_sanitized(app, folder, inputs), expected, strict=True):
        np.testing.assert_array_equal(result, truth)


@pytest.mark.sample(3)
@pytest.mark.parametrize("compiler", ["cc", "zig"])
@pytest.mark.parametrize("name", ZOO)
def test_compiles_without_warnings(tmp_path: Path, name: str, compiler: str) -> None:
    objects = strict_objects(of_zoo(name), tmp_path, compiler)
    assert undefined_symbols(objects) <= MEMORY_FUNCTIONS


@pytest.mark.sample(3)
@pytest.mark.parametrize("compiler", ["cc", "zig"])
@pytest.mark.parametrize("name", DEEPLOY)
def test_golden_networks_compile_without_warnings(golden_data: Path, tmp_path: Path, name: str, compiler: str) -> None:
    objects = strict_objects(of_deeploy(golden_data, name), tmp_path, compiler)
    assert undefined_symbols(objects) <= MEMORY_FUNCTIONS


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ZOO)
def test_sanitizers_find_nothing(tmp_path: Path, name: str) -> None:
    check_sanitized(of_zoo(name), tmp_path)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", DEEPLOY)
def test_sanitizers_find_nothing_in_golden_networks(golden_data: Path, tmp_path: Path, name: str) -> None:
    check_sanitized(of_deeploy(golden_data, name), tmp_path)


@pytest.mark.sample(1)
@pytest.mark.parametrize("network", ["kws", "vww", "resnet", "toycar"])
def test_sanitizers_find_nothing_in_tflite_networks(golden_data: Path, tmp_path: Path, network: str) -> None:
    check_sanitized(tvm_pulp.compile(golden_data / "mlperf_tiny" / network / "model.tflite"), tmp_path)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "names",
    [
        ("arena", "inputs", "outputs"),
        ("int8_t", "uint8_t", "restrict"),
        ("*/ #error /*", "x\n#error", "\\"),
        ("图像", "sum of\tall", "1st"),
        ("a/b:0", "a.b_0", "a b 0"),
        ("tvmgen_default_run", "tvmgen_default_conv2d", "main"),
        ("main", "main2", "main1"),
        ("hidden", "main", "arena"),
    ],
    ids=["own words", "C words", "comments", "not ASCII", "alike", "own functions", "main", "main again"],
)
def test_any_name_gives_valid_c(tmp_path: Path, names: tuple[str, str, str]) -> None:
    # Names come from strangers' models; they must never become part of the program.
    app = tvm_pulp.compile(save_model(small_networks.classifier(*names), tmp_path))
    plain = tvm_pulp.compile(save_model(small_networks.classifier(), tmp_path))
    assert undefined_symbols(strict_objects(app, tmp_path / "app", "cc")) <= MEMORY_FUNCTIONS
    result = app.run()
    assert list(result.outputs) == [names[1]]
    np.testing.assert_array_equal(result.outputs[names[1]], plain.run().outputs["classes"])
