"""Archives for a chip with an SDK carry an application of it, which builds on a stand-in and gives the same answers."""

from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.toolchain.project import cmake
from tvm_pulp import soc as socs
from tvm_pulp.errors import GuestFault
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss.device import L3_CONTENTS, IssDevice
from tvm_pulp.soc.platform import Platform
from tvm_pulp.toolchain.project.unpack import unpack
from tvm_pulp.toolchain.riscv_compilers import RISCV_ISAS, zig_riscv_compiler
from tvm_pulp.toolchain.zig import find_zig

SDK = Path(__file__).parent / "pmsis"


@pytest.mark.slow
@pytest.mark.parametrize(("model", "l2"), [("dscnn", None), ("mobilenetv1", None), ("autoencoder", 128 << 10)])
def test_an_application_of_the_sdk_gives_the_same_answers(model: str, l2: int | None, tmp_path: Path) -> None:
    """First and second inference; with little L2, weights come from L3, and those that differ are refused."""
    cmake.skip_without_cmake()
    pytest.importorskip("uma_backends.ne16")
    app = tvm_pulp.compile(
        f"zoo:{model}", target="uma-ne16", soc="gap9", cores=8, l1=100_000, l2=l2, check_constants=bool(l2)
    )
    unpack(app.files, tmp_path)
    cmake.build(tmp_path / "firmware", f"-DTVM_PULP_SDK_SETUP={SDK / 'setup.cmake'}", f"-DZIG={find_zig()}")
    assert ("TVM_PULP_BOARD_HAS_L3" in (tmp_path / "firmware" / "CMakeLists.txt").read_text()) == (l2 is not None)
    inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
    device = IssDevice(app.files, app.metadata, profile=False)
    expected = device.run(inputs).outputs
    device.elf = tmp_path / "firmware" / "build" / "app"
    for made, wanted in zip(device.run(inputs).outputs, expected, strict=True):
        np.testing.assert_array_equal(made, wanted)
    if l2 is not None:
        damaged = bytearray(app.files[L3_CONTENTS])
        damaged[len(damaged) // 3] ^= 1
        device = IssDevice({**app.files, L3_CONTENTS: bytes(damaged)}, app.metadata, profile=False)
        device.elf = tmp_path / "firmware" / "build" / "app"
        with pytest.raises(GuestFault, match="exit code 1"):
            device.run(inputs)


@pytest.mark.parametrize("chosen", [[], ["TVM_PULP_BOARD_HAS_L3", "TVM_PULP_CHECKS_CONSTANTS"]])
def test_its_sources_compile_without_warnings(chosen: list[str], tmp_path: Path) -> None:
    platform = Platform(socs.load("gap9"))
    firmware, hal = platform.firmware_files(), platform.hal_files()
    unpack({f"f/{path}": text.encode() for path, text in firmware.items()}, tmp_path)
    unpack({path: text.encode() for path, text in hal.items()}, tmp_path)
    compiler = zig_riscv_compiler(RISCV_ISAS["rv32imfc"])
    for name in ("f/main.c", "f/firmware.c", "hal/executor.c"):
        folders = [tmp_path / "f/include", tmp_path / "hal/include", SDK]
        defines = ["TVM_PULP_CORES=8", "TVM_PULP_ARENA_BYTES=4096", *platform.defines(), *chosen]
        flags = ["-Wall", "-Wextra", "-Werror", *(f"-I{f}" for f in folders), *(f"-D{d}" for d in defines)]
        compiler.run([*compiler.compile_flags, *flags, "-c", str(tmp_path / name), "-o", str(tmp_path / "made.o")])


def test_only_chips_with_an_sdk_have_one() -> None:
    assert Platform(socs.load("pulp-open-ne16")).firmware_files() == {}
