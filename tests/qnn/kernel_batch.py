"""Many kernels of the dialect printed as one C file, built once, and called on numpy arrays."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.codegen import kernels as kernel_files
from tvm_pulp.codegen.kernels import Kernels
from tvm_pulp.qnn import OPERATORS, TensorSpec
from tvm_pulp.qnn.record import Attributes
from tvm_pulp.sim.host import WARNINGS
from tvm_pulp.toolchain import build_host_library
from tvm_pulp.uma.recipe import Kernel, Local

RUNTIME = Path(__file__).resolve().parents[2] / "c_runtime"
INCLUDE, MATH = RUNTIME / "include", RUNTIME / "math"
# Bytes around every output that a kernel must not touch.
_MARGIN = 64
_PATTERN = 0xA5


@dataclass(frozen=True)
class Case:
    """One call of an operator."""

    operator: str
    attributes: dict[str, Any] = field(default_factory=dict)
    inputs: Sequence[np.ndarray] = ()

    @property
    def specs(self) -> list[TensorSpec]:
        return [TensorSpec(tuple(a.shape), str(a.dtype)) for a in self.inputs]

    @property
    def stated(self) -> Attributes:
        """Attributes as the operator's record."""
        return OPERATORS[self.operator].stated(self.attributes)

    @property
    def output(self) -> TensorSpec:
        return OPERATORS[self.operator].infer(self.stated, self.specs)

    def expected(self) -> np.ndarray:
        """The numpy reference."""
        return OPERATORS[self.operator].reference(self.stated, list(self.inputs))

    def kernel(self) -> Kernel:
        inputs = tuple(Local(f"x{i}", spec) for i, spec in enumerate(self.specs))
        return Kernel(self.operator, dict(self.attributes), inputs, (Local("y", self.output),))

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(map(str, self.specs))}) -> {self.output} {self.attributes}"


class Batch:
    """The cases' kernels in one library, checked for undefined behaviour. `shared`: cores share each kernel's loop."""

    def __init__(self, cases: Sequence[Case], folder: Path, *, shared: bool = False) -> None:
        kernels = Kernels("batch", shared_loops=shared)
        self._names = {id(case): kernels.add(case.kernel(), f"case {i}").name for i, case in enumerate(cases)}
        source, header = folder / "batch_kernels.c", folder / "batch_kernels.h"
        source.write_text(kernel_files.source_file(kernels))
        header.write_text(kernel_files.header_file(kernels))
        sources = [source, *(sorted(MATH.glob("*.c")) if kernels.math_used else ())]
        built = build_host_library(sources, [folder, INCLUDE, MATH], extra_flags=(*WARNINGS, "-O1"), sanitize=True)
        self._library = ctypes.CDLL(str(built))

    def run(self, case: Case, cores: int | None = None) -> np.ndarray:
        """Call the kernel, for each core in turn where it is shared; margins around the output stay as they were."""
        function, spec = getattr(self._library, self._names[id(case)]), case.output
        arrays = [np.ascontiguousarray(a) for a in case.inputs]
        memory = np.full(spec.bytes + 2 * _MARGIN, _PATTERN, np.uint8)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        pointers.append(ctypes.c_void_p(memory.ctypes.data + _MARGIN))
        if cores is None:
            function(*pointers)
        else:
            # Backwards: no core may depend on what a lower one did.
            for core in reversed(range(cores)):
                function(*pointers, ctypes.c_int32(core), ctypes.c_int32(cores))
        assert (memory[:_MARGIN] == _PATTERN).all() and (memory[_MARGIN + spec.bytes :] == _PATTERN).all(), str(case)
        return memory[_MARGIN : _MARGIN + spec.bytes].view(spec.dtype).reshape(spec.shape)
