"""One kernel call: name, structure and values; run on the simulated cluster or with the plain-C twins on the host."""

import ctypes
import functools
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.header import structures
from tests.process_folder import process_folder
from tvm_pulp import soc
from tvm_pulp.sim.iss.elf import Elf, read_elf
from tvm_pulp.sim.iss.machine import Machine
from tvm_pulp.soc.kernel_sources import kernel_texts, needed_sources, with_parts
from tvm_pulp.soc.platform import Platform
from tvm_pulp.toolchain import RiscvToolchain, ToolchainError, build_host_library, build_riscv_elf

REPOSITORY = Path(__file__).resolve().parents[2]
RUNTIME = REPOSITORY / "c_runtime"
WARNINGS = ("-Wall", "-Wextra", "-Werror")
COUNTERS = ("cycles", "own_cycles", "instructions", "load_use", "icache", "l1_conflicts")
MAX_CYCLES = 200_000_000
# A kernel of the tests themselves.
INTRINSICS = Path(__file__).parent / "intrinsics.c"
FILL = 0xA5
# Headers of the plain-C twins: those that kernels fall back to, and those that only define what a kernel does.
TWIN_INCLUDES = (RUNTIME / "include", RUNTIME / "kernels/include", Path(__file__).parent)
_DEFINITION = re.compile(r"^(?:TVM_PULP_KERNEL\(|void tvm_pulp_kernel_)(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Scratch:
    """Room for temporary data: bytes per core."""

    stride: int


@dataclass(frozen=True)
class Out:
    """The result: an array of this shape and type, before the call `before` or filled with a pattern."""

    shape: tuple[int, ...]
    dtype: str
    before: np.ndarray | None = None

    def empty(self) -> np.ndarray:
        if self.before is not None:
            return self.before.copy()
        size = int(np.prod(self.shape)) * np.dtype(self.dtype).itemsize
        return np.full(size, FILL, np.uint8).view(self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class Call:
    """Arguments by field name: numpy arrays and None for pointers, Out, Scratch, nested dictionaries, integers."""

    kernel: str
    arguments: Mapping[str, Any]
    structure: str = ""
    misalign: Mapping[str, int] = field(default_factory=dict)
    """Bytes by which an array is moved from a word boundary."""
    expected: Mapping[str, Any] = field(default_factory=dict)
    """What the cost of the call is made from besides its arguments."""

    @property
    def structure_name(self) -> str:
        return f"tvm_pulp_{self.structure or self.kernel}_args"


@dataclass(frozen=True)
class Measured:
    """Result and counters of a run on the cluster."""

    output: np.ndarray
    cycles: int
    """Of the second call, from a barrier to a barrier."""
    cold_cycles: int
    cores: tuple[dict[str, int], ...]
    first_cycles: tuple[int, ...] = ()
    """Own cycles of each core in the first call."""

    @property
    def instructions(self) -> int:
        return sum(core["instructions"] for core in self.cores)

    @property
    def conflict_share(self) -> float:
        """Share of the active cycles that cores spent waiting for an L1 bank."""
        return sum(c["l1_conflicts"] for c in self.cores) / max(1, sum(c["own_cycles"] for c in self.cores))


def fill_structure(target: Any, values: Mapping[str, Any], place: Any) -> Any:
    """Write values into a ctypes structure; `place(name, value)` gives the address of what a pointer points to."""
    names = {name for name, _ in target._fields_}
    assert names == set(values), f"fields {names ^ set(values)} differ"
    for name, kind in target._fields_:
        value = values[name]
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
            fill_structure(getattr(target, name), value, place)
        elif value is None or isinstance(value, np.ndarray | Out | Scratch):
            setattr(target, name, 0 if value is None else place(name, value))
        else:
            setattr(target, name, int(value))
    return target


# --- host ------------------------------------------------------------------------------------------------------------


@functools.cache
def plain_twins() -> tuple[Path, ...]:
    """Sources of all kernels in plain C: those of the folder, and calls of the functions that headers have."""
    own = sorted((RUNTIME / "kernels/generic").glob("*.c"))
    fallbacks = sorted((RUNTIME / "kernels/include/tvm_pulp/plain").glob("*.h"))
    others = sorted((Path(__file__).parent / "plain").glob("*.h"))
    declared = re.findall(r"TVM_PULP_KERNEL\((\w+)\);", (RUNTIME / "kernels/include/tvm_pulp/kernels.h").read_text())
    missing = sorted(set(declared) - {path.stem for path in own})
    lines = [f'#include "tvm_pulp/plain/{header.name}"' for header in fallbacks]
    lines += [f'#include "plain/{header.name}"' for header in others]
    lines += [f"TVM_PULP_KERNEL({name}) {{ tvm_pulp_plain_{name}(args, core, cores); }}" for name in missing]
    arguments = "const struct tvm_pulp_past_mix_args *args, uint32_t core, uint32_t cores"
    lines.append(
        f"void tvm_pulp_kernel_past_mix_by_element({arguments}) "
        "{ tvm_pulp_plain_past_mix_by_element(args, core, cores); }"
    )
    twins = process_folder() / "plain_twins.c"
    twins.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return (*own, twins)


@functools.cache
def host_library() -> ctypes.CDLL:
    """The plain-C twins."""
    sources = [*plain_twins(), INTRINSICS]
    return ctypes.CDLL(str(build_host_library(sources, TWIN_INCLUDES, extra_flags=WARNINGS)))


def run_on_host(call: Call, cores: int = 1) -> np.ndarray:
    """Result of the plain-C twin, the cores one after the other."""
    kept: list[np.ndarray] = []
    outputs: list[np.ndarray] = []

    def place(_: str, value: Any) -> int:
        if isinstance(value, Scratch):
            array = np.zeros(value.stride * cores + 4, np.uint8)
        elif isinstance(value, Out):
            array = value.empty()
            outputs.append(array)
        else:
            array = np.ascontiguousarray(value)
        kept.append(array)
        return array.ctypes.data

    arguments = fill_structure(structures(ctypes.c_void_p)[call.structure_name](), call.arguments, place)
    function = getattr(host_library(), f"tvm_pulp_kernel_{call.kernel}")
    for core in range(cores):
        function(ctypes.byref(arguments), ctypes.c_uint32(core), ctypes.c_uint32(cores))
    (output,) = outputs
    return output


# --- cluster ---------------------------------------------------------------------------------------------------------


@functools.cache
def kernel_names(folder: str) -> tuple[str, ...]:
    """Every kernel that the sources of a folder define."""
    paths = [*sorted((RUNTIME / f"kernels/{folder}").glob("*.c")), INTRINSICS]
    names = (name for path in paths for name in _DEFINITION.findall(path.read_text(encoding="utf-8")))
    return tuple(dict.fromkeys(names))


# The SoC that a family of kernels is measured on; the default one for all others.
MACHINES = {"rv32im": "snitch-ita", "rv32": "rv32-mcu"}


def machine_of(folder: str) -> str:
    return MACHINES.get(folder, "siracusa")


# Roundings for which kernels have code that archives of other networks are without: `enum` in kernels.h.
_OF_FLOAT_BIASES = range(9, 11)


def parts_for(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Parts of kernels (`with_parts`) that archives have which make such a call."""
    inner = [value for value in arguments.values() if isinstance(value, Mapping)]
    is_needed = arguments.get("kind") in _OF_FLOAT_BIASES or any(map(parts_for, inner))
    return ("float biases",) if is_needed else ()


def cluster_program(toolchain: RiscvToolchain, folder: str = "xpulp", parts: tuple[str, ...] = ()) -> Path:
    """An ELF with all kernels of a folder and the driver, the text of kernels as archives have it.

    A compiler that refuses them is asked once and no more.
    """
    built = _program_or_refusal(toolchain, folder, parts)
    if isinstance(built, ToolchainError):
        raise ToolchainError(built.command, built.status, built.output)
    return built


@functools.cache
def _elf(program: Path) -> Elf:
    """A program, which thousands of examples load."""
    return read_elf(program)


@functools.cache
def _program_or_refusal(toolchain: RiscvToolchain, folder: str, parts: tuple[str, ...]) -> Path | ToolchainError:
    try:
        return _build(toolchain, folder, parts)
    except ToolchainError as error:
        return error.with_traceback(None)


def _kernel_sources(folder: str, parts: tuple[str, ...]) -> tuple[list[Path], Path]:
    """Sources of all kernels of a folder with these parts, and the folder of their headers."""
    texts = with_parts(kernel_texts(folder), parts)
    needed = needed_sources(texts, [f"tvm_pulp_kernel_{name}" for name in kernel_names(folder)])
    root = process_folder() / "_".join(("kernels", folder, *(part.replace(" ", "_") for part in parts)))
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return [root / path for path in sorted(needed) if path.endswith(".c")], root / "kernels/include"


def _build(toolchain: RiscvToolchain, folder: str, parts: tuple[str, ...]) -> Path:
    kernels, headers = _kernel_sources(folder, parts)
    platform = Platform(soc.load(machine_of(folder)))
    hal = RUNTIME / "hal" / platform.soc.software.hal
    shared = RUNTIME / "hal" / "shared"
    sources = [
        *sorted(hal.glob("*.c")),
        *sorted(shared.glob("*.c")),
        hal / "start.S",
        Path(__file__).parent / "driver.c",
        INTRINSICS,
    ]
    sources += [*kernels, RUNTIME / "libc/memory.c"]
    includes = [RUNTIME / "include", headers, RUNTIME / "libc"]
    includes += [path for folder in (hal, shared) for path in (folder / "include", folder) if path.is_dir()]
    defines = ["KERNELS=" + " ".join(f"X({name})" for name in kernel_names(folder))]
    script = process_folder() / "link.ld"
    script.write_text(platform.linker_script(), encoding="utf-8")
    return build_riscv_elf(
        sources,
        includes,
        script,
        march=platform.march(uses_float=True),
        toolchain=toolchain,
        defines=defines,
        extra_flags=(*WARNINGS, *platform.soc.software.flags),
    )


def run_on_cluster(
    call: Call, cores: int = 8, *, toolchain: RiscvToolchain = "zig", folder: str = "xpulp", offset: int = 0
) -> Measured:
    """Result and counters of the kernel on the simulated cluster; `offset` moves all data by so many bytes."""
    program = cluster_program(toolchain, folder, parts_for(call.arguments))
    # Of a test that fails hypothesis keeps hundreds of runs, with all that their functions refer to.
    with Machine(soc.load(machine_of(folder))) as machine:
        machine.load_elf(_elf(program))
        return _run_loaded(machine, call, cores, folder, offset)


def _run_loaded(machine: Machine, call: Call, cores: int, folder: str, offset: int) -> Measured:
    cursor = machine.symbol("tvm_pulp_l1_arena") + offset
    outputs: list[tuple[int, Out]] = []

    def place(name: str, value: Any) -> int:
        nonlocal cursor
        address = (cursor + 3) // 4 * 4 + call.misalign.get(name, 0)
        if isinstance(value, Scratch):
            content = bytes([FILL]) * (value.stride * cores)
        elif isinstance(value, Out):
            content = value.empty().tobytes()
            outputs.append((address, value))
        else:
            content = np.ascontiguousarray(value).tobytes()
        cursor = address + len(content) + 4
        machine.write(address, content + bytes([FILL]) * 4)
        return address

    arguments = fill_structure(structures(ctypes.c_uint32)[call.structure_name](), call.arguments, place)
    block = bytes(arguments)
    args_at = (cursor + 3) // 4 * 4
    machine.write(args_at, block)
    number = kernel_names(folder).index(call.kernel)
    machine.write(machine.symbol("bench"), struct.pack("<3I", number, args_at, cores))
    result = machine.run(max_cycles=MAX_CYCLES)
    assert result.exit_code == 0, f"exit code {result.exit_code}"
    ((address, out),) = outputs
    size = out.empty().nbytes
    data = machine.read(address, size + 4)
    assert data[size:] == bytes([FILL]) * 4, "the kernel wrote behind its result"
    output = np.frombuffer(data[:size], out.dtype).reshape(out.shape).copy()
    words = len(COUNTERS) * 4
    counts = [struct.unpack("<6I", machine.read(machine.symbol("counts") + words * c, words)) for c in range(8)]
    (cold,) = struct.unpack("<I", machine.read(machine.symbol("tvm_pulp_cycles"), 4))
    per_core = tuple(dict(zip(COUNTERS, values, strict=True)) for values in counts[:cores])
    first = struct.unpack("<8I", machine.read(machine.symbol("first_cycles"), 32))[:cores]
    return Measured(output, counts[0][0], cold, per_core, first)
