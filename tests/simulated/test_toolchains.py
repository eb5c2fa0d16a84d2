"""The same network gives the same outputs with both compilers, integer and float, on every kind of core.

`scripts/bench toolchains` does so for all golden networks.
"""

import shutil

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import DATA, agrees, read_arrays

needs_gcc = pytest.mark.skipif(
    shutil.which("riscv64-unknown-elf-gcc") is None, reason="riscv64-unknown-elf-gcc is not installed"
)


@needs_gcc
@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_zig_and_gcc_agree(target: str) -> None:
    app = tvm_pulp.compile("zoo:dscnn", target=target, soc="siracusa")
    assert app.metadata["tvm_pulp"]["march"] == "rv32imc"
    zig, gcc = app.run(toolchain="zig"), app.run(toolchain="gcc")
    host = tvm_pulp.compile("zoo:dscnn").run()
    for name, expected in host.outputs.items():
        np.testing.assert_array_equal(zig.outputs[name], expected)
        np.testing.assert_array_equal(gcc.outputs[name], expected)


@needs_gcc
@pytest.mark.sample(2)
@pytest.mark.parametrize("soc", ["siracusa", "snitch-ita", "rv32-mcu", "minpool"])
@pytest.mark.parametrize("network", ["tinyllama", "qdq_llama", "mobilenetv1", "vit_block", "qdq_encoder", "resnet8"])
def test_archives_agree(network: str, soc: str) -> None:
    """Among them the kernels whose loops have the most operands."""
    app = tvm_pulp.compile(f"zoo:{network}", target="c", soc=soc)
    zig, gcc = (app.run(toolchain=toolchain).outputs for toolchain in ("zig", "gcc"))
    for name, expected in zig.items():
        assert expected.tobytes() == gcc[name].tobytes()


@needs_gcc
@pytest.mark.parametrize("case", ["Kernels/FP32/LayerNorm", "Kernels/Mixed/Quant"])
def test_float_networks_use_the_float_unit(golden_data: object, case: str) -> None:
    folder = DATA / "deeploy" / case
    inputs = read_arrays(folder / "inputs.npz")
    app = tvm_pulp.compile(folder / "network.onnx", target="c", soc="siracusa", sample_inputs=inputs)
    assert app.metadata["tvm_pulp"]["march"] == "rv32imfc"
    expected = [array for _, array in read_arrays(folder / "outputs.npz")]
    for toolchain in ("zig", "gcc"):
        outputs = app.run(dict(inputs), toolchain=toolchain).outputs.values()
        assert all(agrees(case, result, golden) for result, golden in zip(outputs, expected, strict=True))
