"""Blocked kernels on their cores: random layers give what numpy gives, after one inference and after two."""

import platform
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.schedules.cpu.random_layers import archive, expected, random_attention, random_layer, random_max_pool
from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.sim.qemu.boards import Emulated
from tvm_pulp.sim.run_twice import run_twice
from tvm_pulp.sim.runner import runner_class
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.toolchain.zig import find_zig

EMULATED = ("cortex-m55", "aarch64", "aarch64-i8mm", "rv64gcv")
CORES = ("cortex-m4", "cortex-m7", "cortex-m33", *EMULATED, "x86-64-avx2", "x86-64-avxvnni", "x86-64-vnni")


def skip_without(soc: str) -> None:
    """Skip where the core is that of another machine, or its emulator is not installed."""
    cpu = socs.load(soc).cpu
    assert cpu is not None
    if "qemu" in cpu.devices:
        try:
            Emulated.of(cpu.devices["qemu"]).program()
        except UserError as absent:
            pytest.skip(str(absent))
    elif missing := missing_instructions(cpu):
        pytest.skip(f"this machine has no {', '.join(missing)}")


def check(soc: str, seed: int, count: int) -> str:
    """The kernels' C of layers that were equal."""
    skip_without(soc)
    rng = np.random.default_rng(seed)
    made = [random_layer(rng, number) for number in range(count)]
    made += [random_attention(rng, count + number) for number in range(count // 5)]
    made += [random_max_pool(rng, len(made) + number) for number in range(count // 5)]
    files, metadata = archive([layer for layer, _ in made], soc)
    cpu = socs.load(soc).cpu
    assert cpu is not None
    runner = runner_class(next(iter(cpu.devices)))()
    runner.build(files, metadata)
    outputs = run_twice(runner, metadata, [values for _, values in made]).outputs
    for (layer, values), output in zip(made, outputs, strict=True):
        np.testing.assert_array_equal(output, expected(layer, values), err_msg=f"{seed}: {layer.attributes}")
    return files["codegen/host/src/many_kernels.c"].decode()


@pytest.mark.sample(1)
@pytest.mark.parametrize("soc", ["cortex-m4", *EMULATED, *(core for core in CORES if core.startswith("x86"))])
def test_random_layers(soc: str) -> None:
    text = check(soc, 1, 20)
    sums = ("add", "add_products")
    functions = (f"tvm_pulp_{n}(" for n in ("convolve", "depthwise", "multiply_row", *sums, "attend", "max_pool"))
    for used in ("_s32", *functions):
        assert used in text


@pytest.mark.slow
@pytest.mark.parametrize("soc", CORES)
@pytest.mark.parametrize("seed", range(10, 16))
def test_many_random_layers(soc: str, seed: int) -> None:
    check(soc, seed, 40)


def test_a_machine_without_the_instructions_is_told(tmp_path: Path) -> None:
    description = tmp_path / "future.yaml"
    description.write_text("based_on: x86-64-vnni\nname: future\ncpu: {needs: [avx2048]}\n")
    with pytest.raises(UserError, match="this machine has no avx2048, which archives for SoC future need: recompile"):
        tvm_pulp.compile("zoo:dscnn", soc=str(description)).run()


def test_native_is_what_this_machine_can_run() -> None:
    found = socs.load("native")
    assert found.cpu is None or not missing_instructions(found.cpu)
    fitting = [s for s in map(socs.load, CORES) if s.cpu and s.cpu.needs and not missing_instructions(s.cpu)]
    assert not fitting or found.name == fitting[-1].name


def assembly_of(soc: str, compiler: list[str], folder: Path) -> list[str]:
    """The lines of assembly that a compiler makes of the product of a core."""
    cpu = socs.load(soc).cpu
    assert cpu is not None
    root = Path(str(resources.files("c_runtime"))) / "cpu" / "kernels"
    folders = [f"-I{path}" for path in (root.parents[1] / "include", root / "shared", root / str(cpu.kernels))]
    flags = ["-std=gnu11", "-g0", "-O3", "-fno-strict-aliasing", "-ffp-contract=off", *cpu.flags, *folders]
    source = str(root / str(cpu.kernels) / "product.c")
    subprocess.run([*compiler, *flags, "-S", "-o", "product.s", source], cwd=folder, check=True, capture_output=True)
    return (folder / "product.s").read_text().splitlines()


ZIG = [str(find_zig()), "cc", "-target", "x86_64-linux-musl"]
GNU = pytest.param(
    ["gcc"],
    marks=pytest.mark.skipif(
        platform.machine() != "x86_64" or shutil.which("gcc") is None, reason="needs GNU's compiler for x86-64"
    ),
    id="gcc",
)


@pytest.mark.parametrize("compiler", [pytest.param(ZIG, id="zig"), GNU])
@pytest.mark.parametrize(("soc", "products", "most"), [("x86-64-vnni", 16, 40), ("x86-64-avxvnni", 8, 22)])
def test_sums_stay_in_registers(soc: str, products: int, most: int, compiler: list[str], tmp_path: Path) -> None:
    """The innermost loop of a block multiplies, loads what it multiplies, and neither copies nor spills its sums."""
    loop: list[str] = []
    found = []
    for line in assembly_of(soc, compiler, tmp_path):
        if re.match(r"[.\w]+:", line):
            loop = []
        elif line.startswith("\t") and not line.startswith("\t."):
            loop.append(line)
            if line.startswith("\tj"):
                found += [loop] if sum("vpdpbusd" in part for part in loop) == products else []
                loop = []
    assert len(found) >= 5, "a loop for each kind of result"
    for loop in found:
        assert len(loop) <= most and not any("(%rsp" in line for line in loop), "\n".join(loop)


def test_avx_vnni_is_encoded_for_machines_without_avx512(tmp_path: Path) -> None:
    """`vpdpbusd` with the prefix of AVX2, which machines with AVX-512 alone do not know, and in no other form."""
    lines = assembly_of("x86-64-avxvnni", ZIG, tmp_path)
    assert sum("{vex}\tvpdpbusd" in line or "{vex} vpdpbusd" in line for line in lines) >= 8
    assert not any("vpmaddwd" in line or "zmm" in line for line in lines)
