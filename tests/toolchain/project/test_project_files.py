"""Archives are projects: CMake builds them without warnings, and what it builds gives the same answers."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.toolchain.project import cmake
from tvm_pulp.errors import GuestFault
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.elf import read_elf
from tvm_pulp.toolchain.project.unpack import unpack
from tvm_pulp.tvmc.main import main

CLUSTERS: dict[str, dict[str, Any]] = {
    "cluster": {"target": "c", "soc": "siracusa"},
    "neureka": {"target": "uma-neureka"},
}


@pytest.fixture(autouse=True)
def _cmake() -> None:
    cmake.skip_without_cmake()


@pytest.mark.sample(1)
@pytest.mark.parametrize("compiler", ["zig", "gcc"])
@pytest.mark.parametrize("configuration", CLUSTERS)
def test_an_archive_for_a_cluster_builds_and_runs(configuration: str, compiler: str, tmp_path: Path) -> None:
    app = tvm_pulp.compile("zoo:dscnn", **CLUSTERS[configuration])
    options = cmake.toolchain(compiler)
    unpack(app.files, tmp_path / "net")
    cmake.build(tmp_path / "net", *options)
    inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
    device = IssDevice(app.files, app.metadata, profile=False)
    expected = device.run(inputs).outputs
    device.elf = tmp_path / "net" / "build" / "app.elf"
    for made, wanted in zip(device.run(inputs).outputs, expected, strict=True):
        np.testing.assert_array_equal(made, wanted)


@pytest.mark.slow
def test_an_archive_for_a_cpu_builds(tmp_path: Path) -> None:
    """CMake's program has the code of the one that is run: the same functions, from the same start."""
    app = tvm_pulp.compile("zoo:dscnn", soc="cortex-m4")
    unpack(app.files, tmp_path / "net")
    cmake.build(tmp_path / "net", *cmake.toolchain("zig"))
    made = read_elf(tmp_path / "net" / "build" / "app.elf", 40)
    assert made.entry & ~1 == made.symbols["tvm_pulp_start"] & ~1
    assert {"tvm_pulp_network", "tvm_pulp_product_u8", "tvmgen_default_run"} <= made.symbols.keys()


def test_an_archive_for_the_host_builds_and_runs(tmp_path: Path) -> None:
    app = tvm_pulp.compile("zoo:dscnn", module_name="net")
    unpack(app.files, tmp_path / "net")
    cmake.build(tmp_path / "net")
    inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
    raw = b"".join(array.tobytes() for array in inputs)
    example = tmp_path / "net" / "build" / "example"
    said = subprocess.run([example], input=raw, capture_output=True, check=True).stdout.decode()
    ((name, wanted),) = app.run(inputs).outputs.items()
    head, values = said.strip().split(":")
    assert head == name
    np.testing.assert_array_equal(np.array(values.split(), np.float64), wanted.reshape(-1))
    assert subprocess.run([example], input=raw[:-1], capture_output=True, check=False).returncode == 1


TWO = """
cmake_minimum_required(VERSION 3.16)
project(two C ASM)
add_subdirectory(first)
add_subdirectory(second)
file(GLOB HAL first/runtime/hal/*.c first/runtime/hal/*.S)
list(REMOVE_ITEM HAL ${CMAKE_SOURCE_DIR}/first/runtime/hal/executor.c)
add_executable(app.elf main.c ${HAL})
target_link_libraries(app.elf PRIVATE tvmgen_first tvmgen_second)
target_compile_options(app.elf PRIVATE -O2 -ffreestanding -Wall -Wextra -Werror)
target_link_options(app.elf PRIVATE -Wl,-T,${CMAKE_SOURCE_DIR}/first/runtime/hal/link.ld -Wl,--gc-sections)
"""


def test_two_networks_in_one_firmware(tmp_path: Path) -> None:
    """Different networks with different kernels; one program runs them one after the other."""
    apps = {
        "first": tvm_pulp.compile("zoo:dscnn", module_name="first", target="uma-neureka"),
        "second": tvm_pulp.compile("zoo:autoencoder", module_name="second", target="c", soc="siracusa"),
    }
    programs = {}
    for name, app in apps.items():
        unpack(app.files, tmp_path / "net" / name)
        programs[name] = app.files[f"codegen/host/src/{name}_program.c"].decode()
    (tmp_path / "net" / "main.c").write_text(_joined(programs))
    (tmp_path / "net" / "CMakeLists.txt").write_text(TWO)
    cmake.build(tmp_path / "net", *(o.replace("=cmake/", "=first/cmake/") for o in cmake.toolchain("zig")))
    for app in apps.values():
        inputs = prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)
        device = IssDevice(app.files, app.metadata, profile=False)
        expected = device.run(inputs).outputs
        device.elf = tmp_path / "net" / "build" / "app.elf"
        for made, wanted in zip(device.run(inputs).outputs, expected, strict=True):
            np.testing.assert_array_equal(made, wanted)


def _joined(programs: dict[str, str]) -> str:
    """The buffers of both, and an entry that runs both."""
    texts = []
    for name, text in programs.items():
        before, _, rest = text.partition("const struct tvm_pulp_symbol tvm_pulp_symbols[]")
        body = rest[rest.index("void tvm_pulp_network(void) {") :].replace("tvm_pulp_network", f"run_{name}")
        texts.append(before + "static " + body)
    entry = "void tvm_pulp_network(void) {\n" + "".join(f"  run_{name}();\n" for name in programs) + "}\n"
    nothing = (
        "const struct tvm_pulp_symbol tvm_pulp_symbols[] = {{0, 0, 0}};\nconst uint32_t tvm_pulp_mark_count = 0;\n"
    )
    return "\n".join([*texts, nothing, entry])


def test_tvmc_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, elf = tmp_path / "a.tar", tmp_path / "a.elf"
    tvm_pulp.compile("zoo:autoencoder", target="uma-neureka").save(archive)
    assert main(["build", str(archive), "-o", str(elf)]) == 0
    assert elf.read_bytes()[:4] == b"\x7fELF"
    assert main(["sim", str(elf), "--report", str(tmp_path / "r.json")]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["fault"] is None
    capsys.readouterr()
    tvm_pulp.compile("zoo:autoencoder").save(archive)
    assert main(["build", str(archive), "-o", str(elf)]) == 2
    assert "has no bare-metal program" in capsys.readouterr().err
    assert main(["build", str(archive), "-o", str(tmp_path / "no" / "a.elf")]) == 2


@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_a_network_that_another_runtime_would_run(target: str) -> None:
    """It touches nothing and the program says so; outputs that nobody wrote are not returned."""
    app = tvm_pulp.compile("zoo:autoencoder", target=target, soc="siracusa")
    path = "runtime/hal/executor.c"
    text = app.files[path].decode()
    assert text.count("(TVM_PULP_EXECUTOR_MAGIC);") == 1
    files = app.files | {path: text.replace("(TVM_PULP_EXECUTOR_MAGIC);", "(0x1234);").encode()}
    device = IssDevice(files, app.metadata)
    with pytest.raises(GuestFault, match="exit code 5: the network refused to run"):
        device.run(prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None))
