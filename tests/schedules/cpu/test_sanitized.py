"""Kernels of this machine under the checks of addresses and undefined behaviour."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.schedules.cpu.random_layers import archive, expected, random_attention, random_layer
from tvm_pulp import soc as socs
from tvm_pulp.sim.host import WARNINGS, sources_of
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.toolchain import build_host_program
from tvm_pulp.toolchain.project.project_files import project_files
from tvm_pulp.toolchain.project.unpack import unpack


@pytest.mark.slow
@pytest.mark.parametrize("soc", ["aarch64", "x86-64-avx2", "x86-64-avxvnni", "x86-64-vnni"])
@pytest.mark.parametrize("seed", range(3))
def test_random_layers_under_sanitizers(tmp_path: Path, soc: str, seed: int) -> None:
    cpu = socs.load(soc).cpu
    assert cpu is not None
    if missing := missing_instructions(cpu):
        pytest.skip(f"this machine has no {', '.join(missing)}")
    rng = np.random.default_rng(100 + seed)
    made = [random_layer(rng, number) for number in range(24)]
    made += [random_attention(rng, number) for number in range(24, 32)]
    files, _ = archive([layer for layer, _ in made], soc)
    unpack({**files, **project_files(files)}, tmp_path)
    sources, headers = sources_of(tmp_path)
    flags = (*WARNINGS[1:], "-std=gnu11", *cpu.flags)
    program = build_host_program([*sources, tmp_path / "example/main.c"], headers, extra_flags=flags, sanitize=True)
    raw = b"".join(values.tobytes() for _, values in made)
    said = subprocess.run([program], input=raw, capture_output=True, check=False)
    assert said.returncode == 0, said.stderr.decode()[-2000:]
    for line, (layer, values) in zip(said.stdout.decode().splitlines(), made, strict=True):
        shown = np.array(line.partition(":")[2].split(), np.float64)
        np.testing.assert_array_equal(shown, expected(layer, values).reshape(-1))
