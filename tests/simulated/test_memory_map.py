"""The programs need nothing that the SoC's memory map does not have."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tvm_pulp import soc
from tvm_pulp.errors import GuestFault
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.sim.iss.device import IssDevice
from tvm_pulp.sim.iss.library import _sources
from tvm_pulp.toolchain.host_cc import COMPILE_FLAGS

# The map of the chip's manual: memories, and the peripherals with the name a reader knows.
MEMORIES = {
    "L1": (0x10000000, 0x40000),
    "weight memory": (0x10400000, 0x800000),
    "L2": (0x1C000000, 0x200000),
}
PERIPHERALS = {
    "cluster control": (0x10200000, 0x400),
    "NEUREKA": (0x10201000, 0x400),
    "instruction cache control": (0x10201400, 0x400),
    "event unit": (0x10204000, 0x400),
    "cluster DMA": (0x10204400, 0x400),
    "I/O DMA": (0x1A102000, 0x2000),
    "SoC control": (0x1A104000, 0x1000),
}
RUN = """
import sys, tvm_pulp
app = tvm_pulp.App.load(sys.argv[1])
app.run()
"""


def place_of(address: int) -> str:
    for name, (base, size) in {**MEMORIES, **PERIPHERALS}.items():
        if base <= address < base + size:
            return name
    return f"nothing at 0x{address:08x}"


@pytest.fixture(scope="module")
def logging_simulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulator with a log around its memory accesses."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for this machine")
    files, include = _sources()
    library = tmp_path_factory.mktemp("simulator") / "iss.so"
    wraps = [f"-Wl,--wrap={name}" for name in ("memory_access", "memory_at")]
    sources = [*map(str, files), str(Path(__file__).with_name("access_log.c"))]
    folders = [f"-I{folder}" for folder in include]
    subprocess.run(
        [
            compiler,
            *COMPILE_FLAGS,
            "-fPIC",
            "-shared",
            "-std=gnu11",
            *folders,
            *wraps,
            *sources,
            "-o",
            str(library),
            "-lm",
            "-ldl",
        ],
        check=True,
    )
    return library


@pytest.mark.slow  # a simulator that logs is built first
@pytest.mark.parametrize(
    ("model", "target", "expected"),
    [
        ("zoo:dscnn", "uma-neureka", {"NEUREKA"}),
        ("zoo:resnet8", "uma-neureka", {"NEUREKA"}),
        ("zoo:autoencoder", "uma-neureka", {"NEUREKA"}),
        ("zoo:dscnn", "c", set()),
    ],
)
def test_every_access_is_in_the_map(
    model: str, target: str, expected: set[str], logging_simulator: Path, tmp_path: Path
) -> None:
    archive, log = tmp_path / "app.tar", tmp_path / "accesses.txt"
    tvm_pulp.compile(model, target=target, soc="siracusa").save(archive)
    settings = {"TVM_PULP_ISS_LIBRARY": str(logging_simulator), "TVM_PULP_ACCESS_LOG": str(log)}
    subprocess.run([sys.executable, "-c", RUN, str(archive)], env={**os.environ, **settings}, check=True)
    touched = {place_of(int(line, 16)) for line in log.read_text().split()}
    always = {"cluster control", "instruction cache control", "event unit", "cluster DMA", "I/O DMA", "SoC control"}
    assert touched - set(MEMORIES) == always | expected
    assert {"L1", "L2"} <= touched


@pytest.mark.sample(2)
@pytest.mark.parametrize("address", [0x10201C00, 0x10040000, 0x1C200000, 0x1A107000, 0x30000000])
def test_an_access_outside_the_map_stops_the_program(address: int) -> None:
    """A planted store into nothing, at the start of a compiled network."""
    app = tvm_pulp.compile("zoo:autoencoder", target="c", soc="siracusa")
    files = dict(app.files)
    name = next(path for path in files if path.endswith("_program.c"))
    text = files[name].decode()
    opening = "void tvm_pulp_network(void) {\n"
    assert opening in text
    planted = f"{opening}  if (tvm_pulp_core_id() == 0u) TVM_PULP_REGISTER({address:#x}u) = 1u;\n"
    files[name] = text.replace(opening, planted).encode()
    device = IssDevice(files, app.metadata)
    with pytest.raises(GuestFault, match=f"nothing is mapped, address {address:#010x}"):
        device.run(random_inputs(app))


def random_inputs(app: tvm_pulp.App) -> list[np.ndarray]:
    return prepare_inputs(app.metadata["tvm_pulp"]["inputs"], None)


def test_an_engine_that_the_soc_lacks_stops_the_program() -> None:
    """The NEUREKA program on a SoC description without NEUREKA."""
    app = tvm_pulp.compile("zoo:autoencoder", target="uma-neureka")
    device = IssDevice(app.files, app.metadata)
    device.soc = soc.load("siracusa").model_copy(update={"engines": {}})
    with pytest.raises(GuestFault, match="nothing is mapped, address 0x102010"):
        device.run(random_inputs(app))
