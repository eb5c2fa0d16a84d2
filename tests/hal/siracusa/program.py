"""Archives around hand-written networks, as the code generator would make them."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc
from tvm_pulp.sim.iss.device import IssDevice, IssRun
from tvm_pulp.soc.platform import Platform
from tvm_pulp.toolchain import RiscvToolchain
from tvm_pulp.toolchain.riscv_compilers import DEFAULT_NAME

C_RUNTIME = Path(__file__).resolve().parents[3] / "c_runtime"

TOOLCHAINS = [
    "zig",
    pytest.param("gcc", marks=pytest.mark.skipif(shutil.which(DEFAULT_NAME) is None, reason=f"no {DEFAULT_NAME}")),
]


@dataclass(frozen=True)
class Tensor:
    """An input or output of the network: a C symbol with a shape and a type."""

    symbol: str
    shape: tuple[int, ...]
    dtype: str

    def describe(self) -> dict[str, Any]:
        """What the archive's metadata says about it."""
        return {"name": self.symbol, "symbol": self.symbol, "shape": list(self.shape), "dtype": self.dtype}


@dataclass(frozen=True)
class Program:
    """C text that defines `tvm_pulp_network`, and what the archive says about it."""

    text: str
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    cores: int = 8
    march: str = "rv32imc"
    soc: str = "siracusa"
    l3: bytes | None = None
    marks: int = 0
    defines: tuple[str, ...] = ()

    def files(self) -> dict[str, bytes]:
        """The archive's files."""
        source = f'#include "tvm_pulp/hal.h"\nconst uint32_t tvm_pulp_mark_count = {self.marks};\n{self.text}'
        files = {"codegen/host/src/network.c": source.encode()}
        runtime = Platform(soc.load(self.soc)).hal_files()
        files |= {f"runtime/{path}": text.encode() for path, text in runtime.items()}
        if self.l3 is not None:
            files["parameters/l3.bin"] = self.l3
        return files

    def metadata(self) -> dict[str, Any]:
        """The archive's metadata."""
        facts = {"soc": self.soc, "cores": self.cores, "march": self.march, "defines": list(self.defines)}
        tensors = {"inputs": self.inputs, "outputs": self.outputs}
        return {"tvm_pulp": facts | {role: [t.describe() for t in some] for role, some in tensors.items()}}

    def device(self, *, profile: bool = True, toolchain: RiscvToolchain = "zig") -> IssDevice:
        """Build it."""
        return IssDevice(self.files(), self.metadata(), profile=profile, toolchain=toolchain)

    def run(self, *inputs: np.ndarray, profile: bool = True, toolchain: RiscvToolchain = "zig") -> IssRun:
        """Build and run it; no test program needs a million cycles."""
        return self.device(profile=profile, toolchain=toolchain).run(list(inputs), max_cycles=1_000_000)
