"""`--check-constants`: what L3 or weight memory holds wrongly is named before the first inference."""

import ctypes
import zlib
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.app import App
from tvm_pulp.codegen.constant_checks import FACT
from tvm_pulp.errors import GuestFault
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.open_library import OpenLibrary
from tvm_pulp.toolchain import build_host_library

L3 = "parameters/l3.bin"


@pytest.fixture(scope="module")
def far() -> App:
    """A network whose larger constants lie in L3."""
    return tvm_pulp.compile("zoo:resnet8", soc="siracusa", l2="80k", planner="greedy", check_constants=True)


@pytest.fixture(scope="module")
def near() -> App:
    """A network with weights in the engine's memory."""
    return tvm_pulp.compile("zoo:dscnn", "uma-neureka", planner="greedy", check_constants=True)


@pytest.mark.sample(2)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_a_byte_of_l3(place: float, far: App) -> None:
    blob = bytearray(far.files[L3])
    blob[round(place * (len(blob) - 1))] ^= 0x10
    names = far.metadata["tvm_pulp"][FACT]
    assert len(names) == 7
    name = {0.0: names[0], 0.5: names[5], 1.0: names[-1]}[place]
    with pytest.raises(GuestFault, match=f"exit code 6: L3 or weight memory does not hold .*'{name}'"):
        App({**far.files, L3: bytes(blob)}).run()


def test_a_byte_of_the_weight_memory(near: App) -> None:
    device = IssDevice(near.files, near.metadata)
    inputs = prepare_inputs(near.metadata["tvm_pulp"]["inputs"], None)
    for name in near.metadata["tvm_pulp"][FACT][::3]:
        with device.load(inputs) as machine:
            address = machine.symbol(f"tvmgen_default_{name}") + 7
            machine.write(address, bytes([machine.read(address, 1)[0] ^ 0x80]))
            with pytest.raises(GuestFault, match=f"exit code 6: .*'{name}'"):
                device.execute(machine)


def test_right_programs_run_as_without_the_check(near: App, far: App) -> None:
    for app, plain in (
        (near, tvm_pulp.compile("zoo:dscnn", "uma-neureka", planner="greedy")),
        (far, tvm_pulp.compile("zoo:resnet8", soc="siracusa", l2="80k", planner="greedy")),
    ):
        checked, expected = app.run(), plain.run()
        for name, value in expected.outputs.items():
            np.testing.assert_array_equal(checked.outputs[name], value)
        assert checked.report["cycles"] == pytest.approx(expected.report["cycles"], rel=0.01)
        assert not [path for path, text in plain.files.items() if path.endswith("run.c") and b"checksum" in text]
        assert FACT not in plain.metadata["tvm_pulp"]


def test_the_header_says_what_firmware_calls(near: App) -> None:
    header = near.files["codegen/host/include/tvmgen_default.h"].decode()
    assert "TVMGEN_DEFAULT_WRONG_CONSTANTS = -2" in header
    assert "int32_t tvmgen_default_check_constants(void);" in header


def test_checksums_are_those_of_zlib(repository: Path, tmp_path: Path) -> None:
    source = tmp_path / "crc.c"
    source.write_text(
        '#include "tvm_pulp/check_constants.h"\n'
        "uint32_t crc(const uint8_t *data, uint32_t bytes, uint32_t first) {\n"
        "  uint32_t table[TVM_PULP_CRC_ENTRIES];\n"
        "  tvm_pulp_crc_table(table);\n"
        "  const uint32_t begun = tvm_pulp_crc((uint32_t)TVM_PULP_CRC_START, table, data, first);\n"
        "  return ~tvm_pulp_crc(begun, table, data + first, bytes - first);\n"
        "}\n"
    )
    data = np.random.default_rng(1).integers(0, 256, 64, np.uint8)
    with OpenLibrary(build_host_library([source], [repository / "c_runtime/include"], sanitize=True)) as library:
        crc = library.function("crc")
        crc.restype = ctypes.c_uint32
        for begin in range(4):
            for size in range(12):
                part = np.ascontiguousarray(data)[begin : begin + size]
                for first in (0, size // 2, size):
                    made = crc(ctypes.c_void_p(part.ctypes.data), size, first)
                    assert made == zlib.crc32(part.tobytes()), (begin, size, first)


@pytest.mark.parametrize(("soc", "reason"), [("rv32-mcu", "which has neither L3 nor weight memory"), ("host", "")])
def test_where_there_is_nothing_to_check(
    soc: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tvmc(capsys, "compile", "zoo:dscnn", f"--soc={soc}", "--check-constants", "-o", tmp_path / "net.tar")
    check_refused(done, [f"--check-constants has no effect on --soc {soc}", reason, "drop it"], "compile")
    assert not list(tmp_path.iterdir())
